r"""Part I on any layer: how far its principal row space is from others, from moments alone.

Distances are :math:`\|P-Q\|_F/\sqrt{2r}`, from 0 to 1, as in :mod:`lowdim.preserve.drift`; that to
the labels is the price of :mod:`lowdim.preserve.blocks`. The tangent is the ratio q of
:func:`lowdim.preserve.preservation.tangent_ratio` with the input's row space for :math:`P^*`, which
bounds :math:`\tan\theta_1` whatever the layer does.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lowdim.instruments.moments import First, Second, largest
from lowdim.instruments.numbers import Number, jackknife, missing

__all__ = ["apart", "rowspace_numbers"]

EPS = torch.finfo(torch.float64).eps


def _coordinates(own: Tensor, r: int) -> Tensor:
    """Coefficients (..., q, r) that make leading coordinates a basis of the row space."""
    values, vectors = torch.linalg.eigh(own)
    return vectors[..., -r:] / values[..., None, -r:].clamp_min(1e-300).sqrt()


def apart(own: Tensor, other: Tensor, cross: Tensor, r: int) -> Tensor:
    """Distance (...) of two row spaces from the products of coordinates, (..., q, q), (..., k, k),
    (..., q, k).

    Examples
    --------
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> apart(I, I, I, 2).item(), apart(torch.diag(I[0]), torch.diag(I[1]), 0 * I, 1).item()
    (0.0, 1.0)
    """
    kept = _coordinates(own, r).mT @ cross @ _coordinates(other, r)
    return (1 - kept.square().sum((-2, -1)) / r).clamp_min(0).sqrt()


def _price(blocks: Tensor, own: Tensor, r: int) -> tuple[Tensor, Tensor]:
    """Distance (...) to the nearest block-diagonal projector, and the share of squares off the
    blocks, from products (..., K, q, q) and (..., q, q)."""
    A = _coordinates(own, r)[..., None, :, :]
    grams = A.mT @ blocks @ A
    top = torch.linalg.eigvalsh(grams).flatten(-2).topk(r).values.clamp(max=1)
    inside = grams.square().sum((-3, -2, -1))
    return ((1 - top).sum(-1) / r).clamp_min(0).sqrt(), (1 - inside / r).clamp_min(0)


def _leaving(parts: Tensor) -> Tensor:
    """The sum of parts (G, ...), and the sums that leave one out: (1 + G, ...)."""
    whole = parts.sum(0, keepdim=True)
    return torch.cat([whole, whole - parts])


def _blur(first: First, values: Tensor, r: int) -> float:
    """How far rounding of the moment can turn the row space; infinite without a gap."""
    if r > len(values):
        return math.inf
    following = float(values[r]) if r < len(values) else 0.0
    gap = float(values[r - 1]) ** 2 - following**2
    if gap <= 0 or first.count < r:
        return math.inf
    return 4 * math.sqrt(len(values)) * EPS * float(values[0]) ** 2 / gap


def rowspace_numbers(
    first: First,
    second: Second,
    values: Tensor,
    r: int,
    *,
    start: tuple[First, Second, Tensor] | None,
    before: tuple[First, Second, Tensor] | None,
    labelled: bool,
) -> dict[str, Number]:
    """All numbers of Part I at one tap; ``start`` and ``before`` are the input and the last tap.

    Examples
    --------
    >>> from lowdim.instruments.moments import Frame, Sketch
    >>> H, rows = torch.tensor([[0.0], [2.0], [9.0], [11.0]]).double(), torch.tensor([0, 0, 1, 1])
    >>> first = First(Sketch(1, 8, seed=0))
    >>> first.add(H, rows, 2)
    >>> frame = Frame(first.spectrum()[1], first.means(), None)
    >>> second = Second(frame, 2, q_in=None, q_prev=None)
    >>> _ = second.add(H, rows, torch.arange(4) % 2, None, None)
    >>> values = first.spectrum()[0]
    >>> options = {"start": None, "before": None, "labelled": True}
    >>> print(rowspace_numbers(first, second, values, 1, **options)["to_input"])
    – (there is no input of real numbers)
    """
    n, out = first.count, {}
    blur = _blur(first, values, r)
    fits = r <= len(values) and blur < 0.05
    follow = float(values[r]) if r < len(values) else 0.0
    error = 4 * math.sqrt(EPS) * float(values[0])
    if r > min(len(values), n):
        short = f"r = {r} is more than its {min(len(values), n)} dimensions"
    else:
        short = f"σ_r and σ_(r+1) are too close to tell its row space of dimension r = {r}"
        out["gap"] = Number(float(values[r - 1]) - follow, None, None, error, n, ("rank",), "exact")
    names = {"input": start, "previous": before}
    for name, other in names.items():
        key = f"to_{name}"
        if other is None:
            why = "there is no input of real numbers" if name == "input" else "it is the first"
            out[key] = missing(why, "rank")
            continue
        f, s, v = other
        if r <= len(v) and r <= len(values):
            out[f"gap_{name}"] = Number(
                float(v[r - 1]) - follow, None, None, error, n, ("rank",), "exact"
            )
        far = _blur(f, v, r) if r <= len(v) else math.inf
        cross = second.input if name == "input" else second.previous
        if not fits or far >= 0.05 or cross is None:
            why = short if not fits else f"the row space of its {name} is not determined"
            out[key] = missing(why, "rank")
            continue
        value, *without = apart(
            _leaving(second.own), _leaving(s.own), _leaving(cross), r
        ).tolist()  # fmt: skip
        off = blur + far + 16 * EPS / max(value, 4 * math.sqrt(EPS))
        low, high = jackknife(value, without, least=0.0)
        out[key] = Number(value, low, high, off, n, ("rank",))
    if not labelled:
        out["to_labels"] = out["off_block"] = missing("there are no labels", "labels", "rank")
    elif not fits:
        out["to_labels"] = out["off_block"] = missing(short, "labels", "rank")
    else:
        own, blocks = second.own.sum(0, keepdim=True), second.blocks
        if second.by_group:
            own, blocks = _leaving(second.own), _leaving(blocks)
        pair = _price(blocks, own, r)
        for name, found in zip(("to_labels", "off_block"), pair, strict=True):
            value, *without = found.tolist()
            low, high = jackknife(value, without, least=0.0)
            off = blur + 16 * EPS / max(value, 4 * math.sqrt(EPS))
            out[name] = Number(value, low, high, off, n, ("labels", "rank"))
    out["tangent"] = _tangent(first, second, start, r)
    return out


def _tangent(
    first: First, second: Second, start: tuple[First, Second, Tensor] | None, r: int
) -> Number:
    """The ratio q against the input's row space."""
    if start is None or second.onto is None or _blur(start[0], start[2], r) >= 0.05:
        return missing("the input's row space is not determined", "rank")
    inside = second.onto @ _coordinates(start[1].own.sum(0), r)
    rest = max(0.0, float(largest(first.moment - inside @ inside.mT, 1)[0])) ** 0.5
    values = torch.linalg.svdvals(inside)
    least = float(values[r - 1]) if r <= len(values) else 0.0
    if least <= 1e-12 * float(values[0]):
        return missing(f"the layer keeps fewer than r = {r} directions of the input", "rank")
    off = 4 * math.sqrt(EPS) * math.sqrt(float(first.moment.trace())) / least
    return Number(rest / least, None, None, off, first.count, ("rank",), "exact")
