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

__all__ = ["class_numbers", "plain_ratio", "squared_distances"]

FEW = 40  # points of a class among which plain distances are taken, as in Part IV
NEAR = 1e-4  # squared distances below this share of the squares are taken without cancellation


def squared_distances(A: Tensor) -> Tensor:
    """Squared distances (n, n) of the rows of A (n, p), those of close rows by differences.

    Examples
    --------
    >>> A = torch.tensor([[1e9], [1e9 + 1], [0.0]], dtype=torch.float64)
    >>> round(squared_distances(A)[0, 1].item(), 6)
    1.0
    """
    A = A - A.mean(0)
    gram = A @ A.mT
    squares = gram.diagonal()
    sizes = squares[:, None] + squares
    found = sizes - 2 * gram
    i, j = (found < NEAR * sizes).triu(1).nonzero().unbind(1)
    for at in torch.arange(len(i)).split(1 << 14):
        a, b = i[at], j[at]
        found[a, b] = found[b, a] = (A[a] - A[b]).square().sum(1)
    return found.fill_diagonal_(0)


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
    table = squared_distances(means) + inside[:, None] + inside
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
    names, index = labels.unique(return_inverse=True)
    K, groups = len(names), 10
    cell = torch.arange(len(H)) % groups * K + index
    member = torch.nn.functional.one_hot(cell, groups * K).to(torch.float64)
    sums = (member.mT @ squared_distances(H).sqrt() @ member).view(groups, K, groups, K)
    counts = member.sum(0).view(groups, K)
    # all groups, and all but one
    kept = torch.cat([torch.ones(1, groups), 1 - torch.eye(groups)]).to(torch.float64)
    values = [_mean_ratio(*parts) for parts in zip(
        torch.einsum("ta,akbl,tb->tkl", kept, sums, kept), kept @ counts, strict=True,
    )]  # fmt: skip
    value, without = values[0], values[1:]
    if not math.isfinite(value):
        return missing("nothing varies within the classes, or there is one only", "labels")
    low, high = jackknife(value, without, least=0.0)
    return Number(value, low, high, 1e-7 * value, len(H), ("labels", "a sample"))


def _mean_ratio(sums: Tensor, counts: Tensor) -> float:
    """ρ from sums (K, K) of distances over pairs of classes of so many points (K,)."""
    near = (sums.diagonal() / (counts * (counts - 1)))[counts > 1]
    pairs = counts[:, None] * counts
    different = ~torch.eye(len(counts), dtype=torch.bool)
    far = (sums / pairs)[different & (pairs > 0)]
    if not len(near) or not len(far):
        return math.nan
    # the mean of classes' means, as if all classes had as many points
    return float(far.mean() / near.mean()) if float(near.mean()) > 0 else math.inf


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
