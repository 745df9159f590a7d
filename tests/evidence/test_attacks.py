"""Attacks find what is planted, respect hypotheses, repeat themselves, and refuse the undefined."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.evidence.attacks import Claim, Climb, attack

NARROW = 1e-4


def points(k: int, rng: np.random.Generator) -> dict[str, torch.Tensor]:
    """Points of the plane within the unit square about the origin."""
    return {"x": torch.from_numpy(rng.uniform(-1, 1, (k, 2)))}


def hidden_peak() -> Claim:
    """lhs <= 1 fails only within 0.02 of one point, which uniform draws all but never meet."""
    centre = torch.tensor([0.3, -0.7], dtype=torch.float64)

    def left(case):
        squared = (case["x"] - centre).square().sum(-1)
        return 1 + NARROW - 0.25 * squared

    return Claim(
        "demo.claim-1", "here", "x <= 1", lhs=left, rhs=lambda case: torch.ones(len(case["x"]))
    )


def climb(method: str = "gradient", **options) -> Climb:
    return Climb(build=lambda free: free, start=points, method=method, **options)


def bound(left, right, margin=None) -> Claim:
    return Claim("demo.claim-2", "here", "left <= right", lhs=left, rhs=right, margin=margin)


def test_random_finds_a_claim_that_is_often_false():
    claim = bound(lambda c: c["x"].norm(dim=-1), lambda c: torch.ones(len(c["x"])).double())
    found = attack(claim, random=points, trials=400)
    share = found.violations / found.trials
    assert share == pytest.approx(1 - np.pi / 4, abs=0.08)
    assert 1 < found.tightness <= 2**0.5
    assert found.worst["x"].norm().item() == pytest.approx(found.tightness)


def test_an_edge_finds_what_random_misses():
    edges = {
        "origin": {"x": torch.zeros(1, 2).double()},
        "the peak": {"x": torch.tensor([[0.3, -0.7], [1.0, 1.0]]).double()},
    }
    found = attack(hidden_peak(), random=points, edges=edges, trials=300)
    assert found.row("random").violations == 0
    assert found.row("edge: origin").violations == 0
    assert found.row("edge: the peak").violations == 1
    assert found.violations == 1
    assert found.trials == 303
    assert found.worst["x"].tolist() == pytest.approx([0.3, -0.7], rel=1e-6)


@pytest.mark.parametrize("method", ["gradient", "simplex"])
def test_a_climb_finds_what_random_misses(method):
    found = attack(hidden_peak(), random=points, climb=climb(method, steps=300), trials=300)
    assert found.row("random").violations == 0
    assert found.row("climb").violations >= 1
    assert found.tightness == pytest.approx(1 + NARROW, rel=1e-6)
    assert found.worst["x"].tolist() == pytest.approx([0.3, -0.7], abs=1e-2)


@pytest.mark.parametrize("method", ["gradient", "simplex"])
def test_a_sharp_claim_is_climbed_to_its_edge_and_not_beyond(method):
    # Cauchy and Schwarz: equality exactly for parallel vectors
    claim = bound(
        lambda c: (c["x"] * c["y"]).sum(-1).abs(),
        lambda c: c["x"].norm(dim=-1) * c["y"].norm(dim=-1),
    )

    def start(k, rng):
        return {name: torch.from_numpy(rng.normal(size=(k, 3))) for name in "xy"}

    search = Climb(build=lambda free: free, start=start, method=method, steps=600)
    found = attack(claim, random=start, climb=search, trials=50)
    assert found.violations == 0
    assert found.row("random").tightness < found.row("climb").tightness
    assert 1 - 1e-6 < found.tightness <= 1 + 1e-9


@pytest.mark.parametrize("method", ["gradient", "simplex"])
def test_a_climb_stops_at_the_hypotheses(method):
    # |x| <= 3 |x0| is false near x0 = 0, but the claim is made for x0 > 1/2 only
    inside = torch.tensor(0.5).double()
    claim = bound(
        lambda c: c["x"].clamp(-1, 1).norm(dim=-1),
        lambda c: 3 * c["x"][:, 0].abs(),
        lambda c: c["x"][:, 0] - inside,
    )
    found = attack(claim, random=points, climb=climb(method, steps=300), trials=400)
    row = found.row("random")
    assert 50 < row.admitted < 150
    assert row.instances == 400
    assert found.violations == 0
    limit = (0.25 + 1) ** 0.5 / 1.5
    assert 0.95 * limit < found.row("climb").tightness <= limit
    assert found.worst["x"][0] > 0.5


def test_a_gradient_climb_finds_its_way_into_the_hypotheses():
    # every start is outside, where the ratio itself pulls further away
    def start(k, rng):
        return {"x": torch.from_numpy(rng.uniform(0.2, 0.4, (k, 2)))}

    claim = bound(
        lambda c: c["x"].norm(dim=-1),
        lambda c: 3 * c["x"][:, 0].abs(),
        lambda c: c["x"][:, 0] - 0.5,
    )
    found = attack(claim, climb=Climb(build=lambda free: free, start=start, steps=100))
    assert found.trials == 16
    assert found.worst["x"][0] > 0.5


def test_instances_outside_the_hypotheses_do_not_count():
    claim = bound(
        lambda c: torch.full_like(c["x"][:, 0], 9.0),
        lambda c: torch.ones_like(c["x"][:, 0]),
        lambda c: c["x"][:, 0] - 5,
    )
    found = attack(claim, random=points, climb=climb(steps=3), trials=20)
    assert (found.trials, found.violations, found.tightness) == (0, 0, 0.0)
    assert str(found.table()).splitlines()[1].split()[-1] == "–"


def test_the_same_seed_finds_the_same_and_another_does_not():
    def run(seed):
        return attack(
            hidden_peak(), random=points, climb=climb("simplex", steps=20), trials=30, seed=seed
        )

    one, two, other, negative = run(3), run(3), run(4), run(-3)
    for left, right in zip(one.rows, two.rows, strict=True):
        assert left.tightness == right.tightness
        assert torch.equal(left.worst["x"], right.worst["x"])
    for different in (other, negative):
        assert not torch.equal(one.row("random").worst["x"], different.row("random").worst["x"])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1.0, 2.0, 0.5),
        (3.0, 2.0, 1.5),
        (0.0, 0.0, 0.0),
        (1e-14, 0.0, 0.0),
        (1e-3, 0.0, torch.inf),
        (0.0, -1.0, torch.inf),  # 0 <= -1 is a violation, not a zero ratio
        (-1.0, -2.0, torch.inf),
        (-2.0, -1.0, 0.0),
        (1.0, torch.inf, 0.0),
    ],
)
def test_ratios(left, right, expected):
    claim = bound(lambda c: c["left"], lambda c: c["right"])
    case = {
        "left": torch.tensor([left], dtype=torch.float64),
        "right": torch.tensor([right], dtype=torch.float64),
    }
    assert claim.ratio(case)[0].item() == expected
    assert attack(claim, edges={"it": case}).violations == int(expected > 1)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("other", [1.0, 0.0, -1.0])
def test_undefined_ratios_are_refused_where_the_hypotheses_hold(side, other):
    claim = bound(lambda c: c["left"], lambda c: c["right"], lambda c: c["margin"])
    case = {name: torch.tensor([1.0, other]) for name in ("left", "right")}
    case["left"][0] = 0.5
    case[side] = torch.tensor([case[side][0].item(), torch.nan])
    case["margin"] = torch.ones(2)
    with pytest.raises(ValueError, match=r"demo.claim-2: edge: bad gives undefined ratios, 1 of 2"):
        attack(claim, edges={"bad": case})
    case["margin"] = torch.tensor([1.0, -1.0])
    assert attack(claim, edges={"outside": case}).trials == 1


def test_a_gradient_climb_sees_a_right_side_that_turns_negative():
    claim = bound(lambda c: c["x"].norm(dim=-1), lambda c: 1.5 - c["x"].square().sum(-1))
    found = attack(claim, climb=climb(rate=0.1, steps=60))
    assert found.tightness == float("inf")
    assert found.violations > 0


def test_a_degenerate_gradient_leaves_an_instance_where_it_is():
    # the norm has no gradient at the origin; the other start must climb all the same
    def start(k, rng):
        return {"x": torch.tensor([[0.0, 0.0], [0.1, 0.1]]).double()}

    claim = bound(
        lambda c: c["x"].square().sum(-1).sqrt().clamp(max=2), lambda c: 4 + 0 * c["x"][:, 0]
    )
    search = Climb(build=lambda free: free, start=start, starts=2, steps=200)
    assert attack(claim, climb=search).tightness == pytest.approx(0.5)


def test_a_parameter_without_a_gradient_does_not_stop_the_others():
    def start(k, rng):
        return {"a": torch.zeros(k, 2).double(), "b": torch.full((k,), 0.1).double()}

    claim = bound(
        lambda c: c["a"].square().sum(-1).sqrt() + c["b"].clamp(max=2), lambda c: 4 + 0 * c["b"]
    )
    search = Climb(build=lambda free: free, start=start, starts=2, steps=200)
    assert attack(claim, climb=search).tightness == pytest.approx(0.5)


def test_refusals_name_the_values():
    claim = hidden_peak()
    with pytest.raises(ValueError, match="random, edges and climb"):
        attack(claim)
    with pytest.raises(ValueError, match="trials must be a whole number, 1 or more; you gave 0"):
        attack(claim, random=points, trials=0)
    with pytest.raises(ValueError, match="'gradient', 'simplex'; you gave 'annealing'"):
        attack(claim, climb=climb("annealing"))
    with pytest.raises(ValueError, match="no driver 'climb' in this attack; there are: random"):
        attack(claim, random=points, trials=3).row("climb")
    figure = Claim("demo.figure-1", "here", "a picture")
    with pytest.raises(ValueError, match=r"demo.figure-1 is not an inequality"):
        attack(figure, random=points, trials=3)


def test_the_table_has_a_line_for_each_driver():
    found = attack(hidden_peak(), random=points, climb=climb(steps=5), trials=10)
    lines = str(found.table()).splitlines()
    assert [line.split()[0] for line in lines] == ["attack", "random", "climb"]
    assert lines[1].split()[1:4] == ["10", "10", "0"]
    assert lines[2].split()[1:3] == ["16", "16"]
