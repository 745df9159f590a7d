"""Chapters on real images, where there are any; and what the book keeps of such runs.

Where no data folder is found (``LOWDIM_DATA``, or the cache folder), the first tests are skipped
and say so. The others look at the committed records and need no data.
"""

from __future__ import annotations

from functools import cache

import pytest
from lowdim.data import images
from lowdim.evidence.archive import Kept
from lowdim.evidence.values import decode
from lowdim.preserve import image_pictures, portraits
from lowdim.publish import chapters, records, running, words
from matplotlib.figure import Figure

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


@cache
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
    data, values = record["data"], record["values"]
    assert data["name"] == record["parameters"]["dataset"]
    assert data["licence"] and data["source"].startswith("http")
    assert data["taken"] == 2 * record["parameters"]["per_class"] * data["classes"]
    for target in ("autoencoder", "classifier", "shuffled"):
        for score in values[f"{target}_projector"]:
            assert all(-1 <= value <= 1 for value in score)
        for key in ("start", "end"):
            assert all(0 <= d <= 1 for pair in values[f"{target}_{key}"] for d in pair)
    for price, mass in zip(values["price"], values["off_block"], strict=True):
        assert (mass / 2) ** 0.5 - 0.01 <= price <= mass**0.5 + 1e-3  # o/2 ≤ π² ≤ o, in the mean
    assert sorted(claim["id"] for claim in record["claims"]) == sorted(chapter.claims)


@pytest.mark.parametrize("name", sorted(kept()))
def test_what_the_page_reads_from_a_record_is_in_it(name: str) -> None:
    """A record answers all that tables, figures and verdicts ask, and what the words insert."""
    record = kept()[name]
    found = portraits.restored(Kept(record))
    assert found is not None
    by_id = {claim["id"]: claim for claim in record["claims"]}
    title, dataset = record["data"]["title"], record["data"]["name"]
    for number, names in portraits.FIGURES.items():
        inside = dataset in names
        lines = [line["agrees"] for line in found.panel_lines(title)] if inside else []
        ruled = by_id[f"preserve.figure-{number}"]
        assert [line["agrees"] for line in ruled["lines"]] == lines
        words = [found.panel()] if inside else []
        assert ruled["verdict"] == portraits.overall(words, missing=len(names) - len(words))
        expected = [found.panel() if each == dataset else "no run" for each in names]
        assert record["values"][f"panels_{number}"] == expected
    section = by_id["preserve.section-8"]
    assert [line["agrees"] for line in section["lines"]] == [
        line["agrees"] for line in found.section_lines(title)
    ]
    counts = portraits.over_sets({dataset: found})
    for key in ("unmet", "apart", "closed_near"):
        assert decode(record["values"][key]) == counts[key]
    assert len(found.score_cells()) == 4 and len(found.change_cells()) == 7
    assert all(0 <= distance <= 1 for distance in found.ends())
    assert isinstance(image_pictures.six_to_nine({dataset: found}), Figure)


def test_what_the_words_insert_of_verdicts_is_in_every_record() -> None:
    said = words.of_chapter(ROOT, NAME)
    shown = [*said.evidence.values(), *(s.says for s in said.statements.values())]
    shown += [text for slips in said.errata.values() for slip in slips for text in slip.values()]
    wanted = set().union(*map(words.names, shown))
    assert wanted
    for name, record in kept().items():
        assert wanted <= set(record["values"]) | set(record["parameters"]), name
