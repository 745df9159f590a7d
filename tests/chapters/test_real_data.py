"""Chapters on real images, where there are any; and what the book keeps of such runs.

Where no data folder is found (``LOWDIM_DATA``, or the cache folder), the first tests are skipped
and say so. The others look at the committed records and need no data.
"""

from __future__ import annotations

import ast

import pytest
from lowdim.data import images
from lowdim.publish import chapters, records, running

ROOT = chapters.find_root()
NAME = "preserve/real_data"


def at_hand(name: str) -> str:
    """A data set that the chapter can be given and that is here; skips and says why if none."""
    chapter = chapters.load(name, root=ROOT)
    allowed = next(p for p in chapter.parameters if p.name == "dataset").allowed.choices
    found = [k for k in images.available() if k in allowed and k != "digits"]
    if not found:
        pytest.skip(
            f"none of {name}'s data sets is in {images.folder()}: set LOWDIM_DATA, "
            "or run 'lowdim data fetch NAME'"
        )
    return found[0]


def with_data() -> list[str]:
    """The chapters that can be given a data set."""
    return [
        name
        for name in chapters.discover(ROOT)
        if any(p.name == "dataset" for p in chapters.load(name, root=ROOT).parameters)
    ]


@pytest.mark.chapter
@pytest.mark.parametrize("name", with_data())
def test_the_chapter_runs_on_real_images(name: str) -> None:
    chosen = at_hand(name)
    chapter = chapters.load(name, root=ROOT)
    values = chapters.chosen_values(chapter, {}, preset="small") | {"dataset": chosen}
    _, record = running.execute_recorded(chapter, values, preset=None, progress=False)
    assert record["parameters"]["dataset"] == chosen
    if name == NAME:
        assert record["data"]["name"] == chosen
        assert record["data"]["kind"] in ("official files", "subset")
        assert record["data"]["taken"] == 2 * values["per_class"] * record["data"]["classes"]
        folder = str(images.folder())
        assert folder not in str(record), "a record must not say where on this machine the data lie"


def kept() -> dict[str, dict]:
    """The committed records of the chapter, by data set."""
    found = (ROOT / "book" / "records" / "preserve").glob("real_data.*.json")
    return {path.name.split(".")[1]: records.read(path) for path in found}


def test_every_data_set_has_a_preset_of_its_name() -> None:
    presets = chapters.load(NAME, root=ROOT).presets
    for name in images.names():
        if name != "digits":
            assert presets[name]["dataset"] == name
    assert chapters.load(NAME, root=ROOT).defaults["dataset"] == "digits"


@pytest.mark.parametrize("name", sorted(kept()))
def test_a_kept_record_is_what_its_preset_asks_for(name: str) -> None:
    chapter, record = chapters.load(NAME, root=ROOT), kept()[name]
    assert record["preset"] == name
    assert record["parameters"] == chapter.defaults | chapter.presets[name], "record it again"
    data, numbers = record["data"], record["numbers"]
    assert data["name"] == record["parameters"]["dataset"]
    assert data["licence"] and data["source"].startswith("http")
    assert data["taken"] == 2 * record["parameters"]["per_class"] * data["classes"]
    for target in ("autoencoder", "classifier", "shuffled"):
        for score in numbers[f"{target}_projector"]:
            assert all(-1 <= value <= 1 for value in score)
        for key in ("start", "end"):
            assert all(0 <= d <= 1 for pair in numbers[f"{target}_{key}"] for d in pair)
    for price, mass in zip(numbers["price"], numbers["off_block"], strict=True):
        assert (mass / 2) ** 0.5 - 0.01 <= price <= mass**0.5 + 1e-3  # o/2 ≤ π² ≤ o, in the mean
    assert sorted(claim["id"] for claim in record["claims"]) == sorted(chapter.claims)


def test_what_the_page_reads_from_a_record_is_in_it() -> None:
    """Every key of ``numbers`` that the chapter looks up by a literal name exists in a record."""
    from lowdim.publish.chapters import code_cells

    text = (ROOT / "notebooks" / f"{NAME}.md").read_text(encoding="utf-8")
    wanted = {
        node.slice.value
        for cell in code_cells(text)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "q"
        and isinstance(node.slice, ast.Constant)
    }
    assert wanted
    for name, record in kept().items():
        assert wanted <= set(record["numbers"]), name
