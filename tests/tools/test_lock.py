"""The pins: complete, and those of the environment in which the tests run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_lock", ROOT / "tools" / "lock.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lock = load()


def asked() -> list[Requirement]:
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if line and not line.startswith("#")]
    return [Requirement(line) for line in [*named, *lock.BUILD]]


def test_the_lock_is_what_requirements_in_brings_in() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    written = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert list(written) == sorted(written)
    found, elsewhere = lock.closure(asked())
    assert {name: found.get(name) for name in written} == written
    left = re.findall(r"^# Left to pip, .*: (.+)\.$", "\n".join(lines), re.M)
    if set(left) == set(elsewhere):  # a Python like the one that the lock was made with
        assert found == written


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, SimpleNamespace]:
    """A made-up environment: name to a package with a version and what it requires."""
    packages: dict[str, SimpleNamespace] = {}
    monkeypatch.setattr(lock, "distribution", packages.__getitem__)
    monkeypatch.setattr(lock, "HERE", "3.11")
    return packages


def package(version: str, *requires: str) -> SimpleNamespace:
    return SimpleNamespace(version=version, requires=list(requires))


def test_labels_extras_and_other_pythons(installed: dict[str, SimpleNamespace]) -> None:
    installed["book"] = package("1.0", "Name_ed[fast]", 'old; python_version < "3.11"')
    installed["Name_ed"] = package("2.0+cpu", 'quick; extra == "fast"', 'slow; extra == "slow"')
    installed["quick"] = package("3.0", 'newer; python_version == "3.12"', "book")
    found, elsewhere = lock.closure([Requirement("book")])
    assert found == {"book": "1.0", "name-ed": "2.0", "quick": "3.0"}
    assert elsewhere == {"newer": ["3.12"]}


def test_what_some_builds_of_torch_bring_is_left_to_torch(
    installed: dict[str, SimpleNamespace],
) -> None:
    installed["torch"] = package("2.0", "sympy", 'cuda==13; platform_system != "nowhere"')
    installed["sympy"] = package("1.0")
    assert lock.closure([Requirement("torch")]) == ({"torch": "2.0", "sympy": "1.0"}, {})
