"""Certificates: each runs in an interpreter that has nothing but the standard library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lowdim.publish import words
from lowdim.publish.chapters import discover
from lowdim.publish.site.certificates import FOLDER, LONGEST, foreign

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = sorted((ROOT / FOLDER).glob("*.py"))


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.stem)
def test_a_certificate_needs_nothing_and_ends_well(path: Path, tmp_path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= LONGEST
    assert foreign(source) == []
    assert "assert " in source, "a certificate that asserts nothing certifies nothing"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"[^\n]+\n", done.stdout), "one line says what was shown"


def test_certificates_are_of_claims_and_stand_on_their_pages() -> None:
    shown = {}
    for chapter in discover(ROOT):
        text = (ROOT / "notebooks" / f"{chapter}.md").read_text(encoding="utf-8")
        part = chapter.partition("/")[0]
        stated = words.read(text, part=part).statements
        for name in re.findall(r"^`{3,}\{certificate\} (\S+)", text, flags=re.M):
            assert f"{part}.{name}" in stated, f"{chapter} does not state {name}"
            shown[f"{part}.{name}"] = chapter
    assert sorted(shown) == sorted(path.stem for path in CERTIFICATES)
