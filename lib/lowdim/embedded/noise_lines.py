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
from lowdim.evidence.values import Estimate, decode
from lowdim.evidence.verdicts import compared

__all__ = [
    "as_table", "decide", "equation_4_3", "exponents", "figure_2_6", "figure_3_3", "near",
    "table_1",
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
        by_sigma, by_size = seen.normal[L].metric.mean(1), seen.series[L]["epochs"].mean(1)
        beta = seen.ways[L]["epochs"]
        low, less = by_sigma[0] / by_sigma[5], by_size[-1] / by_size[0]
        close = near(slope, -2.0, 0.3)
        lines += [
            compared(f"slope in σ, L = {L}", -2, slope, "σ = 2⁰ … 2⁻⁵", close),
            compared(f"noise lowers S, L = {L}", "yes", low, "σ = 1 over σ = 1/32", low < 1),
            compared(f"data lower S, L = {L}", "yes", less, ends, less < 1),
            compared(f"β below 1, L = {L}", "yes", beta, "epochs fixed", beta.value < 1),
        ]
    return lines


def equation_4_3(seen: Study) -> list[Line]:
    """For each depth: slope -2 in σ; β = 0 where the data do not change, β as it is at fixed steps.

    Within 0.3 (or undecided), within 0.05 or two errors, within two errors.

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
        none = abs(only.value) <= max(only.error, 0.05)
        same = abs(steps.value - epochs.value) <= math.hypot(steps.error, epochs.error)
        lines += [
            compared(f"exponent of σ, L = {L}", -2, slope, "epochs fixed", close),
            compared(f"β, L = {L}, the data fixed", 0, only, length, none),
            compared(f"β, L = {L}, steps fixed", said, steps, f"epochs fixed: {epochs:.2f}", same),
        ]
    return lines


def table_1(seen: Study, reading: str) -> list[Line]:
    """Every cell (within 0.1, or undecided); β < 1/2 within errors, rising in L, no trend in d_y.

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
    most = max(seen.cells.values(), key=float)
    below = all(beta.value - beta.error < 0.5 for beta in seen.cells.values())
    deeper = np.diff([mean.value for mean in seen.means])
    rising = bool((deeper > 0).all()) if deeper.size else None
    still = all(abs(tilt.value) <= max(tilt.error, 0.05) for tilt in seen.trends)
    flat = still if len(set(seen.codims)) > 1 else None
    return [
        *lines,
        compared("β below 1/2", "all", most, "the largest", below),
        compared("β rises with depth", "yes", seen.means, "mean over d_y", rising),
        compared("trend in d_y", "none", seen.trends, "slope of β in log d_y", flat),
    ]


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
    >>> exponents(study(how, [2], [20, 40], [1, 2], sigma=0.25, points=30)).header
    ('L', 'd_y = 1', 'd_y = 2', 'steps, d_y = 2', 'length only, d_y = 2')
    """
    rows: list[tuple[str, ...]] = []
    for L in seen.depths:
        printed = [f"{TABLE_1[L][dy - 1]:.2f}" for dy in seen.codims]
        rows.append((f"{L}, printed", *printed, "–", "–"))
        _, *others = seen.ways[L].values()
        found = [*(seen.cells[L, dy] for dy in seen.codims), *others]
        rows.append((f"{L}, measured", *(f"{beta:.2f}" for beta in found)))
    fixed = [f"{way}, d_y = {seen.middle}" for way in ("steps", "length only")]
    return Table(("L", *(f"d_y = {dy}" for dy in seen.codims), *fixed), rows)
