"""Newer packages: what is asked of pip, and which verdicts are told to have moved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import pages
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import newest  # noqa: E402


def test_every_pin_is_loosened_within_its_major_version_and_torch_is_not() -> None:
    asked, locked = ((ROOT / f"requirements.{end}").read_text() for end in ("in", "lock"))
    pinned, wanted = newest.pins(locked), map(Requirement, newest.loosened(asked, locked))
    seen = {each.name: each.specifier for each in wanted}
    assert len(seen) == len(list(newest.read(asked)))
    for name, allowed in seen.items():
        pin = Version(pinned[name])
        assert pin in allowed
        assert (f"{pin.major}.{pin.minor + 1}" in allowed) == (name != "torch")
        assert str(pin.major + 1) not in allowed


def reference(root: Path, name: str, verdict: str) -> None:
    path = root / "tests" / "references" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = f"claim        verdict            trials\ntheorem-9-1  {verdict} · typo   20"
    path.write_text(json.dumps({"cells": [[{"data": {"text/plain": table}}]]}))


@pytest.mark.chapter
def test_what_moves_and_what_fails_is_told(
    book: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book.chapter()
    book.chapter("preserve/broken", claim="preserve.theorem-9-2", body="1 / 0")
    reference(book.root, "preserve/weyl", "refuted")
    for end in ("in", "lock"):
        (book.root / f"requirements.{end}").write_text("numpy==1.0\n")
    monkeypatch.setattr(newest, "install", lambda root: Path(sys.executable))  # this one
    assert newest.main(["--workers", "1"]) == 1
    said = capsys.readouterr().out
    assert "preserve.theorem-9-1: refuted → holds" in said and "ZeroDivisionError" in said
    found = json.loads((book.root / pages.NEWEST).read_text())
    assert found["chapters"] == 2 and found["versions"]["numpy"][0] == "1.0"
    assert [each["chapter"] for each in found["failed"]] == ["preserve/broken"]
    assert "theorem\\-9\\-1" in pages.status([], newest=found)


def test_verdicts_that_stay_are_not_told(book: Any) -> None:
    book.chapter()
    reference(book.root, "preserve/weyl", "holds")
    (book.root / "requirements.lock").write_text("numpy==2.4.6\n")
    found = {"versions": {"numpy": "2.4.6+local"}, "failed": {}}
    for after, moved in (({"preserve.theorem-9-1": "holds"}, 0), ({}, 1)):
        told = newest.compared(book.root, {**found, "verdicts": {"preserve/weyl": after}})
        assert len(told["moved"]) == moved
        assert (told["chapters"], told["versions"], told["failed"]) == (1, {}, [])


def test_what_cannot_be_done_is_one_sentence(
    book: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book.chapter()
    assert newest.main(["nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err

    def refuse(root: Path) -> Path:
        raise subprocess.CalledProcessError(1, ["pip", "install", "numpy"])

    monkeypatch.setattr(newest, "install", refuse)
    assert newest.main([]) == 2
    assert capsys.readouterr().out.count("\n") == 1
    assert not (book.root / pages.NEWEST).exists()
