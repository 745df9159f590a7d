"""Part IV on any layer: distances within and between classes, and the ratio ρ.

Squared distances come from sums over all points, as in :mod:`lowdim.hashing.separation` and for
classes of any sizes; plain distances come from a sample of points, at most forty of a class.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lowdim.instruments.moments import First, Second
from lowdim.instruments.numbers import Number, jackknife, missing

__all__ = ["class_numbers", "plain_ratio"]

FEW = 40  # points of a class among which plain distances are taken, as in Part IV


def _squared(second: Second, g: int | None) -> tuple[float, float, float, float]:
    """Within, between, ρ of the worst pair and ρ of means, without group ``g``."""
    parts = (second.counts, second.deviations, second.deviation_squares)
    counts, off, squares = (p.sum(0) if g is None else p.sum(0) - p[g] for p in parts)
    there = counts > 0
    counts, off, squares = counts[there], off[there], squares[there]
    if len(counts) < 2:
        return math.nan, math.nan, math.nan, math.nan
    inside = (squares / counts - (off / counts[:, None]).square().sum(1)).clamp_min(0)
    means = second.frame.means[there] + off / counts[:, None]
    table = torch.cdist(means, means, compute_mode="donot_use_mm_for_euclid_dist").square()
    table = table + inside[:, None] + inside
    outside = table[~torch.eye(len(counts), dtype=torch.bool)]
    within, between = float(inside.mean()), float(outside.mean())
    worst, mean = float(outside.amin()), float(inside.amax())
    ratio = lambda a, b: a / b if b > 0 else (math.inf if a > 0 else math.nan)  # noqa: E731
    return within, between, ratio(worst, mean), ratio(between, within)


def plain_ratio(H: Tensor, labels: Tensor) -> Number:
    """ρ of plain distances, mean over mean, over pairs of a sample (n, p) with labels (n,).

    Its range leaves out one of ten groups of points at a time.

    Examples
    --------
    >>> H = torch.tensor([[0.0], [1.0], [4.0], [5.0]], dtype=torch.float64)
    >>> plain_ratio(H, torch.tensor([0, 0, 1, 1])).value
    4.0
    """
    kept = torch.cat([(labels == k).nonzero()[:FEW, 0] for k in labels.unique()])
    H, labels = H[kept], labels[kept]
    D = torch.cdist(H, H, compute_mode="donot_use_mm_for_euclid_dist")
    member = (labels[:, None] == labels.unique()).to(torch.float64)

    def ratio(keep: Tensor) -> float:
        M = member[keep]
        sums, counts = M.mT @ D[keep][:, keep] @ M, M.sum(0)
        near = (sums.diagonal() / (counts * (counts - 1)))[counts > 1]
        different = ~torch.eye(len(counts), dtype=torch.bool)
        pairs = counts[:, None] * counts
        far = (sums / pairs)[different & (pairs > 0)]
        if not len(near) or not len(far):
            return math.nan
        # the mean of classes' means, as if all classes had as many points
        return float(far.mean() / near.mean()) if float(near.mean()) > 0 else math.inf

    everyone = torch.ones(len(H), dtype=torch.bool)
    value = ratio(everyone)
    if not math.isfinite(value):
        return missing("nothing varies within the classes, or there is one only", "labels")
    group = torch.arange(len(H)) % 10
    low, high = jackknife(value, [ratio(group != g) for g in range(10)], least=0.0)
    return Number(value, low, high, 1e-7 * value, len(H), ("labels", "a sample"))


def class_numbers(
    first: First, second: Second, *, labelled: bool, sample: tuple[Tensor, Tensor] | None
) -> dict[str, Number]:
    """Numbers of Part IV at one tap; ``sample`` has values (n, p) and labels (n,).

    Examples
    --------
    >>> from lowdim.instruments.moments import Frame, Sketch
    >>> H, rows = torch.tensor([[0.0], [2.0], [9.0], [11.0]]).double(), torch.tensor([0, 0, 1, 1])
    >>> first = First(Sketch(1, 8, seed=0))
    >>> first.add(H, rows, 2)
    >>> frame = Frame(first.spectrum()[1], first.means(), None)
    >>> second = Second(frame, 2, q_in=None, q_prev=None)
    >>> _ = second.add(H, rows, torch.arange(4) % 2, None, None)
    >>> class_numbers(first, second, labelled=True, sample=None)["rho"].value
    83.0
    """
    names = ("within", "between", "rho", "rho_mean")
    if not labelled:
        return dict.fromkeys((*names, "rho_plain"), missing("there are no labels", "labels"))
    values = _squared(second, None)
    if math.isnan(values[1]):
        one = missing("there is one class only, and ρ compares two", "labels", "two classes")
        return dict.fromkeys((*names, "rho_plain"), one)
    left = [_squared(second, g) for g in range(second.groups)]
    out: dict[str, Number] = {}
    for i, name in enumerate(names):
        low, high = jackknife(values[i], [v[i] for v in left], least=0.0)
        if math.isfinite(values[i]):
            off = abs(values[i]) * (1e-11 + 2 * first.sketch.error)
            out[name] = Number(values[i], low, high, off, first.count, ("labels",))
        else:
            out[name] = missing("nothing varies within the classes", "labels")
    short = missing("there is no sample", "labels", "a sample")
    out["rho_plain"] = short if sample is None else plain_ratio(*sample)
    return out
