"""Moving figures: their first frames are right, complete, and say what they show."""

from __future__ import annotations

import json
import math
import re
import shlex
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from lowdim.bridge import noisy
from lowdim.embedded import flows
from lowdim.evidence.vocabulary import PARTS
from lowdim.hashing import oneshot
from lowdim.publish import chapters
from lowdim.publish.site import moving
from lowdim.publish.site.moving_figures import FIGURES, MOMENTS, POINTS, tangent
from lowdim.publish.site.moving_flow import FLOW, LEVELS, SWARM, conserved, family
from lowdim.publish.site.moving_frames import Figure, Frame
from lowdim.publish.site.moving_noise import noise

ROOT = chapters.find_root()
WORDS = moving.words(ROOT)
STARTS = [(0.25, 0.35), (2.0, 1.1), (-0.7, 0.9)]


@pytest.mark.parametrize("depth", [1, 2, 5, 12])
@pytest.mark.parametrize("start", STARTS)
def test_the_limit_is_the_closed_form(start: tuple[float, float], depth: int) -> None:
    frame = conserved({"x": start[0], "y": start[1], "L": depth, "u": 1.0})
    limit = float(flows.normal_limit(start[0] ** 2, start[1] ** 2, 1.0, depth)) ** 0.5
    assert frame.values["limit"] == f"{limit:.2f}"
    vector = flows.normal_invariant(np.array(start), 1, depth)
    assert frame.values["kept"] == f"{float(vector[0]):.2f}"


def test_the_line_is_the_orbit() -> None:
    start, depth = (-0.7, 0.9), 3
    drawn = conserved({"x": start[0], "y": start[1], "L": depth, "u": 0.5}).parts["line"]["d"]
    line = np.array([list(map(float, pair.split())) for pair in drawn[1:].split("L")])
    orbit = flows.orbits(
        np.diag([1.0, 0.0])[None], [[1.0, 0.0]], depth, [start], np.linspace(0, 20, 60)
    )
    for point in orbit[:, 0]:
        ends = line[:-1], line[1:]
        at, along = np.array(FLOW.at(*point)), ends[1] - ends[0]
        share = ((at - ends[0]) * along).sum(1) / (along**2).sum(1).clip(1e-12)
        nearest = ends[0] + share.clip(0, 1)[:, None] * along
        assert np.linalg.norm(nearest - at, axis=1).min() < 0.5  # of a unit of the drawing


@pytest.mark.parametrize("depth", [1, 3, 12])
def test_points_of_the_family_keep_what_their_lines_keep(depth: int) -> None:
    left, top, right, bottom = FLOW.box
    for along in (0.0, 0.5, 1.0):
        parts = family(depth, along)
        for k, level in enumerate(LEVELS):
            drawn = re.findall(r"M([-\d.]+) ([-\d.]+)a", parts[f"swarm{k}"]["d"])
            assert len(drawn) == len(SWARM[k % len(SWARM)])
            kept = float(flows.normal_invariant([1.0, level], 1, depth)[0])
            for u, v in drawn:
                x = FLOW.x[0] + (float(u) + 2.6 - left) / (right - left) * (FLOW.x[1] - FLOW.x[0])
                y = FLOW.y[0] + (bottom - float(v)) / (bottom - top) * (FLOW.y[1] - FLOW.y[0])
                if math.hypot(x, y) > 0.3:  # a digit of the drawing is much near the origin
                    here = float(flows.normal_invariant([x, y], 1, depth)[0])
                    assert here == pytest.approx(kept, abs=0.02), (along, level)
                if along == 1.0:
                    assert (x, y) == pytest.approx((1.0, level), abs=0.01)


@pytest.mark.parametrize(("q", "c"), [(0.3, 0.0), (0.55, 0.6), (0.95, 1.0)])
def test_the_angle_is_that_of_the_points(q: float, c: float) -> None:
    a, o = (np.array(POINTS[name]) for name in "ao")
    Y = np.stack([a, q * (c * a + math.sqrt(1 - c * c) * o)], 1)
    seen = np.linalg.svd(Y)[2][0]
    angle = math.degrees(math.atan2(abs(seen[1]), abs(seen[0])))
    values = tangent({"q": q, "c": c}).values
    assert abs(float(values["angle"][:-1]) - angle) < 0.06
    assert angle <= math.degrees(math.atan(q)) + 1e-3


@pytest.mark.parametrize("name", FIGURES)
def test_a_first_frame_is_complete(name: str) -> None:
    figure = FIGURES[name]
    frame = figure.frame(figure.start)
    before, after = moving.shell(name, figure, frame, WORDS[name])
    svg = re.search(r"<svg.*</svg>", before, re.S)
    assert svg is not None
    drawn = ElementTree.fromstring(svg[0])
    parts = [e.get("data-part") for e in drawn.iter() if e.get("data-part")]
    assert sorted(parts) == sorted(frame.parts)
    assert len(before) + len(after) < 200_000
    data = re.search(r"<script type=\"application/json\">(.*)</script>", after, re.S)
    assert data is not None and json.loads(data[1])["state"] == figure.start
    assert set(WORDS[name]["controls"]) <= set(figure.settings)
    assert set(WORDS[name]["values"]) <= set(frame.values)
    assert before.count("<input") == len(WORDS[name]["controls"])


