"""Many short runs of a chapter: a warm worker that forks, against papermill with a kernel a run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from lowdim.publish import chapters, executor
from lowdim.publish.sweeps import coordinator, plan, pools

CHAPTER = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3}
---

# A chapter that does next to nothing

```{prf:theorem} Squares
:label: preserve.theorem-1-1
:source: by hand
:says: A square is not negative.
For every $x$, $x^2 \\\\ge 0$.
```

```{code-cell} python
:tags: [parameters]
seed = 0  # any integer
```
```{code-cell} python
import torch

from lowdim.evidence.verdicts import Ruling, verdict

least = float((torch.randn(8, generator=torch.Generator().manual_seed(seed)) ** 2).min())
verdict({"theorem-1-1": Ruling("holds", trials=8, violations=int(least < 0))});
```
"""
RUNS, KERNELS = 50, 6


def sweep_50_vs_papermill() -> dict:
    """Wall time of a run that computes nothing: a kernel for each, against 50 forks of a worker."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        path = root / "notebooks" / "preserve" / "nothing.md"
        path.parent.mkdir(parents=True)
        path.write_text(CHAPTER, encoding="utf-8")
        (root / "_toc.yml").write_text(
            "format: jb-book\nroot: book/index\nchapters: [{file: notebooks/preserve/nothing}]\n",
            encoding="utf-8",
        )
        chapter = chapters.load("preserve/nothing", root=root)
        start = time.perf_counter()
        for seed in range(KERNELS):
            executor.execute(root, chapter.name, {"seed": seed}, one_thread=True)
        theirs = (time.perf_counter() - start) / KERNELS
        planned = coordinator.plan(
            chapter, plan.grid(chapter, {"seed": f"0:{RUNS}"}), root / "sweep"
        )
        start = time.perf_counter()
        found = coordinator.sweep(planned, root / "sweep", pool=pools.Local(1))
        ours = (time.perf_counter() - start) / RUNS
        if found.failed:
            raise RuntimeError(f"{found.failed} of {RUNS} runs failed")
    return {"ratio": theirs / ours, "papermill_seconds": theirs, "fork_seconds": ours}
