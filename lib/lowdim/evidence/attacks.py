"""Attempts to break a claim ``lhs <= rhs``: random, edge and adversarial instances.

A *case* is a batch of instances: a dictionary of tensors that share a leading axis. A claim knows
how to evaluate both sides, and the *margin* by which its hypotheses hold (positive: they do), on a
case. The drivers look for instances that satisfy the hypotheses and make ``lhs / rhs`` large. The
largest ratio found is the claim's tightness; above 1 is a violation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from lowdim import checks
from lowdim.evidence.tables import Table, short
from lowdim.seeds import generator

Case = Mapping[str, Tensor]
Draw = Callable[[int, np.random.Generator], Case]
TOLERANCE = 1e-9  # a ratio up to 1 + TOLERANCE is rounding, not a violation
FLOOR = 1e-13  # where rhs is not positive, an lhs above it by up to this is rounding too


@dataclass(frozen=True)
class Claim:
    """A numbered statement of a paper: hypotheses and conclusion as code.

    ``lhs``, ``rhs`` and ``margin`` map a case to values (instances,). Where they share their work,
    ``sides`` gives all three at once. A claim that is not an inequality (a figure, a definition)
    leaves them out.
    """

    id: str
    source: str = ""
    statement: str = ""
    lhs: Callable[[Case], Tensor] | None = None
    rhs: Callable[[Case], Tensor] | None = None
    margin: Callable[[Case], Tensor] | None = None
    sides: Callable[[Case], tuple[Tensor, Tensor, Tensor]] | None = None

    def evaluate(self, case: Case) -> tuple[Tensor, Tensor, Tensor]:
        """Left side, right side and margin (instances,) on a case.

        Raises
        ------
        ValueError
            If the claim is not an inequality.

        Examples
        --------
        >>> c = Claim("demo.claim-1", "here", "0 <= 1", sides=lambda case: (0.0, 1.0, 1.0))
        >>> c.evaluate({})
        (0.0, 1.0, 1.0)
        """
        if self.sides is not None:
            return self.sides(case)
        if self.lhs is None or self.rhs is None:
            raise ValueError(f"{self.id} is not an inequality; it has no two sides to compare.")
        left = self.lhs(case)
        margin = torch.ones_like(left) if self.margin is None else self.margin(case)
        return left, self.rhs(case), margin

    def ratio(self, case: Case) -> tuple[Tensor, Tensor]:
        """``lhs / rhs`` (instances,), and where the hypotheses hold (instances,).

        Where rhs is not positive the quotient says nothing: the ratio is 0 if the inequality holds
        (0 <= 0 among them) and infinite if it does not. It is NaN where a side is.

        Examples
        --------
        >>> two = lambda case: torch.full_like(case["x"], 2.0)
        >>> c = Claim("demo.claim-1", "here", "x <= 2", lhs=lambda case: case["x"], rhs=two)
        >>> c.ratio({"x": torch.tensor([1.0, 3.0])})[0].tolist()
        [0.5, 1.5]
        """
        left, right, margin = self.evaluate(case)
        return _quotient(left, right), margin > 0


def claim(conclusion: Callable[..., tuple[Tensor, ...]]) -> Claim:
    """A claim from the function that evaluates it; a decorator.

    The function takes the tensors of a case by their names (or the whole ``case``) and returns the
    left side, the right side and, where there are hypotheses, the margin by which they hold, each
    (instances,).

    Examples
    --------
    >>> @claim
    ... def jordan(x):
    ...     return 2 * x / torch.pi, x.sin(), torch.minimum(x, torch.pi / 2 - x)
    >>> attack(jordan, random={"x": uniform(low=0.0, high=2.0)}, trials=40).violations
    0
    """
    names = list(inspect.signature(conclusion).parameters)

    def sides(case: Case) -> tuple[Tensor, Tensor, Tensor]:
        found = conclusion(case) if names == ["case"] else conclusion(*(case[n] for n in names))
        left, right, *margin = found
        return left, right, margin[0] if margin else torch.ones_like(left)

    return Claim(conclusion.__name__, sides=sides)


@dataclass(frozen=True)
class Sampler:
    """A way to draw tensors ``(count, *shape)`` from a generator; numbers scale and shift it."""

    draw: Callable[[int, np.random.Generator], Tensor]

    def __call__(self, count: int, rng: np.random.Generator) -> Tensor:
        return self.draw(count, rng)

    def __mul__(self, factor: float) -> Sampler:
        return Sampler(lambda count, rng: factor * self.draw(count, rng))

    def __add__(self, shift: float) -> Sampler:
        return Sampler(lambda count, rng: shift + self.draw(count, rng))

    def map(self, change: Callable[[Tensor], Tensor]) -> Sampler:
        """The same draws after ``change``, a function of the batch."""
        return Sampler(lambda count, rng: change(self.draw(count, rng)))

    __rmul__, __radd__ = __mul__, __add__


def normal(*shape: int) -> Sampler:
    """Independent standard normal entries, ``(count, *shape)``.

    Examples
    --------
    >>> (0.1 * normal(2, 3))(5, np.random.default_rng(0)).shape
    torch.Size([5, 2, 3])
    """
    return Sampler(lambda count, rng: torch.from_numpy(rng.standard_normal((count, *shape))))


def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Sampler:
    """Independent uniform entries between ``low`` and ``high``, ``(count, *shape)``.

    Examples
    --------
    >>> bool((uniform(4, low=1.0, high=2.0)(3, np.random.default_rng(0)) >= 1).all())
    True
    """
    return Sampler(
        lambda count, rng: torch.from_numpy(np.asarray(rng.uniform(low, high, (count, *shape))))
    )


def drawn(samplers: Mapping[str, Sampler]) -> Callable[[int, np.random.Generator], Case]:
    """One function that draws every tensor of a case, in the order of the names.

    Examples
    --------
    >>> sorted(drawn({"A": normal(2), "E": normal(2)})(3, np.random.default_rng(0)))
    ['A', 'E']
    """
    return lambda count, rng: {name: make(count, rng) for name, make in samplers.items()}


@dataclass(frozen=True)
class Row:
    """What one driver found: instances made, admitted by the hypotheses, violating; best ratio."""

    driver: str
    instances: int
    admitted: int
    violations: int
    tightness: float
    worst: dict[str, Tensor] = field(repr=False)


@dataclass(frozen=True)
class Findings:
    """What an attack found, driver by driver."""

    claim: Claim
    rows: tuple[Row, ...]

    @property
    def trials(self) -> int:
        """Instances that satisfied the hypotheses."""
        return sum(row.admitted for row in self.rows)

    @property
    def violations(self) -> int:
        """Instances that satisfied the hypotheses and broke the conclusion."""
        return sum(row.violations for row in self.rows)

    @property
    def tightness(self) -> float:
        """Largest ratio lhs/rhs over all admitted instances (0 if there were none)."""
        return max((row.tightness for row in self.rows if row.admitted), default=0.0)

    @property
    def worst(self) -> dict[str, Tensor]:
        """The instance with the largest ratio, without its leading axis."""
        return max(self.rows, key=lambda row: row.tightness if row.admitted else -1.0).worst

    def __getitem__(self, driver: str) -> Row:
        return self.row(driver)

    def row(self, driver: str) -> Row:
        """The row of one driver."""
        for row in self.rows:
            if row.driver == driver:
                return row
        listed = ", ".join(row.driver for row in self.rows)
        raise ValueError(f"no driver {driver!r} in this attack; there are: {listed}.")

    def table(self) -> Table:
        """One line per driver."""
        header = ("attack", "instances", "admitted", "violations", "largest lhs/rhs")
        rows = [
            (
                r.driver,
                r.instances,
                r.admitted,
                r.violations,
                short(r.tightness) if r.admitted else "–",
            )
            for r in self.rows
        ]
        return Table(header, rows)


def across(found: Mapping[str, Findings]) -> Table:
    """Attacks on several claims in one table: a line for each driver, a column for each claim.

    A cell has the largest lhs/rhs and how many of the admitted instances are violations.

    Examples
    --------
    >>> claim = Claim("demo.claim-2", "here", "x <= 1, if y < 1", lhs=lambda c: c["x"],
    ...     rhs=lambda c: torch.ones_like(c["x"]), margin=lambda c: 1 - c["y"])
    >>> inside = {"x": torch.tensor([0.5, 2.0]), "y": torch.zeros(2)}
    >>> named = {"one": {"inside": inside}, "other": {"outside": {**inside, "y": torch.ones(2)}}}
    >>> across({name: attack(claim, edges=edges) for name, edges in named.items()})
    largest lhs/rhs (violations/admitted)  one      other
    edge: inside                           2 (1/2)  –
    edge: outside                          –        not admitted
    """
    drivers = list(dict.fromkeys(row.driver for each in found.values() for row in each.rows))
    lines = {driver: [driver] for driver in drivers}
    for each in found.values():
        rows = {row.driver: row for row in each.rows}
        for driver, line in lines.items():
            row = rows.get(driver)
            if row is None:
                line.append("–")
            elif not row.admitted:
                line.append("not admitted")
            else:
                line.append(f"{short(row.tightness)} ({row.violations}/{row.admitted})")
    return Table(("largest lhs/rhs (violations/admitted)", *found), list(lines.values()))


@dataclass(frozen=True)
class Climb:
    """An adversarial search: free parameters ``start`` (B, ...) turned into a case by ``build``.

    ``method`` is ``"gradient"`` (Adam on log(lhs/rhs), hypotheses kept by a penalty and checked) or
    ``"simplex"`` (Nelder-Mead from the best starts; for up to some thirty parameters).
    """

    build: Callable[[dict[str, Tensor]], Case]
    start: Callable[[int, np.random.Generator], Case]
    starts: int = 16
    steps: int = 200
    rate: float = 0.05
    method: str = "gradient"


def attack(
    claim: Claim,
    *,
    random: Draw | Mapping[str, Sampler] | None = None,
    edges: Mapping[str, Case] | None = None,
    climb: Climb | bool | None = None,
    trials: int = 1000,
    seed: int = 0,
) -> Findings:
    """Attack a claim with random instances, named edge cases and an adversarial search.

    ``random`` draws a case of so many instances, or names a sampler for each of its tensors.
    ``climb=True`` climbs from such draws.

    Raises
    ------
    ValueError
        If no driver is given, or a side is undefined on an instance that the hypotheses admit.

    Examples
    --------
    >>> claim = Claim("demo.claim-1", "here", "|sin x| <= |x|",
    ...     lhs=lambda c: c["x"].sin().abs(), rhs=lambda c: c["x"].abs())
    >>> found = attack(claim, random=lambda k, g: {"x": torch.from_numpy(g.normal(size=k))},
    ...     edges={"zero": {"x": torch.zeros(1)}}, trials=50)
    >>> found.violations, found.trials
    (0, 51)
    """
    checks.whole(trials, "trials", 1)
    rng = generator(seed, 0, "attack")
    if isinstance(random, Mapping):
        random = drawn(random)
    if climb is True:
        if random is None:
            raise ValueError("climb=True starts from random instances; none are given.")
        climb = Climb(dict, random)
    rows = []
    if random is not None:
        rows.append(_score(claim, "random", random(trials, rng)))
    for name, case in (edges or {}).items():
        rows.append(_score(claim, f"edge: {name}", case))
    if climb:
        driver = _by_gradient if climb.method == "gradient" else _by_simplex
        checks.choice(climb.method, ("gradient", "simplex"), "method")
        rows.append(_score(claim, "climb", driver(claim, climb, rng)))
    if not rows:
        raise ValueError("an attack needs at least one of random, edges and climb; none was given.")
    return Findings(claim, tuple(rows))


def _quotient(left: Tensor, right: Tensor) -> Tensor:
    ratio = torch.where(
        right > 0,
        left / torch.where(right > 0, right, 1.0),
        torch.where(left > right + FLOOR, torch.inf, 0.0),
    )
    return torch.where(torch.isnan(left) | torch.isnan(right), torch.nan, ratio)


def _score(claim: Claim, name: str, case: Case) -> Row:
    with torch.no_grad():
        ratio, admitted = claim.ratio(case)
    undefined = int((torch.isnan(ratio) & admitted).sum())
    if undefined:
        raise ValueError(
            f"{claim.id}: {name} gives undefined ratios, {undefined} of {ratio.numel()}."
        )
    kept = torch.where(admitted, ratio, -torch.inf)
    at = int(kept.argmax())
    return Row(
        name,
        ratio.numel(),
        int(admitted.sum()),
        int((kept > 1 + TOLERANCE).sum()),
        float(kept[at]) if bool(admitted[at]) else 0.0,
        {key: value[at].detach().clone() for key, value in case.items()},
    )


def _by_gradient(claim: Claim, climb: Climb, rng: np.random.Generator) -> Case:
    free = {k: v.clone().requires_grad_(True) for k, v in climb.start(climb.starts, rng).items()}
    optimizer = torch.optim.Adam(free.values(), lr=climb.rate)
    best = {k: v.detach().clone() for k, v in free.items()}
    record = torch.full((climb.starts,), -torch.inf, dtype=torch.float64)
    for _ in range(climb.steps):
        case = climb.build(free)
        left, right, margin = claim.evaluate(case)
        with torch.no_grad():
            score = torch.where(margin > 0, _quotient(left, right), -torch.inf)
            better = score > record
            record = torch.where(better, score, record)
            for key, value in free.items():
                best[key][better] = value.detach()[better]
        tiny = 1e-300
        gain = left.clamp_min(tiny).log() - right.clamp_min(tiny).log() + 10 * margin.clamp(max=0)
        optimizer.zero_grad()
        (-gain.sum()).backward()
        for value in free.values():
            # A degenerate instance (equal singular values) has no gradient; leave it where it is.
            if value.grad is not None:
                value.grad.nan_to_num_(0.0, 0.0, 0.0)
        optimizer.step()
    with torch.no_grad():
        return {key: value.detach() for key, value in climb.build(best).items()}


def _by_simplex(claim: Claim, climb: Climb, rng: np.random.Generator) -> Case:
    starts = climb.start(climb.starts, rng)
    shapes = {key: value.shape[1:] for key, value in starts.items()}
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes.values()]

    def unpack(x: np.ndarray) -> dict[str, Tensor]:
        pieces = np.split(np.atleast_2d(x), np.cumsum(sizes)[:-1], axis=1)
        return {
            key: torch.from_numpy(piece.reshape(-1, *shape))
            for (key, shape), piece in zip(shapes.items(), pieces, strict=True)
        }

    def loss(x: np.ndarray) -> float:
        with torch.no_grad():
            ratio, admitted = claim.ratio(climb.build(unpack(x)))
        return -float(ratio[0]) if bool(admitted[0]) else 1.0

    points = np.concatenate([v.reshape(climb.starts, -1).numpy() for v in starts.values()], axis=1)
    order = np.argsort([loss(x) for x in points])[: max(1, climb.starts // 4)]
    options = {"maxiter": climb.steps, "adaptive": True, "xatol": 1e-10, "fatol": 1e-12}
    ends = [minimize(loss, points[i], method="Nelder-Mead", options=options).x for i in order]
    return climb.build(unpack(np.stack(ends)))
