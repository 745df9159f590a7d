"""Shared by all tests: a small book with small chapters, written where a test wants it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

# One thread each: the tests run beside one another, and small matrices gain nothing from two.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# What is done by one worker: tests of a page in the browser, which open it once; what builds a
# wheel; what fills the machine with processes of students.
TOGETHER = re.compile(
    r"(tests/book/\w+\.py)::\w+(?:\[(?:\w+-)*([\w/]+\.html))?"
    r"|(tests/packaging/test_(?:dependencies|wheel|metadata))\.py"
    r"|(tests/course/test_(?:grading|jail\w*|gradebook))\.py"
)


def scope(test: str) -> str:
    """The name of the group that a test belongs to, which is its own where it is alone."""
    found = TOGETHER.match(test)
    if found is None:
        return test
    module, page, packaging, hostile = found.groups()
    if module:
        return f"{module} {page or ''}"
    return "packaging" if packaging else "hostile" if hostile else test


# The marks of pytest-xdist for this (--dist loadgroup) have no effect with the pytest of our pins,
# which keeps the name of a test where xdist 3.8 does not look for it.
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share tests out over workers by `scope`."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return Together(config, log)


PARAMETERS = """\
trials = 10       # instances in each attack; 1 or more
noise = 0.5       # size of the noise; above 0
kind = "uniform"  # how the weights begin; one of uniform, normal
seed = 0          # any integer
"""

CHAPTER = """\
---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{name: python3, display_name: Python 3}}
---

({label})=
# {title}

```{{prf:theorem}} Weyl
:label: {claim}
:source: {{cite}}`weyl1912`, Satz I
:says: Noise moves a singular value by at most its norm.
For every $i$, $|\\sigma_i(A+E)-\\sigma_i(A)| \\le \\|E\\|_2$.
```
See {{cite}}`weyl1912` and, elsewhere, {{prf:ref}}`not.in-this-chapter` and {{ref}}`nowhere`.

## Parameters
```{{code-cell}} python
:tags: [parameters]
{parameters}```

## Why
```{{code-cell}} python
import os, platform, sys
from IPython.display import publish_display_data
doubled = 2 * trials
{body}
```

## Verdict
```{{code-cell}} python
:tags: [nbval-check-output]
claim = {{
    "id": "{claim}", "verdict": "holds", "supported": True, "tags": [], "trials": doubled,
    "violations": 0, "tightness": 0.5, "ladder": [], "lines": [],
}}
record = {{
    "schema": "lowdim-record/2", "seconds": 0.1, "claims": [claim], "values": {{"twice": doubled}},
    "versions": dict.fromkeys(("lowdim", "python", "torch", "numpy", "scipy"), "0"),
    "machine": {{"system": "any", "processor": "any", "cores": 1, "threads": 1}},
}}
table = f"{{claim['id']}}  {{claim['verdict']}}  trials {{doubled}}  noise {{noise}}"
publish_display_data({{"text/plain": table}}, metadata={{"lowdim_record": record}})
```
```{{evidence}} {short}
No violation in {{value}}`twice` instances.
```

## Where we deviate
Nowhere.

## Exercises
```{{exercise}}
:label: {label}-1
Find a pair for which the bound is met.
```
```{{solution}} {label}-1
:class: dropdown
$A=0$, $E=1$.
```
"""

BIB = """\
@article{weyl1912, author={Hermann Weyl}, title={Das asymptotische Verteilungsgesetz},
  journal={Mathematische Annalen}, year={1912}}
"""


class Book:
    """A book in a folder of its own, with chapters as small as can be."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "notebooks").mkdir(parents=True)
        (root / "book").mkdir()
        (root / "book" / "references.bib").write_text(BIB)
        self.listed: list[str] = []
        self.toc()

    def toc(self) -> None:
        """Write `_toc.yml` with the chapters that are listed, in their order."""
        files = "".join(f"  - file: notebooks/{name}\n" for name in self.listed)
        text = "format: jb-book\nroot: book/index\n" + ("chapters:\n" + files if files else "")
        (self.root / "_toc.yml").write_text(text)

    def chapter(
        self,
        name: str = "preserve/weyl",
        *,
        claim: str = "preserve.theorem-9-1",
        parameters: str = PARAMETERS,
        body: str = "pass",
        title: str = "Weyl — noise moves a singular value by at most its own size",
        listed: bool = True,
    ) -> Path:
        """Write a chapter and return its path."""
        part, _, stem = name.partition("/")
        path = self.root / "notebooks" / part / f"{stem}.md"
        path.parent.mkdir(exist_ok=True)
        text = CHAPTER.format(
            claim=claim,
            short=claim.partition(".")[2],
            label=f"{part}-{stem}".replace("_", "-"),
            part=part,
            title=title,
            parameters=parameters,
            body=body,
        )
        path.write_text(text, encoding="utf-8")
        if listed and name not in self.listed:
            self.listed.append(name)
            self.toc()
        return path

    def presets(self, text: str) -> None:
        """Write `notebooks/presets.yml`."""
        (self.root / "notebooks" / "presets.yml").write_text(text)

    def files(self) -> set[str]:
        """Every file below the root, to see what a command wrote."""
        return {str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """An empty small book that `find_root` finds."""
    made = Book(tmp_path / "book")
    monkeypatch.setenv("LOWDIM_ROOT", str(made.root))
    return made
