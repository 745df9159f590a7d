"""What CONTRIBUTING.md tells a newcomer to write passes what it tells them to run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_module_of_the_example_passes_its_test_and_the_rules(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^( *)```python\n(.*?)^\1```", text, flags=re.S | re.M)
    module, test = (re.sub(rf"^{indent}", "", body, flags=re.M) for indent, body in blocks)
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "lib", tmp_path / "lib", ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    files = [Path("lib/lowdim/linalg/trace.py"), Path("tests/linalg/test_trace.py")]
    for path, code in zip(files, (module, test), strict=True):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(code, encoding="utf-8")
    commands = [
        ["ruff", "check", *files],
        ["ruff", "format", "--check", *files],
        ["pytest", "-q", "-p", "no:cacheprovider", *files],
        ["mypy", "--cache-dir", tmp_path / "types", files[0]],
    ]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", *map(str, command)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


def test_the_commands_of_the_first_hour_name_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^ *make ([a-z]+)", text, flags=re.M)):
        assert re.search(rf"^{target}:", makefile, flags=re.M), target
    example = {"linalg/trace.py", "linalg/test_trace.py"}
    for path in set(re.findall(r"\b(?:lib/lowdim|tests|tools|notebooks)/([\w/]+\.\w+)", text)):
        found = [ROOT / top / path for top in ("lib/lowdim", "tests", "tools", "notebooks")]
        assert path in example or any(each.exists() for each in found), path
