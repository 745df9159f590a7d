"""Reports: complete in themselves, true of their numbers; every bad request in one sentence."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from lowdim.instruments import sentences
from lowdim.instruments.measuring import Measurement, measure
from lowdim.instruments.recording import Recorder
from lowdim.instruments.report import report
from lowdim.instruments.theorems import THEOREMS
from lowdim.publish import cli
from torch import nn

MODEL = """\
import torch
from torch import nn

def make_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3))

def wide(width):
    return nn.Linear(6, width)

def breaks():
    raise KeyError("no weights")

def number():
    return 3

def sick():
    model = make_model()
    nn.init.constant_(model[0].weight, float("nan"))
    return model
"""


def measured(seed: int = 0) -> tuple[nn.Module, Measurement]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3))
    y = torch.arange(90) % 3
    x = torch.randn(90, 6) + y[:, None]
    x[:, 4:] *= 0.01  # a plane, and something normal to it
    return model, measure(model, x, labels=y, probes=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("report")
    model, found = measured()
    x = torch.randn(40, 6) * torch.tensor([1, 1, 1, 1, 0.01, 0.01])
    recorder = Recorder(model, x, labels=torch.arange(40) % 3, steps=[0, 1])
    recorder.step()
    report(found, at / "one", title="<One> & only", recorder=recorder, book="../book")
    report(measured(1)[1], at / "two", compare=at / "one")
    return at


class Reader(HTMLParser):
    """Tags that are open, those that load something, and all links."""

    VOID = ("meta", "br", "link", "img", "mspace")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        held = dict(attrs)
        if tag in ("script", "link", "img", "iframe", "object", "embed") or "src" in held:
            self.loads.append(tag)
        if tag == "a":
            self.links.append(held.get("href") or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag


def test_a_page_loads_nothing_and_is_small(folder: Path) -> None:
    for name in ("one", "two"):
        text = (folder / name / "report.html").read_text(encoding="utf-8")
        reader = Reader()
        reader.feed(text)
        assert not reader.open and not reader.loads
        assert "http" not in text and "@import" not in text and "url(" not in text
        assert len(text.encode()) < 2_000_000
        assert reader.tags.count("math") == 4
    first = (folder / "one" / "report.html").read_text(encoding="utf-8")
    assert "&lt;One&gt; &amp; only" in first and "<One>" not in first
    assert "../book/notebooks/hashing/theorem_5.html#hashing.new-one-shot" in first
    assert "over training" in first
    second = (folder / "two" / "report.html").read_text(encoding="utf-8")
    assert "Side by side" in second and "&lt;One&gt;" in second


def test_every_drawing_says_what_it_shows(folder: Path) -> None:
    text = (folder / "one" / "report.html").read_text(encoding="utf-8")
    drawings = re.findall(r'<svg class="chart".*?</svg>', text, flags=re.DOTALL)
    assert len(drawings) == 8  # four over layers, four over training
    for drawn in drawings:
        tree = ElementTree.fromstring(drawn)
        title = tree.find("title")
        assert title is not None and "from" in str(title.text)
        label = tree.get("aria-labelledby")
        assert label == title.get("id") and text.count(f'id="{label}"') == 1


def test_json_holds_every_number_and_the_page_shows_them(folder: Path) -> None:
    held = json.loads((folder / "one" / "report.json").read_text(encoding="utf-8"))
    assert held["schema"] == "lowdim-instruments/1"
    text = (folder / "one" / "report.html").read_text(encoding="utf-8")
    found = sentences.number(held["layers"][-1], "hashing", "rho_mean")
    assert found is not None and sentences.shown(found) in text
    assert held["recorder"]["records"][1]["step"] == 1


@pytest.mark.parametrize("part", THEOREMS)
def test_sentences_follow_from_numbers(folder: Path, part: str) -> None:
    held = json.loads((folder / "one" / "report.json").read_text(encoding="utf-8"))
    said = sentences.says(held, part)
    assert said.endswith(".") and len(sentences.hypotheses(held, part)) >= 1
    ElementTree.fromstring(THEOREMS[part].formula)  # well formed
    bare = json.loads(json.dumps(held))
    for layer in bare["layers"]:
        for numbers in layer["numbers"]["train"].values():
            for number in numbers.values():
                number["value"], number["reason"] = None, "of a test"
    assert sentences.says(bare, part) == "This could not be measured: of a test."
    assert sentences.hypotheses(bare, part)


def test_words_turn_when_numbers_do() -> None:
    a = {"value": 0.5, "low": 0.4, "high": 0.6, "kind": "jackknife"}
    assert "more sensitive" in _third(1.5, 1.2, 1.8)
    assert "less sensitive" in _third(0.5, 0.2, 0.8)
    assert "about as sensitive as" in _third(1.1, 0.9, 1.3)
    assert sentences.shown(a) == "0.5 (95 %: 0.4 to 0.6)"


def _third(value: float, low: float, high: float) -> str:
    found = {"value": value, "low": low, "high": high, "kind": "jackknife"}
    layer = {"name": "last", "kind": "Linear", "numbers": {"train": {"embedded": {"ratio": found}}}}
    return sentences.says({"layers": [layer], "tangent": 2, "ambient": 5}, "embedded")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model file, data and checkpoints, as the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(MODEL)
    Path("bad.py").write_text("import nothing_of_the_kind\n")
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 6)).astype("float32"), np.arange(60) % 3
    np.savez("data.npz", x=x, y=y, x_test=x[:20], y_test=y[:20])
    np.savez("plain.npz", x=x)
    np.savez("narrow.npz", x=x[:, :5], y=y)
    np.savez("one.npz", x=x, y=0 * y)
    np.savez("few.npz", x=x[:2], y=y[:2])
    np.savez("float.npz", x=x, y=y / 3)
    np.savez("empty.npz", x=x[:0], y=y[:0])
    np.savez("without.npz", images=x)
    torch.save(nn.Linear(6, 9).state_dict(), "other.pt")
    torch.save(nn.Linear(6, 9), "whole.pt")
    made = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3))
    torch.save({"state_dict": made.state_dict()}, "right.pt")
    return tmp_path


def test_a_report_from_the_command_line(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["report", "net.py:make_model", "--data", "data.npz", "-o", "out"]
    assert cli.main([*line, "--checkpoint", "right.pt"]) == 0
    assert capsys.readouterr().out.split() == ["out/report.html", "out/report.json"]
    held = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert held["splits"]["held_out"]["points"] == 20
    assert "ran its code" in Path("out/report.html").read_text(encoding="utf-8")
    assert cli.main(["report", "net.py:make_model", "--data", "plain.npz", "-o", "again",
                     "--compare", "out"]) == 0  # fmt: skip


@pytest.mark.parametrize(
    ("model", "data", "more", "sentence"),
    [
        ("net.py", "data.npz", [], "FILE.py:FUNCTION"),
        ("gone.py:make_model", "data.npz", [], "There is no file gone.py"),
        ("bad.py:make_model", "data.npz", [], "does not import: ModuleNotFoundError"),
        ("net.py:nothing", "data.npz", [], "no function nothing; it has make_model, wide"),
        ("net.py:wide", "data.npz", [], "needs arguments (width)"),
        ("net.py:breaks", "data.npz", [], "raised KeyError"),
        ("net.py:number", "data.npz", [], "returned int"),
        ("net.py:sick", "data.npz", [], "not finite"),
        ("net.py:make_model", "narrow.npz", [], "raised RuntimeError on inputs of shape"),
        ("net.py:make_model", "one.npz", [], "one class only"),
        ("net.py:make_model", "few.npz", ["--rank", "3"], "2 points, fewer than the rank r = 3"),
        ("net.py:make_model", "float.npz", [], "whole numbers"),
        ("net.py:make_model", "empty.npz", [], "are empty"),
        ("net.py:make_model", "without.npz", [], "needs an array x"),
        ("net.py:make_model", "gone.npz", [], "There is no file gone.npz"),
        ("net.py:make_model", "digitz", [], "There is no data set 'digitz'; there are digits"),
        ("net.py:make_model", "digits", [], "in neither shape"),
        ("net.py:make_model", "data.npz", ["--checkpoint", "gone.pt"], "no checkpoint gone.pt"),
        ("net.py:make_model", "data.npz", ["--checkpoint", "other.pt"], "does not fit the model"),
        ("net.py:make_model", "data.npz", ["--checkpoint", "whole.pt"], "weights only"),
        ("net.py:make_model", "data.npz", ["--compare", "gone"], "no report to compare with"),
        ("net.py:make_model", "data.npz", ["--compare", "net.py"], "no report to compare with"),
        (
            "net.py:make_model",
            "data.npz",
            ["--rank", "0"],
            "rank must be a whole number, 1 or more",
        ),
    ],
)
def test_a_bad_request_is_one_sentence_and_writes_nothing(
    asked: Path,
    capsys: pytest.CaptureFixture[str],
    model: str,
    data: str,
    more: list[str],
    sentence: str,
) -> None:
    before = sorted(p.name for p in asked.iterdir() if p.name != "__pycache__")
    assert cli.main(["report", model, "--data", data, "-o", "out", *more]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1, said
    assert sorted(p.name for p in asked.iterdir() if p.name != "__pycache__") == before
