"""A wheel of the library, unpacked where no checkout is near, and interpreters that see only it.

Real environments would say the most, but torch alone is two gigabytes in each. So the packages are
those of the environment in which the tests run, less every one that the wheel's metadata does not
bring in: an interpreter sees what a fresh ``pip install`` would have given it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]

# Read by every interpreter that has this folder on its path, before anything is imported. A package
# that is left out looks as if it were not there, to those who import and to those who only ask.
SITE = """
import json, sys
from importlib.machinery import PathFinder

LEFT_OUT = frozenset(json.loads({left_out!r}))

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if path is None and fullname in LEFT_OUT:
            return None
        return super().find_spec(fullname, path, target)

sys.path[:] = [entry for entry in sys.path if entry != {checkout!r}]
kept = [f for f in sys.meta_path if "__editable__" not in getattr(f, "__module__", "")]
sys.meta_path[:] = [Finder if finder is PathFinder else finder for finder in kept]
"""


@dataclass(frozen=True)
class Wheel:
    """The built wheel: its file, its metadata, where it is installed, and a folder to work in."""

    file: Path
    metadata: Message
    target: Path
    scratch: Path

    def required(self, *extras: str) -> set[str]:
        """The packages that it asks for, by their canonical names."""
        lines = [Requirement(line) for line in self.metadata.get_all("Requires-Dist")]
        return {canonicalize_name(line.name) for line in lines if _applies(line, extras)}

    def environment(self, *extras: str) -> dict[str, str]:
        """Variables for an interpreter that sees the wheel and what it brings in, no more."""
        site = self.scratch / "-".join(("site", *extras))
        if not site.is_dir():
            brought = closure(self.required(*extras))
            left_out = [
                top
                for top, owners in packages_distributions().items()
                if top != "lowdim" and not brought & {canonicalize_name(owner) for owner in owners}
            ]
            text = SITE.format(checkout=str(ROOT / "lib"), left_out=json.dumps(left_out))
            site.mkdir()
            (site / "sitecustomize.py").write_text(text, encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOWDIM")}
        return kept | {
            "PYTHONPATH": os.pathsep.join((str(site), str(self.target))),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def python(self, code: str, *extras: str) -> subprocess.CompletedProcess[str]:
        """Run ``code`` in an empty folder."""
        empty = self.scratch / "empty"
        empty.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            cwd=empty,
            env=self.environment(*extras),
            capture_output=True,
            text=True,
            check=False,
        )


def _applies(requirement: Requirement, extras: tuple[str, ...] | set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras})


def closure(names: set[str]) -> set[str]:
    """``names`` and all that they bring in, by canonical names; what is not here is left out."""
    wanted = [Requirement(name) for name in names]
    found: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        asked = wanted.pop()
        key = (canonicalize_name(asked.name), frozenset(asked.extras))
        if key in found:
            continue
        try:
            lines = distribution(asked.name).requires or []
        except PackageNotFoundError:
            continue
        found.add(key)
        requires = map(Requirement, lines)
        wanted += [needed for needed in requires if _applies(needed, asked.extras)]
    return {name for name, _ in found}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    """The wheel of this checkout, installed alone into a folder."""
    scratch = tmp_path_factory.mktemp("packaging")
    sources = scratch / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (sources / name).write_bytes((ROOT / name).read_bytes())
    copytree(ROOT / "lib", sources / "lib", ignore=ignore_patterns("__pycache__", "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    alone = ["--no-deps", "--no-index"]
    build = ["wheel", *alone, "--no-build-isolation", "--wheel-dir", str(scratch), str(sources)]
    subprocess.run([*pip, *build], check=True, stdout=subprocess.DEVNULL)
    (file,) = scratch.glob("lowdim-*.whl")
    target = scratch / "target"
    install = ["install", *alone, "--target", str(target), str(file)]
    subprocess.run([*pip, *install], check=True, stdout=subprocess.DEVNULL)
    (found,) = (p for p in target.glob("lowdim-*.dist-info"))
    metadata = distribution("lowdim").at(found).metadata
    return Wheel(file, metadata, target, scratch)
