"""What the paper's figures and table on noise report, line by line beside what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.embedded.noisy_linear import LEVELS, Fitted
from lowdim.embedded.noisy_relu import TABLE_1, Study
from lowdim.evidence.rates import exponent
from lowdim.evidence.tables import Table
from lowdim.evidence.values import Estimate, Share, decode
from lowdim.evidence.verdicts import compared

__all__ = [
    "as_table", "decide", "equation_4_3", "exponents", "figure_2_6", "figure_3_3", "known", "near",
    "shown", "table_1",
]  # fmt: skip

Line = dict[str, Any]


def near(found: Estimate, said: float, tolerance: float) -> bool | None:
    """Whether a slope is as reported; None where its error bar spans both answers.

    A slope whose two standard errors exceed the tolerance can disagree, if all of its bar lies
    outside, but not agree.

    Examples
    --------
    >>> near(Estimate(-0.9, 0.1), -1.0, 0.15), near(Estimate(-0.9, 0.4), -1.0, 0.15)
    (True, None)
    >>> near(Estimate(-1.9, 0.4), -1.0, 0.15)
    False
    """
    off = abs(found.value - said)
    if found.error <= tolerance:
        return bool(off <= tolerance)
    return False if off - found.error > tolerance else None


def _below(found: Estimate, most: float) -> bool | None:
    """Whether an estimate is below a number; None if there was nothing to measure."""
    return found.value < most if math.isfinite(found.error) else None


def _all(answers: Sequence[bool | None]) -> bool | None:
    """No if one is no, yes if all are yes, else undecided."""
    if False in answers:
        return False
    return True if answers and None not in answers else None


def _ratio(metric: np.ndarray, top: int, bottom: int) -> tuple[float | None, bool | None]:
    """The mean metric (k, nets) in one row over that in another, and whether it is below 1.

    Over the networks that did not diverge in either; (None, None) without one.
    """
    rows = metric[[top, bottom]]
    rows = rows[:, np.isfinite(rows).all(0)]
    if not rows.size or not rows[1].any():
        return None, None
    ratio = float(rows[0].mean() / rows[1].mean())
    return ratio, ratio < 1


def decide(lines: Sequence[Mapping[str, Any]]) -> str:
    """The verdict on a figure: of the lines that decide all agree, some, or not even half.

    Examples
    --------
    >>> decide([{"agrees": True}, {"agrees": None}]), decide([{"agrees": False}])
    ('reproduced', 'not-reproduced')
    """
    decided = [line["agrees"] for line in lines if line["agrees"] is not None]
    if decided and all(decided):
        return "reproduced"
    return "not-reproduced" if 2 * sum(decided) < len(decided) else "partly"


def figure_2_6(runs: Mapping[tuple[int, int], Fitted], reading: str) -> list[Line]:
    """Slopes of ‖w_y‖ in σ and in N for ``runs`` (L, N): within 0.15, or undecided.

    Examples
    --------
    >>> from lowdim.embedded.noisy_linear import fitted
    >>> how = {"nets": 2, "epochs": 1, "rate": 0.01, "seed": 0}
    >>> lines = figure_2_6({(2, N): fitted(2, N, **how) for N in (60, 120)}, "one epoch")
    >>> [line["reported"] for line in lines]
    [-1.0, -1.0, -0.5]
    """
    lines = []
    depths, sizes = (sorted({key[k] for key in runs}) for k in (0, 1))
    for L in depths:
        norms = runs[L, sizes[-1]].sizes
        for name, count in (("2⁰ … 2⁻⁵", 6), ("2⁰ … 2⁻²", 3)):
            slope = exponent(LEVELS[:count], norms[:count].T)
            close = near(slope, -1.0, 0.15)
            lines.append(compared(f"slope in σ, {name}, L = {L}", -1.0, slope, reading, close))
        slope = exponent(sizes, np.stack([runs[L, N].sizes[0] for N in sizes], 1))
        close = near(slope, -0.5, 0.15)
        lines.append(compared(f"slope in N at σ = 1, L = {L}", -0.5, slope, reading, close))
    return lines


def figure_3_3(seen: Study) -> list[Line]:
    """For each depth: slope -2 in σ (within 0.3), less S by noise, by data, β < 1.

    Examples
    --------
    >>> from lowdim.embedded.noisy_relu import Protocol, study
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> len(figure_3_3(study(how, [2], [20, 40], [1, 2], sigma=0.25, points=30)))
    4
    """
    lines = []
    ends = f"N = {seen.sizes[-1]} over {seen.sizes[0]}"
    for L, slope in zip(seen.depths, seen.by_sigma(), strict=True):
        low, lower = _ratio(seen.normal[L].metric, 0, 5)
        less, fewer = _ratio(seen.series[L]["epochs"], -1, 0)
        beta = seen.ways[L]["epochs"]
        close, small = near(slope, -2.0, 0.3), _below(beta, 1.0)
        lines += [
            compared(f"slope in σ, L = {L}", -2, slope, "σ = 2⁰ … 2⁻⁵", close),
            compared(f"noise lowers S, L = {L}", "yes", low, "σ = 1 over σ = 1/32", lower),
            compared(f"data lower S, L = {L}", "yes", less, ends, fewer),
            compared(f"β below 1, L = {L}", "yes", beta, "epochs fixed", small),
        ]
    return lines


def equation_4_3(seen: Study) -> list[Line]:
    """For each depth: slope -2 in σ; β = 0 where the data do not change, β as it is at fixed steps.

    Within 0.3, within 0.05 (or undecided, both), within two errors; undecided as well where there
    was nothing to measure.

    Examples
    --------
    >>> from lowdim.embedded.noisy_relu import Protocol, study
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> len(equation_4_3(study(how, [2], [20, 40], [1, 2], sigma=0.25, points=30)))
    3
    """
    lines = []
    length, said = "only the length of training varies", "as with epochs fixed"
    for L, slope in zip(seen.depths, seen.by_sigma(), strict=True):
        epochs, steps, only = seen.ways[L].values()
        close = near(slope, -2.0, 0.3)
        none: bool | None = None
        same: bool | None = None
        if math.isfinite(only.error):
            none = near(only, 0.0, 0.05)
        if math.isfinite(steps.error) and math.isfinite(epochs.error):
            same = abs(steps.value - epochs.value) <= math.hypot(steps.error, epochs.error)
        lines += [
            compared(f"exponent of σ, L = {L}", -2, slope, "epochs fixed", close),
            compared(f"β, L = {L}, the data fixed", 0, only, length, none),
            compared(f"β, L = {L}, steps fixed", said, steps, f"epochs fixed: {epochs:.2f}", same),
        ]
    return lines


def table_1(seen: Study, reading: str) -> list[Line]:
    """Every cell (within 0.1, or undecided); β < 1/2 within errors, rising in L, no trend in d_y.

    Where all networks died or diverged nothing is decided.

    Examples
    --------
    >>> from lowdim.embedded.noisy_relu import Protocol, study
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> len(table_1(study(how, [2], [20, 40], [1, 2], sigma=0.25, points=30), "tiny"))
    5
    """
    lines = []
    for (L, dy), beta in seen.cells.items():
        said = TABLE_1[L][dy - 1]
        close = near(beta, said, 0.1)
        lines.append(compared(f"β, L = {L}, d_y = {dy}", said, beta, reading, close))
    found = [beta for beta in seen.cells.values() if math.isfinite(beta.error)]
    most = max(found, key=float, default=None)
    below = all(beta.value - beta.error < 0.5 for beta in found) if found else None
    means = seen.means
    known = len(means) > 1 and all(math.isfinite(mean.error) for mean in means)
    rising = bool((np.diff([mean.value for mean in means]) > 0).all()) if known else None
    tilts = [tilt for tilt in seen.trends if math.isfinite(tilt.error)]
    flat = _all([near(tilt, 0.0, 0.05) for tilt in tilts])
    return [
        *lines,
        compared("β below 1/2", "all", most, "the largest", below),
        compared("β rises with depth", "yes", means, "mean over d_y", rising),
        compared("trend in d_y", "none", seen.trends, "slope of β in log d_y", flat),
    ]


def shown(beta: Estimate, metric: np.ndarray) -> str:
    """A cell: the exponent of a ``metric`` (k, nets), and how many of the networks diverged.

    Examples
    --------
    >>> shown(Estimate(0.4, 0.02), np.array([[1.0, 1.0], [0.5, np.nan]]))
    '0.40 ± 0.02, 1 of 2 diverged'
    >>> shown(Estimate(0.0, np.inf), np.full((2, 3), np.nan))
    '–, 3 of 3 diverged'
    """
    lost = Share(int(np.isnan(metric).any(0).sum()), metric.shape[-1])
    said = f"{beta:.2f}" if math.isfinite(beta.error) else "–"
    return f"{said}, {lost} diverged" if lost.count else said


def known(found: Sequence[Estimate]) -> list[Estimate | None]:
    """Estimates, with None for one whose error is infinite: there was nothing to measure.

    Examples
    --------
    >>> known([Estimate(0.4, 0.02), Estimate(0.0, math.inf)])
    [Estimate(value=0.4, error=0.02), None]
    """
    return [each if math.isfinite(each.error) else None for each in found]


def as_table(lines: Sequence[Mapping[str, Any]]) -> Table:
    """Lines with an estimate each, as a table.

    Examples
    --------
    >>> from lowdim.evidence.values import Estimate
    >>> as_table([compared("slope", -1.0, Estimate(-1.02, 0.1), "here", True)])
    quantity  reported  measured (± 2 s.e.)  agrees
    slope         -1.0  -1.02 ± 0.10         yes
    """
    rows = [
        (line["quantity"], line["reported"], f"{decode(line['measured']):.2f}", line["agrees"])
        for line in lines
    ]
    return Table(("quantity", "reported", "measured (± 2 s.e.)", "agrees"), rows)


def exponents(seen: Study) -> Table:
    """β as printed and as measured by codimension, and with something else fixed in the middle one.

    Examples
    --------
    >>> from lowdim.embedded.noisy_relu import Protocol, study
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> table = exponents(study(how, [2], [20, 40], [1, 2], sigma=0.25, points=30))
    >>> table.header, [row[0] for row in table.rows]
    (('d_y', 'L = 2, printed', 'measured'), ['1', '2', '2, steps', '2, length only'])
    """
    cells = seen.cells
    rows = []
    for j, dy in enumerate(seen.codims):
        row = [str(dy)]
        for L, table in seen.tables.items():
            row += [f"{TABLE_1[L][dy - 1]:.2f}", shown(cells[L, dy], table.metric[:, j])]
        rows.append(row)
    for way in ("steps", "length only"):
        row = [f"{seen.middle}, {way}"]
        for L in seen.depths:
            row += ["–", shown(seen.ways[L][way], seen.series[L][way])]
        rows.append(row)
    header = ["d_y"]
    for L in seen.depths:
        header += [f"L = {L}, printed", "measured"]
    return Table(tuple(header), [tuple(row) for row in rows])
