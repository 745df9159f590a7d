"""A wrong constant in the library must turn nbval red: the references are not decoration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lowdim.publish import chapters

# (module, what it says, what it is made to say, the chapter that must notice)
MUTANTS = [
    ("preserve/preservation.py", "top=s[..., r - 1],", "top=1.5 * s[..., r - 1],", "lemma_4_1"),
    ("evidence/attacks.py", "TOLERANCE = 1e-9", "TOLERANCE = float('inf')", "projector"),
    # No verdict moves with it, but numbers that the page inserts do.
    (
        "linalg/subspaces.py",
        "return 2**0.5 * torch.linalg.vector_norm(S",
        "return 1.05 * 2**0.5 * torch.linalg.vector_norm(S",
        "preserve and theorem_3_1",
    ),
]


@pytest.mark.chapter
@pytest.mark.parametrize(
    ("module", "old", "new", "chapter"), MUTANTS, ids=("gap", "tolerance", "distance")
)
def test_nbval_notices_a_wrong_constant(
    tmp_path: Path, module: str, old: str, new: str, chapter: str
) -> None:
    root = chapters.find_root()
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("lib", "notebooks", "tests/chapters", "tests/references"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=unwanted)
    for name in ("_toc.yml", "pyproject.toml"):
        shutil.copy(root / name, tmp_path / name)
    source = tmp_path / "lib" / "lowdim" / module
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{module} no longer says {old!r}: name another constant here"
    source.write_text(text.replace(old, new), encoding="utf-8")
    paths = {"PYTHONPATH": str(tmp_path / "lib"), "LOWDIM_ROOT": str(tmp_path)}
    # What is wrong with other chapters is for their own tests to say.
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors"]
    done = subprocess.run(
        [*command, "tests/chapters/test_notebooks.py", "-k", chapter],
        cwd=tmp_path,
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout[-3000:]
    assert "1 failed" in done.stdout, done.stdout[-3000:]
    assert "1 passed" not in done.stdout, done.stdout[-3000:]
