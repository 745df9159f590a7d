"""Verdicts: evidence that contradicts one is refused, records are valid, the table is stable."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import lowdim
import numpy as np
import pytest
import torch
from lowdim.evidence import claims
from lowdim.evidence.attacks import Claim, Findings, Row, attack
from lowdim.evidence.claims import compared, rule, verdict_table
from lowdim.evidence.ladder import Ladder

SCHEMA = json.loads((Path(lowdim.__file__).parent / "record.schema.json").read_text())


def inequality(factor: float = 1.0, number: str = "theorem-3-1") -> Claim:
    return Claim(
        f"preserve.{number}",
        "a paper, Theorem 3.1",
        "|sin x| is at most |x|",
        lhs=lambda case: factor * case["x"].sin().abs(),
        rhs=lambda case: case["x"].abs(),
    )


def attacked(claim: Claim) -> Findings:
    x = torch.linspace(0.1, 3, 30, dtype=torch.float64)
    return attack(claim, edges={"a line": {"x": x}})


def ladder(*, broken: bool) -> Ladder:
    rungs = Ladder("a proof")
    rungs.start("a", [1.0, 2.0])
    rungs.leq("b", [1.5, 1.0 if broken else 2.5], because="so")
    return rungs


FIGURE = Claim("preserve.figure-2", "a paper, Figure 2", "a picture")
FINE, FALSE = attacked(inequality()), attacked(inequality(2.0))
SOUND, BROKEN = ladder(broken=False), ladder(broken=True)
NOTHING = Findings(inequality(), (Row("random", 5, 0, 0, 0.0, {}),))

CONTRADICTIONS = {
    "violated, yet holds": ("holds", {"found": FALSE}, "violations were found"),
    "counted violations, yet holds": (
        "holds",
        {"trials": 9, "violations": 2},
        "2 violations were found",
    ),
    "counterexample, yet holds": (
        "holds",
        {"found": FINE, "counterexample": True},
        "violations were found",
    ),
    "broken, yet holds": ("holds", {"found": FINE, "ladder": BROKEN}, "its ladder breaks at b"),
    "nothing tried, yet holds": ("holds", {}, "nothing was tried"),
    "nothing admitted, yet holds": ("holds", {"found": NOTHING}, "nothing was tried"),
    "violated, yet only the proof": (
        "proof-repaired",
        {"found": FALSE, "ladder": BROKEN, "repair": SOUND},
        "violations were found",
    ),
    "proof-repaired without a break": (
        "proof-repaired",
        {"found": FINE, "ladder": SOUND, "repair": SOUND},
        "no rung of its ladder is broken",
    ),
    "proof-repaired without a ladder": (
        "proof-repaired",
        {"found": FINE, "repair": SOUND},
        "no rung of its ladder is broken",
    ),
    "proof-repaired without a proof": (
        "proof-repaired",
        {"found": FINE, "ladder": BROKEN},
        "no repaired ladder was given",
    ),
    "proof-repaired by a broken proof": (
        "proof-repaired",
        {"found": FINE, "ladder": BROKEN, "repair": BROKEN},
        "the repaired proof breaks at b",
    ),
    "proof-repaired, nothing tried": (
        "proof-repaired",
        {"ladder": BROKEN, "repair": SOUND},
        "nothing was tried",
    ),
    "the repair is violated": (
        "repaired",
        {"found": FALSE, "repair_found": FALSE},
        f"the repaired statement has {FALSE.violations} violations",
    ),
    "holds beside a violated repair": (
        "holds",
        {"found": FINE, "repair_found": FALSE},
        "the repaired statement has",
    ),
    "repaired without a need": (
        "repaired",
        {"found": FINE, "repair": SOUND},
        "no violation and no verified counterexample",
    ),
    "repaired without a repair": (
        "repaired",
        {"found": FALSE},
        "neither a repaired ladder nor an attack",
    ),
    "refuted without a violation": (
        "refuted",
        {"found": FINE},
        "no violation and no verified counterexample",
    ),
    "refuted by a counterexample that fails": (
        "refuted",
        {"found": FALSE, "counterexample": False},
        "the counterexample given does not check",
    ),
    "repaired by a counterexample that fails": (
        "repaired",
        {"found": FALSE, "counterexample": False, "repair": SOUND},
        "the counterexample given does not check",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_evidence_that_contradicts_the_verdict_is_refused(name):
    verdict, evidence, said = CONTRADICTIONS[name]
    with pytest.raises(ValueError) as refusal:
        rule(inequality(), verdict, evidence="measured", **evidence)
    message = str(refusal.value)
    assert message.startswith(f"preserve.theorem-3-1 cannot be {verdict!r}: ")
    assert said in message


@pytest.mark.parametrize(
    ("verdict", "evidence"),
    [
        ("holds", {"found": FINE, "ladder": SOUND}),
        ("holds", {"trials": 3}),
        ("proof-repaired", {"found": FINE, "ladder": BROKEN, "repair": SOUND}),
        ("repaired", {"found": FALSE, "repair": SOUND, "repair_found": FINE}),
        ("repaired", {"found": FINE, "counterexample": True, "repair": SOUND}),
        ("repaired", {"found": FALSE, "repair_found": FINE}),
        ("refuted", {"found": FALSE}),
        ("refuted", {"counterexample": True}),
        ("undecidable", {}),
        ("reproduced", {"trials": 5}),
        ("partly", {"trials": 5, "violations": 2}),
        ("not-reproduced", {"trials": 5, "violations": 5}),
    ],
)
def test_evidence_that_carries_the_verdict_is_accepted(verdict, evidence):
    assert rule(inequality(), verdict, evidence="measured", **evidence).verdict == verdict


def test_counts_cannot_hide_what_an_attack_found():
    with pytest.raises(ValueError, match=r"an attack counts for itself; .* violations = 0"):
        rule(inequality(), "holds", evidence="measured", found=FALSE, violations=0)
    with pytest.raises(ValueError, match="trials = 7"):
        rule(inequality(), "holds", evidence="measured", found=FINE, trials=7)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "true"}, "'holds', 'proof-repaired'"),
        ({"verdict": "true"}, "'true'"),
        ({"tags": ["sharp"]}, "'sharp'"),
        ({"claim": inequality(number="conjecture-1")}, "'preserve.conjecture-1'"),
        ({"claim": inequality(number="theorem")}, "'preserve.theorem'"),
        ({"claim": inequality(number="Theorem-1")}, "'preserve.Theorem-1'"),
    ],
)
def test_unknown_names_are_refused(change, said):
    options = {"claim": inequality(), "verdict": "holds", "tags": ()} | change
    with pytest.raises(ValueError) as refusal:
        rule(options["claim"], options["verdict"], evidence="x", trials=1, tags=options["tags"])
    assert said in str(refusal.value)


def rulings() -> list[claims.Ruling]:
    erratum = {
        "where": "(7)", "printed": "2r", "correct": "r", "why": "counted twice",
        "consequence": "none",
    }  # fmt: skip
    reported = compared("distance", 0.1, "0.12", "the mean", np.bool_(True))
    broken = Ladder("zero")
    broken.start("a", [1.0])
    broken.leq("b", [0.0], because="never")
    return [
        rule(
            inequality(), "proof-repaired", evidence="e", found=FINE, ladder=broken, repair=SOUND,
            tags=["sharpened", "typo"], errata=[erratum],
        ),
        rule(
            inequality(number="lemma-4-1"), "refuted", evidence="e",
            found=Findings(inequality(), (Row("edge: 0", 1, 1, 1, float("inf"), {}),)),
        ),
        rule(FIGURE, "partly", evidence="e", trials=10, violations=1, reported=[reported]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("agrees", "kept"),
    [(None, None), (np.bool_(False), False), (torch.tensor(True), True), (0, False)],
)
def test_a_line_of_a_comparison_can_be_written_down(agrees, kept):
    line = compared("slope", -2, 1.5, "per point", agrees)
    assert list(line) == ["quantity", "reported", "measured", "reading", "agrees"]
    written = json.loads(json.dumps(line))
    assert written["agrees"] is kept
    assert (written["reported"], written["measured"]) == ("-2", "1.5")


def captured(monkeypatch, *given, **options_) -> tuple[dict, dict, dict[str, object]]:
    """Call verdict() and return what it displayed, its metadata and what it glued."""
    import IPython.display
    import myst_nb

    shown, glued = [], {}
    monkeypatch.setattr(IPython.display, "display", lambda *a, **k: shown.append((a, k)))
    monkeypatch.setattr(myst_nb, "glue", lambda name, value, display: glued.update({name: value}))
    claims.verdict(*given, **options_)
    ((bundle,), options) = shown[0]
    assert options["raw"] is True
    assert len(shown) == 1
    return bundle, options["metadata"], glued


def test_the_record_is_valid_once_the_chapter_is_known(monkeypatch):
    bundle, metadata, glued = captured(monkeypatch, *rulings())
    record = json.loads(json.dumps(metadata["lowdim_record"], allow_nan=False))
    incomplete = jsonschema.Draft202012Validator(SCHEMA)
    assert not incomplete.is_valid(record)
    record |= {
        "chapter": "preserve/theorem_3_1", "title": "A title", "seed": 0, "parameters": {},
        "preset": None,
    }  # fmt: skip
    jsonschema.validate(record, SCHEMA)
    first, second, third = record["claims"]
    assert (first["part"], first["kind"], third["kind"]) == ("preserve", "theorem", "figure")
    assert first["trials"] == FINE.trials
    assert first["tightness"] == pytest.approx(FINE.tightness, rel=1e-5)
    assert first["ladder"][0]["worst"] is None
    assert second["tightness"] is None  # infinite: JSON has no word for it
    assert (third["trials"], third["violations"], third["tightness"]) == (10, 1, None)
    assert record["machine"]["threads"] == torch.get_num_threads()
    assert set(glued) == {"theorem-3-1", "lemma-4-1", "figure-2"}
    assert repr(glued["theorem-3-1"]) == "proof-repaired · sharpened · typo"
    assert 'class="verdict verdict-partly"' in glued["figure-2"]._repr_html_()
    assert bundle["text/plain"] == str(verdict_table(rulings()))
    assert "<table" in bundle["text/html"]


def test_the_compared_table_is_stable():
    assert str(verdict_table(rulings())) == (
        "claim                 verdict                            trials  violations  tightness\n"
        "preserve.theorem-3-1  proof-repaired · sharpened · typo      30           0          1\n"
        "preserve.lemma-4-1    refuted                                 1           1        inf\n"
        "preserve.figure-2     partly                                 10           1          –"
    )


def test_a_verdict_needs_different_claims():
    one = rule(FIGURE, "reproduced", evidence="e", trials=1)
    with pytest.raises(ValueError, match=r"preserve.figure-2.*preserve.figure-2"):
        claims.verdict(one, one)
    with pytest.raises(ValueError, match=r"you gave \[\]"):
        claims.verdict()


def test_versions_and_machine_say_what_and_not_who():
    assert claims.versions()["lowdim"] == lowdim.__version__
    assert all("+" not in v for v in claims.versions().values())
    text = json.dumps(claims.machine())
    import platform

    assert not platform.node() or platform.node() not in text


IMAGES = {
    "name": "mnist", "title": "MNIST", "kind": "subset", "split": "train",
    "files": ("mnist.npz",), "whole": False, "checked": False, "available": 5000, "taken": 600,
    "classes": 10, "per_class": 60, "seed": 0, "side": 28, "licence": "none stated",
    "source": "https://example.org", "citation": "Someone (1998)",
}  # fmt: skip
KNOWN = {
    "chapter": "preserve/real_data", "title": "A title", "seed": 0, "parameters": {},
    "preset": "mnist",
}  # fmt: skip


def test_a_record_can_carry_data_and_numbers(monkeypatch):
    numbers = {
        "acc": 0.123456789,
        "curve": torch.tensor([[1.0, 2.0], [3.0, float("nan")]]),
        "none": None,
    }
    _, metadata, _ = captured(monkeypatch, *rulings(), data=IMAGES, numbers=numbers)
    record = json.loads(json.dumps(metadata["lowdim_record"], allow_nan=False)) | KNOWN
    jsonschema.validate(record, SCHEMA)
    assert record["data"] == {**IMAGES, "files": ["mnist.npz"]}
    assert record["numbers"] == {"acc": 0.1235, "curve": [[1.0, 2.0], [3.0, None]], "none": None}
    plain = captured(monkeypatch, *rulings())[1]["lowdim_record"]
    assert "data" not in plain
    assert "numbers" not in plain


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data", {"name": "mnist"}),
        ("data", {**IMAGES, "files": ["a/folder/of/mine/mnist.npz"]}),
        ("data", {**IMAGES, "files": [], "kind": "downloaded"}),
        ("data", {**IMAGES, "files": [], "path": "here"}),
        ("numbers", {"acc": "high"}),
        ("numbers", {"acc": [1.0, "high"]}),
        ("numbers", [1.0]),
    ],
)
def test_a_record_with_other_data_or_numbers_is_refused(monkeypatch, key, value):
    record = captured(monkeypatch, *rulings())[1]["lowdim_record"] | KNOWN
    jsonschema.validate(json.loads(json.dumps(record)), SCHEMA)
    bad = json.loads(json.dumps(record | {key: value}))
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(bad)


def test_what_the_loader_says_of_its_data_fits_the_record(monkeypatch):
    from lowdim.data import images

    data = images.load("digits", per_class=3).provenance.as_dict()
    record = captured(monkeypatch, *rulings(), data=data)[1]["lowdim_record"] | KNOWN
    jsonschema.validate(json.loads(json.dumps(record)), SCHEMA)


def test_kept_records_are_found_absent_or_refused(tmp_path):
    assert claims.kept(tmp_path / "none.json") is None
    good = tmp_path / "good.json"
    good.write_text(json.dumps({"claims": [{"id": "preserve.figure-6"}]}))
    assert claims.kept(good)["claims"][0]["id"] == "preserve.figure-6"
    bad = tmp_path / "bad.json"
    for content in ("{", "{}", "[]", '{"claims": [1]}'):
        bad.write_text(content)
        with pytest.raises(ValueError, match=r"bad\.json is not a record"):
            claims.kept(bad)


def test_todays_verdicts_stand_beside_those_of_a_kept_run(monkeypatch, tmp_path):
    from lowdim.data import images

    data = images.load("digits", per_class=3).provenance.as_dict()
    today = rulings()
    record = captured(monkeypatch, *today, data=data)[1]["lowdim_record"] | KNOWN
    record["claims"] = record["claims"][:1]
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(record))
    rows = claims.beside(today, path).rows
    assert [row[0] for row in rows] == [today[0].claim.id, "", *(r.claim.id for r in today[1:])]
    assert f"{data['taken']}\N{NO-BREAK SPACE}images of {data['title']}, " in rows[1][1]
    assert rows[1][2] == today[0].verdict


def test_only_a_larger_run_speaks():
    record = {"parameters": {"n": 9, "d": 2}, "claims": [{"id": "preserve.figure-1"}]}
    larger = lambda **than: claims.of_larger(record, "preserve.figure-1", than=than)  # noqa: E731
    assert larger(n=8) == larger(n=8, d=1) == record["claims"][0]
    assert larger(n=9) is larger(n=8, d=2) is None
    assert claims.of_larger(None, "preserve.figure-1", than={}) is None
    assert claims.of_larger(record, "preserve.figure-2", than={"n": 1}) is None


def test_lines_of_a_kept_run_are_shown_as_they_were_written(tmp_path):
    line = compared("slope", -2, "-1.9", "per point", True)
    silent = compared("slope", "–", "-1.5", "summed", None)
    path = tmp_path / "kept.json"
    other = {"id": "demo.figure-3", "reported": [line]}
    first = {"id": "demo.figure-1", "reported": [line, silent]}
    path.write_text(json.dumps({"claims": [first, {"id": "demo.lemma-1"}, other]}))
    table = claims.kept_lines(path, "demo.figure-1")
    assert table.header == ("reading", "quantity", "reported", "measured", "agrees")
    assert table.rows == [
        ("per point", "slope", "-2", "-1.9", "yes"),
        ("summed", "slope", "–", "-1.5", "–"),
    ]
    turned = claims.kept_lines(path, "demo.figure-3", "demo.figure-1").rows
    assert turned == [table.rows[0], *table.rows]
    assert claims.kept_lines(path).rows == [*table.rows, table.rows[0]]
    with pytest.raises(ValueError, match=r"no claim 'demo.figure-2'; it has demo.figure-1, demo"):
        claims.kept_lines(path, "demo.figure-1", "demo.figure-2")