@pytest.mark.parametrize("name", FIGURES)
def test_every_corner_of_the_settings_can_be_drawn_and_run(name: str) -> None:
    commands = set()
    for frame in _corners(FIGURES[name]):
        text = json.dumps(frame.parts) + json.dumps(frame.values)
        assert not re.search(r"nan|inf", text, re.I), (frame.values, text[:200])
        assert '"' not in frame.call  # it stands between such signs
        commands.add(frame.command)
    for command in map(shlex.split, sorted(commands)):
        assert command[:2] == ["lowdim", "run"]
        assert command[2] == WORDS[name]["chapter"]
        given = dict(pair.split("=", 1) for pair in command[4::2])
        chapters.chosen_values(chapters.load(command[2], root=ROOT), given)


def _corners(figure: Figure) -> list[Frame]:
    ends = [sorted({s.low, s.start, s.high}) for s in figure.settings.values()]
    named = (dict(zip(figure.settings, corner, strict=True)) for corner in product(*ends))
    return [figure.frame(settings) for settings in named]


def _said(frame: Frame) -> list[float]:
    """What the library prints for a frame: its line of Python, run."""
    called: list[float] = []

    def heard(*printed: object) -> None:
        called.extend(float(v) for one in printed for v in np.asarray(one, float).ravel())

    exec(frame.call, {"print": heard})
    return called


def _shown(frame: Frame, key: str) -> float:
    number = re.match(r"[-\d.e]+", frame.values[key])
    assert number is not None
    return float(number[0]) / (100 if "%" in frame.values[key] else 1)


# For each figure what its line of Python prints, from the values that the figure shows.
PRINTED = {
    "conserved": lambda f, v: [(_shown(f, "limit"), v[0], 0.006)],
    "wait": lambda f, v: [(_shown(f, "time"), v[0], 0.02 * v[0])],
    "threshold": lambda f, v: [
        (_shown(f, "hit"), v[0], 0.006), (_shown(f, "best"), v[1], 0.006 * v[1]),
        (_shown(f, "both"), v[2], 0.006),
    ],
    "noise": lambda f, v: [(_shown(f, "left"), v[0], 0.006 * v[0])],
    "tangent": lambda f, v: [
        (_shown(f, "angle"), math.degrees(math.atan2(abs(v[1]), abs(v[0]))), 0.1)
    ],
    "shrinkage": lambda f, v: [
        (_shown(f, "rank"), sum(t > 0 for t in v), 0), (len(MOMENTS), len(v), 0),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_the_library_prints_what_the_figure_shows(name: str) -> None:
    for frame in _corners(FIGURES[name]):
        if name == "tangent" and frame.values["bound"] == "none" and frame.values["c"] == "0.00":
            continue  # beyond q = 1 without a lean the direction jumps by a right angle
        for shown, printed, within in PRINTED[name](frame, _said(frame)):
            assert abs(shown - printed) <= within + 1e-9, (frame.values, frame.call)


def test_a_figure_says_which_run_it_shows() -> None:
    class Found:
        trials, violations = 2500, 1

    said = moving.origin("embedded/theorem_2_4", Found(), 3)  # type: ignore[arg-type]  # two fields
    assert "{doc}`/notebooks/embedded/theorem_2_4`" in said
    assert "seed 3" in said and "2,500 trials" in said and said.endswith("1 violation.")


@pytest.mark.parametrize("rho", [9.0, 60.0, 150.0])
def test_the_promise_ends_where_the_bound_is_one(rho: float) -> None:
    end = (math.sqrt(rho - 2) - math.sqrt(2)) / 2
    assert oneshot.bound(noisy.effective(rho, end)) == pytest.approx(1.0)
    before, after = (noise({"rho": rho, "tau": end + step}) for step in (-0.01, 0.01))
    assert before.values["both"].endswith("%") and after.values["both"] == "none"
    calm = noise({"rho": rho, "tau": 0.0})
    assert _shown(calm, "both") == pytest.approx(oneshot.bound(rho), abs=0.006)
    assert _shown(calm, "left") == rho


def test_every_part_has_one() -> None:
    pages = {part: (ROOT / "book" / f"{part}.md").read_text(encoding="utf-8") for part in PARTS}
    for part, text in {"index": (ROOT / "book" / "index.md").read_text(), **pages}.items():
        (name,) = re.findall(r"^```\{moving\} (\w+)$", text, re.M)
        assert part in ("index", WORDS[name]["chapter"].partition("/")[0])


def test_every_figure_has_words_and_a_claim_of_its_chapter() -> None:
    assert set(WORDS) == set(FIGURES)
    for said in WORDS.values():
        source = (ROOT / "notebooks" / f"{said['chapter']}.md").read_text(encoding="utf-8")
        local = said["claim"].partition(".")[2]
        assert f":label: {said['claim']}\n" in source or f"{{claim}} {local}\n" in source
