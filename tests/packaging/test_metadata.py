"""One version, one range of Pythons: each is said in one place, and other places agree with it."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

if TYPE_CHECKING:
    from conftest import Wheel

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def constant(source: str, name: str) -> object:
    """The value that a module gives to ``name``, without importing the module."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"there is no {name}")


VERSION = str(constant(read("lib/lowdim/__init__.py"), "__version__"))
PYTHONS = constant(read("tools/lock.py"), "PYTHONS")


def test_the_wheel_has_the_version_of_the_library(wheel: Wheel) -> None:
    assert wheel.metadata["Version"] == VERSION == str(Version(VERSION))


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in tomllib.loads(read("pyproject.toml"))["project"]
    assert "version" not in yaml.safe_load(read("CITATION.cff"))


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## \[(.+?)\](.*)$", read("CHANGELOG.md"), re.M)
    versions = [Version(name) for name, _ in headings]
    assert versions == sorted(versions, reverse=True)
    assert str(versions[0]) == Version(VERSION).base_version
    assert ("unreleased" in headings[0][1].lower()) == Version(VERSION).is_prerelease
    assert all(re.search(r"\d{4}-\d\d-\d\d", date) for _, date in headings[1:])


def test_pythons_agree(wheel: Wheel) -> None:
    allowed = SpecifierSet(wheel.metadata["Requires-Python"])
    every = [f"3.{minor}" for minor in range(30)]
    assert [python for python in every if f"{python}.0" in allowed] == list(PYTHONS)
    told = {line.rpartition(" ")[2] for line in wheel.metadata.get_all("Classifier")}
    assert {name for name in told if name.startswith("3.")} == set(PYTHONS)
    assert f"PYTHONS := {' '.join(PYTHONS)}\n" in read("Makefile")
    target = tomllib.loads(read("pyproject.toml"))["tool"]["ruff"]["target-version"]
    assert target == "py" + PYTHONS[0].replace(".", "")


def test_licence_and_citation_name_the_same_licence(wheel: Wheel) -> None:
    cited = yaml.safe_load(read("CITATION.cff"))
    assert wheel.metadata["License-Expression"] == cited["license"]
    assert sorted(wheel.metadata["Keywords"].split(",")) == sorted(cited["keywords"])


def test_nbgrader_is_pinned_with_the_numpy_that_grading_has() -> None:
    """Its environment is another one, in which assignments compute the same."""
    lines = read("tools/nbgrader.lock").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", pin) for pin in pins)
    assert [pin for pin in pins if pin.startswith("nbgrader==")]
    numpy = [line for line in read("requirements.lock").splitlines() if line.startswith("numpy==")]
    assert [pin for pin in pins if pin.startswith("numpy==")] == numpy
