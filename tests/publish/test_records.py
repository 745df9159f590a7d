"""Records: extracted from executed notebooks, validated, written whole or not at all."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import nbformat
import pytest
from lowdim.publish import chapters, records

ROOT = Path(__file__).resolve().parents[2]
KEPT = sorted((ROOT / "book" / "records").glob("*/*.json"))

PARTIAL = {
    "schema": "lowdim-record/2",
    "seconds": 1.5,
    "versions": dict.fromkeys(("lowdim", "python", "torch", "numpy", "scipy"), "1"),
    "machine": {"system": "Linux", "processor": "any", "cores": 2, "threads": 1},
    "values": {"slope": {"value": -1.0, "error": 0.1}},
    "claims": [
        {
            "id": "preserve.lemma-4-1",
            "verdict": "holds",
            "supported": True,
            "tags": ["sharpened"],
            "trials": 10,
            "violations": 0,
            "tightness": 0.25,
            "ladder": [],
            "lines": [],
        }
    ],
}


def notebook(partial=PARTIAL, *, injected: str | None = "trials = 7", seed: str = "seed = 3"):
    v4 = nbformat.v4
    cells = [
        v4.new_markdown_cell("(label)=\n# Lemma 4.1 — small noise\n\nText.\n\n## Parameters"),
        v4.new_code_cell(
            f"trials = 10  # n; 1 or more\nrates = [0.1, -1]  # r; a list, each any number\n{seed}",
            metadata={"tags": ["parameters"]},
        ),
        v4.new_code_cell("# not a heading\nx = 1"),
    ]
    if injected:
        cells.insert(2, v4.new_code_cell(injected, metadata={"tags": ["injected-parameters"]}))
    metadata = {"lowdim_record": partial} if partial else {}
    output = v4.new_output("display_data", {"text/plain": "table"}, metadata=metadata)
    cells.append(v4.new_code_cell("verdict()", outputs=[output]))
    return v4.new_notebook(cells=cells)


def test_extract_completes_the_record():
    record = records.extract(notebook(), chapter="preserve/lemma_4_1", preset="paper")
    assert record["parameters"] == {"trials": 7, "rates": [0.1, -1], "seed": 3}
    assert record["seed"] == 3
    assert record["preset"] == "paper"
    assert record["chapter"] == "preserve/lemma_4_1"
    assert record["claims"] == PARTIAL["claims"]


def test_the_record_survives_a_file(tmp_path):
    path = tmp_path / "nb.ipynb"
    nbformat.write(notebook(), path)
    again = records.extract(nbformat.read(path, 4), chapter="preserve/lemma_4_1")
    assert again == records.extract(notebook(), chapter="preserve/lemma_4_1")


def test_without_a_record_or_with_two():
    with pytest.raises(records.RecordError, match=r"preserve/x left no record: its verdict cell"):
        records.extract(notebook(None), chapter="preserve/x")
    two = notebook()
    two.cells.append(two.cells[-1])
    with pytest.raises(records.RecordError, match="left 2 records"):
        records.extract(two, chapter="preserve/x")


def test_without_a_seed():
    with pytest.raises(records.RecordError, match=r"no parameter 'seed'; it has: trials, rates"):
        records.extract(notebook(seed=""), chapter="preserve/x")


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("claims", 0, "verdict"), "hold", "claims/0/verdict"),
        (("claims", 0, "id"), "preserve.lemma", "claims/0/id"),
        (("claims", 0, "tags"), ["funny"], "claims/0/tags/0"),
        (("claims", 0, "violations"), -1, "claims/0/violations"),
        (("claims", 0, "tightness"), float("nan"), "claims/0/tightness is not a finite number"),
        (("claims", 0, "tightness"), float("inf"), "claims/0/tightness is not a finite number"),
        (("claims",), [], "claims"),
        (("seconds",), "1", "seconds"),
        (("extra",), 1, "extra"),
        (("values", "word"), "x" * 81, "values/word"),
        (("claims", 0, "evidence"), "it held", "evidence"),
    ],
)
def test_what_does_not_fit_the_schema_is_named(path, value, says, tmp_path):
    partial = copy.deepcopy(PARTIAL)
    at = partial
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(records.RecordError) as error:
        records.extract(notebook(partial), chapter="preserve/x")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_write_and_read(tmp_path):
    record = records.extract(notebook(), chapter="preserve/lemma_4_1")
    path = records.write(record, tmp_path / "deep" / "r.json")
    assert records.read(path) == record
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert [p.name for p in path.parent.iterdir()] == ["r.json"]


def test_a_bad_record_is_not_written_and_leaves_the_old_one(tmp_path):
    record = records.extract(notebook(), chapter="preserve/lemma_4_1")
    path = records.write(record, tmp_path / "r.json")
    before = path.read_text()
    with pytest.raises(records.RecordError, match=r"r\.json"):
        records.write(record | {"seed": "x"}, path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_read_names_the_file(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text("{")
    with pytest.raises(records.RecordError, match=r"bad\.json is not JSON"):
        records.read(path)
    path.write_text("{}")
    with pytest.raises(records.RecordError, match=r"bad\.json is no valid record"):
        records.read(path)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_run_is_of_its_chapter_as_it_stands(path: Path) -> None:
    stem, preset = path.stem.split(".")
    record = records.read(path)
    chapter = chapters.load(f"{path.parent.name}/{stem}", root=ROOT)
    assert (record["chapter"], record["preset"]) == (chapter.name, preset)
    older = (ROOT / "tests" / "chapters" / "older.txt").read_text().split("\n\n")[1].split()
    fits = record["parameters"] == chapter.defaults | dict(chapter.presets[preset])
    fits &= sorted(claim["id"] for claim in record["claims"]) == sorted(chapter.claims)
    assert fits == (chapter.name not in older)
