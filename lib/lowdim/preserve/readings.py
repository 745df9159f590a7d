"""Every reading of Section 5's text: how its data, weights and loss can be meant, and what follows.

A reading is named by three words: the data (A, B, C, D, or one of these changed), the range of the
initial weights (``√m``, as printed, or ``1/√m``) and the loss (``sum``, as printed, ``sample`` for
the loss per point, or ``mean``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lowdim.data.unions import UnionOfSubspaces
from lowdim.evidence.tables import Table, short
from lowdim.evidence.values import Share
from lowdim.evidence.verdicts import compared
from lowdim.linalg import subspaces
from lowdim.nets import training
from lowdim.preserve import conditions, foils
from lowdim.preserve.learning import CLUSTERS, RANK, Fitted, Setting, top

__all__ = [
    "LONGER", "LOSSES", "Data", "Key", "Outcome", "Tried", "data", "from_columns",
    "lines", "not_normalized", "others", "outcome", "swapped", "widths", "with_noise_inside",
]  # fmt: skip

Key = tuple[str, str, str]
LOSSES = ("sum", "sample", "mean")
LONGER: Key = ("A, noise inside X*, longer", "1/√m", "sample")
_BLOCK = RANK // CLUSTERS


@dataclass(frozen=True)
class Data:
    """Clean data and noise, both (T, m, n)."""

    clean: Tensor
    noise: Tensor


def swapped(setting: Setting, *, draws: int) -> Data:
    """Reading B: a basis of variance 1/m, coefficients with orthonormal rows in each cluster.

    Examples
    --------
    >>> X = swapped(Setting(80), draws=1)
    >>> torch.linalg.matrix_rank(X.clean).tolist()
    [16]
    """
    D, share = setting.draw(draws=draws, basis="gaussian"), setting.share
    V = torch.zeros_like(D.coefficients)
    for k in range(CLUSTERS):
        rows, columns = slice(_BLOCK * k, _BLOCK * (k + 1)), slice(share * k, share * (k + 1))
        V[:, rows, columns] = torch.linalg.qr(D.coefficients[:, rows, columns].mT).Q.mT
    return Data(setting.usual * D.bases @ V, D.noise)


def with_noise_inside(X: Data | UnionOfSubspaces, setting: Setting) -> Data:
    """X* with the noise of X inside, and fresh noise of the same kind on top.

    Examples
    --------
    >>> setting = Setting(80)
    >>> X = setting.draw(draws=1)
    >>> inner = with_noise_inside(X, setting)
    >>> torch.equal(inner.clean, X.noisy), torch.equal(inner.noise, X.noise)
    (True, False)
    """
    draws = len(X.clean)
    return Data(X.clean + X.noise, setting.draw(draws=draws, first_trial=draws).noise)


def not_normalized(X: UnionOfSubspaces) -> Data:
    """Each basis orthogonalized, its columns as long as Gram and Schmidt leave them.

    Examples
    --------
    >>> X = Setting(80).draw(draws=1, basis="gaussian")
    >>> both = [subspaces.row_space(A[0]) for A in (X.clean, not_normalized(X).clean)]
    >>> round(subspaces.distance(*both).item(), 6)
    0.0
    """
    U = X.bases.clone()
    for k in range(CLUSTERS):
        columns = slice(_BLOCK * k, _BLOCK * (k + 1))
        Q, R = torch.linalg.qr(U[..., columns])
        U[..., columns] = Q * R.diagonal(dim1=-2, dim2=-1)[:, None]
    return Data(U @ X.coefficients, X.noise)


def data(setting: Setting, *, draws: int) -> dict[str, Any]:
    """The data of the readings A to D.

    Examples
    --------
    >>> list(data(Setting(80), draws=1))
    ['A', 'B', 'C', 'D']
    """
    usual = setting.usual
    return {
        "A": setting.draw(draws=draws, coefficient_scale=usual),
        "B": swapped(setting, draws=draws),
        "C": setting.draw(draws=draws),
        "D": setting.draw(draws=draws, basis="gaussian", coefficient_scale=usual),
    }


def widths(setting: Setting) -> dict[str, float | None]:
    """Ranges of the initial weights by name; None is the usual one.

    Examples
    --------
    >>> widths(Setting(100))
    {'√m': 10.0, '1/√m': None}
    """
    return {"√m": setting.size**0.5, "1/√m": None}


@dataclass(frozen=True)
class Outcome:
    """What one reading came to.

    ratio, delta, eta: σ_r(X*)/‖Z‖ and the two sides of (2), medians over draws; met: in how many of
    the draws (2) holds; lost: whether one diverged; truth, data: distances of P(Y) from P(X*) and
    from P(X) before and after training; accuracy: from P(X) and from the trained P(Y); falls,
    falls_x: whether these distances fall by more than five per cent in every draw.
    """

    ratio: float
    delta: float
    eta: float
    met: int
    draws: int
    lost: bool
    truth: Sequence[float]
    data: Sequence[float]
    accuracy: Sequence[float]
    falls: bool = False
    falls_x: bool = False

    @property
    def change(self) -> float:
        """By what share the distance from P(X*) changes."""
        return self.truth[1] / self.truth[0] - 1


def outcome(setting: Setting, X: Any, *, steps: int, **how: Any) -> Outcome:
    """Train under one reading of the text; ``how`` as in :meth:`Setting.fit`.

    Examples
    --------
    >>> setting = Setting(80, 20)
    >>> found = outcome(setting, setting.draw(draws=2), steps=2)
    >>> found.met, found.draws, found.lost
    (0, 2, False)
    """
    fitted = setting.fit(X.clean, X.noise, steps=steps, **how)
    delta, size = conditions.gaps(X.clean, X.noise, fitted.layer(), fitted.bias())
    least = delta.amin(1)
    eta = conditions.CONSTANT * size.amax(1) / conditions.epsilon(fitted.star)
    signal = subspaces.singular_values(X.clean)[:, RANK - 1]
    return Outcome(
        ratio=(signal / subspaces.spectral_norm(X.noise)).median().item(),
        delta=least.median().item(),
        eta=eta.median().item(),
        met=int((least > eta).sum()),
        draws=len(least),
        lost=bool(fitted.run.diverged.any()),
        truth=fitted.ends("truth Y"),
        data=fitted.ends("data Y"),
        accuracy=[setting.read(fitted.x), setting.read(top(fitted.outputs()[1]))],
        falls=fitted.falls("truth Y"),
        falls_x=fitted.falls("data Y"),
    )


@dataclass(frozen=True)
class Tried:
    """Readings and what each came to, in the order in which they were tried."""

    outcomes: Mapping[Key, Outcome]

    def __getitem__(self, key: Key) -> Outcome:
        return self.outcomes[key]

    def keys(self, *, falls: str = "", lost: bool = False, wide: bool = False) -> list[Key]:
        """Readings whose distance from P(X*) (``falls="truth"``) or P(X) (``"data"``) falls.

        With ``lost`` those that diverge, with ``wide`` only those whose weights begin as printed.
        """
        found = []
        for key, q in self.outcomes.items():
            fell = {"": True, "truth": q.falls and not q.lost, "data": q.falls_x and not q.lost}
            if fell[falls] and (q.lost or not lost) and (key[1] == "√m" or not wide):
                found.append(key)
        return found

    @property
    def as_printed(self) -> dict[Key, Outcome]:
        """The readings with weights and loss as printed."""
        return {key: q for key, q in self.outcomes.items() if key[1:] == ("√m", "sum")}

    @property
    def needs(self) -> str:
        """What every reading that falls takes from elsewhere than the text.

        Examples
        --------
        >>> Tried({}).needs
        'initial weights and a loss'
        """
        falling = self.keys(falls="truth")
        foreign = ["initial weights"] * all(key[1] != "√m" for key in falling)
        foreign += ["a loss"] * all(key[2] != "sum" for key in falling)
        return " and ".join(foreign) or "nothing"

    @property
    def met(self) -> Share:
        """In how many of all draws (2) holds."""
        found = self.outcomes.values()
        return Share(sum(q.met for q in found), sum(q.draws for q in found))

    def counts(self) -> dict[str, Any]:
        """How many readings fall, diverge, and do so with weights or all as printed."""
        total, wide = len(self.outcomes), len(self.keys(wide=True))
        falling, falling_x = self.keys(falls="truth"), self.keys(falls="data")
        of_a = [f"{width} {loss}" for kind, width, loss in falling_x if kind == "A"]
        literal = sum(q.lost for q in self.as_printed.values())
        return {
            "falling": Share(len(falling), total),
            "falling_names": [f"“{kind} {loss}”" for kind, _, loss in falling],
            "falling_x": Share(len(falling_x), total),
            "falling_a": of_a,
            "falling_a_count": len(of_a),
            "lost": Share(len(self.keys(lost=True)), total),
            "literal": Share(literal, len(self.as_printed)),
            "wide_lost": Share(len(self.keys(lost=True, wide=True)), wide),
            "wide_falls": len(self.keys(falls="truth", wide=True)),
            "needs": self.needs,
        }

    def table(self) -> Table:
        """One line for each reading; ∞ stands for what diverged."""
        sizes = ("σ_r/‖Z‖", "δ", "η", "δ\u00a0>\u00a0η")
        head = ("data, weights, loss", *sizes, "Y from X*", "Y from X", "acc. X → Y")
        return Table(head, [_row(key, q) for key, q in self.outcomes.items()])

    def columns(self) -> dict[str, list[Any]]:
        """The table as a record keeps it, a list for each column; see :func:`from_columns`."""
        found = list(self.outcomes.values())
        return {
            "reading_names": [" | ".join(key) for key in self.outcomes],
            **{f"reading_{name}": [getattr(q, name) for q in found] for name in _SINGLE},
            **{
                f"reading_{name}_{when}": [getattr(q, name)[at] for q in found]
                for name in _PAIRS
                for at, when in enumerate(("before", "after"))
            },
        }


_SINGLE = ("ratio", "delta", "eta", "met", "draws", "lost")
_PAIRS = ("truth", "data", "accuracy")


def from_columns(columns: Mapping[str, Sequence[Any]]) -> Tried:
    """Readings from what :meth:`Tried.columns` made of them; whether they fall is not kept.

    Where ``columns`` has no readings there are none.

    Examples
    --------
    >>> q = Outcome(0.5, 1.0, 2.0, 0, 3, False, (0.9, 0.8), (0.9, 0.7), (1.0, 0.5))
    >>> from_columns(Tried({("A", "√m", "sum"): q}).columns())["A", "√m", "sum"] == q
    True
    """
    outcomes = {}
    for at, name in enumerate(columns.get("reading_names", ())):
        one = {key: columns[f"reading_{key}"][at] for key in _SINGLE}
        for key in _PAIRS:
            one[key] = tuple(columns[f"reading_{key}_{w}"][at] for w in ("before", "after"))
        kind, width, loss = name.split(" | ")
        outcomes[kind, width, loss] = Outcome(**one)
    return Tried(outcomes)


def _row(key: Key, q: Outcome) -> tuple[str, ...]:
    def change(pair: Sequence[float]) -> str:
        """Before and after, in one cell that does not break."""
        return f"{pair[0]:.2f}\u00a0→\u00a0" + ("∞" if q.lost else f"{pair[1]:.2f}")

    sizes = (short(q.ratio, 2), short(q.delta, 1), short(q.eta, 1), f"{q.met}/{q.draws}")
    return (", ".join(key), *sizes, change(q.truth), change(q.data), change(q.accuracy))


def others(
    setting: Setting, named: Mapping[str, Any], *, steps: int, longer: int
) -> dict[Key, Outcome]:
    """What the text also admits: noise inside X*, bases not normalized, biases, batches, decoders.

    ``named`` is :func:`data`; one line of reading A is run ``longer``.

    Examples
    --------
    >>> setting = Setting(80, 20)
    >>> found = others(setting, data(setting, draws=1), steps=1, longer=1)
    >>> len(found), LONGER in found
    (16, True)
    """

    def measured(X: Any, **how: Any) -> Outcome:
        return outcome(setting, X, **{"steps": steps, **how})

    root, found = setting.size**0.5, {}
    inner, long = with_noise_inside(named["A"], setting), not_normalized(named["D"])
    for name, X in (("A, noise inside X*", inner), ("D, U_k orthogonal", long)):
        found[name, "√m", "sum"] = measured(X, loss="sum", scale=root)
        found[name, "1/√m", "sum"] = measured(X, loss="sum")
        found[name, "1/√m", "sample"] = measured(X)
    found[LONGER] = measured(inner, steps=longer)
    C, batches = named["C"], training.Shuffled(setting.share, seed=setting.seed)
    inner_c = with_noise_inside(C, setting)
    found["C, noise inside X*", "1/√m", "sample"] = measured(inner_c)
    found["C, with biases", "1/√m", "sample"] = measured(C, bias=True)
    found["C, mini-batches", "1/√m", "sample"] = measured(C, batches=batches)
    mixed = (root, setting.hidden**-0.5)  # the printed range for W alone
    for kind in "AC":
        for loss in LOSSES:
            q = measured(named[kind], loss=loss, scale=mixed)
            found[f"{kind}, decoder within 1/√h", "√m", loss] = q
    return found


def lines(runs: Mapping[str, Fitted], tried: Tried) -> list[dict[str, object]]:
    """Figure 2, centre, line by line: the runs on :data:`lowdim.preserve.foils.KINDS`, readings.

    Examples
    --------
    >>> setting = Setting(80, 20)
    >>> runs = {kind: foils.trained(setting, kind, draws=1, steps=1) for kind in foils.KINDS}
    >>> found = Tried(others(setting, data(setting, draws=1), steps=1, longer=1))
    >>> [line["agrees"] for line in lines(runs, found)][-1]
    False
    """
    main, none, _, strong, printed, noise = (runs[kind] for kind in foils.KINDS)
    from_truth, from_data = (f"distance of $P(Y)$ from $P({to})$" for to in ("X^*", "X"))
    others: tuple[Key, ...] = (LONGER, ("D, U_k orthogonal", "1/√m", "sample"))
    found = [compared(from_truth, "falls", printed.ends(), _per_point("A"), printed.falls())]
    for key in others:
        q = tried[key]
        found.append(compared(from_truth, "falls", q.truth, _per_point(key[0]), q.falls))
    found.append(compared(from_truth, "falls", main.ends(), _per_point("C"), main.falls()))
    first, last = printed.ends("data Y")
    found.append(compared(from_data, "falls", [first, last], _per_point("A"), last < 0.95 * first))
    quantity = "distance from $P(X)$, nothing but noise"
    found.append(compared(quantity, "not shown", noise.ends("data Y"), "no signal"))
    for name, run, reading in (
        ("no clusters", none, "data C, random row space"),
        ("clusters under a stronger cloud", strong, "data C plus a cloud"),
    ):
        found.append(compared(f"distance from $P(X^*)$, {name}", "not shown", run.ends(), reading))
    lost = Share(sum(q.lost for q in tried.as_printed.values()), len(tried.as_printed))
    reading = "√m, summed, all readings of data and decoder; how many diverge"
    trains, met = lost.count < lost.of, tried.met
    found.append(compared("training as printed", "trains at rate 0.005", lost, reading, trains))
    quantity = "weights satisfy the theorem"
    found.append(compared(quantity, "yes", met, "all readings", met.count > 0))
    return found


def _per_point(data: str) -> str:
    return f"data {data}, loss per point"
