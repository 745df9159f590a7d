"""Every chapter also runs with parameters that are not its defaults, the preset `small`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from lowdim.publish import chapters, records, running, words

spec = importlib.util.spec_from_file_location(
    "chapters_soak", Path(__file__).resolve().parents[2] / "tools" / "soak.py"
)
soak = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = soak
spec.loader.exec_module(soak)


def names() -> list[str]:
    """The chapters of the book; parametrized at collection, so a broken book is an error there."""
    return chapters.discover(chapters.find_root())


@pytest.mark.parametrize("name", names())
def test_preset_small_exists_and_is_not_the_default(name: str) -> None:
    chapter = chapters.load(name)
    assert "small" in chapter.presets, f"give {name} a preset 'small' in {chapters.PRESETS}"
    assert chapter.defaults | chapter.presets["small"] != chapter.defaults


@pytest.mark.chapter
@pytest.mark.parametrize("name", names())
def test_runs_with_preset_small(name: str, tmp_path: Path) -> None:
    chapter = chapters.load(name)
    values = chapters.chosen_values(chapter, {}, preset="small")
    made = running.run(chapter, values, output_dir=tmp_path, preset="small")
    record = records.read(made.record_path)
    assert record == made.record
    assert record["chapter"] == name
    assert record["preset"] == "small"
    assert record["parameters"] == chapter.defaults | values
    assert sorted(claim["id"] for claim in record["claims"]) == sorted(chapter.claims)
    assert made.page.stat().st_size > 0
    assert made.notebook.stat().st_size > 0
    text = chapter.path.read_text(encoding="utf-8")
    told = soak.sentences(text, words.values_of(record))
    assert [(line, problem) for line, _, problem in told if problem] == []
