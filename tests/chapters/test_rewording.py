"""Rewording costs nothing: no chapter runs again, no reference is stale, no record is old."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from lowdim.publish import chapters, content, references, words

ROOT = chapters.find_root()
NAMES = chapters.discover(ROOT)
OLDER = set((Path(__file__).parent / "older.txt").read_text().split("\n\n")[1].split())
CELL = re.compile(
    r"(^```\{code-cell\}[^\n]*\n)(---\n.*?\n---\n|(?::[^\n]*\n)*)(.*?)(^```$)", re.S | re.M
)


def reworded(text: str) -> str:
    """Every sentence that a page shows, changed: prose, statements, evidence, errata, captions."""
    pieces, end = [], 0
    for cell in CELL.finditer(text):
        pieces += [changed(text[end : cell.start()]), cell[1], changed(cell[2]), cell[3], cell[4]]
        end = cell.end()
    return "".join([*pieces, changed(text[end:])])


def changed(words_: str) -> str:
    return re.sub(r" (the|of|a|is|are) ", r" \1, as it were, ", words_)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book in another folder, with every chapter reworded."""
    root = tmp_path_factory.mktemp("reworded")
    for folder in ("lib", "notebooks", "tests/references", "book/records"):
        unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / folder, root / folder, ignore=unwanted)
    for name in ("_toc.yml", "requirements.lock"):
        shutil.copy(ROOT / name, root / name)
    for path in (root / "notebooks").glob("*/*.md"):
        path.write_text(reworded(path.read_text(encoding="utf-8")), encoding="utf-8")
    return root


@pytest.mark.parametrize("name", NAMES)
def test_a_reworded_chapter_is_current_and_passes(copy: Path, name: str) -> None:
    before, after = (chapters.load(name, root=root) for root in (ROOT, copy))
    assert before.path.read_text() != after.path.read_text()
    assert content.key(ROOT, name) == content.key(copy, name)
    assert references.load(after) == references.load(before)
    assert before.claims == after.claims
    said = words.of_chapter(copy, name)
    first = words.of_chapter(ROOT, name)
    assert said.used == first.used
    assert said.evidence != first.evidence or not any(
        changed(text) != text for text in first.evidence.values()
    )
    for path in sorted((copy / "book" / "records").glob(f"{name}.*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        fits = sorted(claim["id"] for claim in record["claims"]) == sorted(after.claims)
        preset = after.defaults | dict(after.presets[record["preset"]])
        assert (fits and record["parameters"] == preset) == (name not in OLDER), path.name


def test_a_changed_number_is_not_a_rewording(copy: Path) -> None:
    path = copy / "notebooks" / f"{NAMES[0]}.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"^seed = 0", "seed = 1", text, flags=re.M), encoding="utf-8")
    assert content.key(ROOT, NAMES[0]) != content.key(copy, NAMES[0])
    path.write_text(text, encoding="utf-8")
