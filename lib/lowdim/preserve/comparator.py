r"""How far an activation turns a row space: four bounds, two of them free of scale.

With H for the pre-activations and Y for what the activation makes of them, both (..., h, n): the
paper compares Y with H, but P(H) = P(aH) for every a > 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots
from lowdim.linalg import subspaces
from lowdim.preserve import preservation

__all__ = ["LINES", "Bounds", "best_scalar", "bounds", "curve", "drawing", "sine_of"]

LINES = ("the paper's bound", "sharp constant", "best scalar", "tangent bound", "truth")
TINY = 1e-300


def best_scalar(Y: Tensor, H: Tensor, r: int, *, steps: int = 24) -> Tensor:
    r"""The least :math:`\|Y-aH\|_2/(\sigma_r(Y)-a\sigma_{r+1}(H))` over a ≥ 0, (...).

    By ternary search, as it has one valley; never more than its value at a = 1.

    Examples
    --------
    >>> H = torch.tensor([[3.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    >>> round(best_scalar(H / 2, H, 1).item(), 3)
    0.0
    """
    top = subspaces.singular_values(Y)[..., r - 1]
    values = subspaces.singular_values(H)
    after = values[..., r] if r < values.shape[-1] else torch.zeros_like(top)

    def value(a: Tensor) -> Tensor:
        below = top - a * after
        size = subspaces.spectral_norm(Y - a[..., None, None] * H)
        return torch.where(below > 0, size / below.clamp_min(TINY), torch.inf)

    low = torch.zeros_like(top)
    high = 2 * subspaces.spectral_norm(Y) / subspaces.spectral_norm(H).clamp_min(TINY)
    high = torch.minimum(high, 0.999999 * top / after.clamp_min(TINY))
    for _ in range(steps):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        down = value(left) < value(right)
        low, high = torch.where(down, low, left), torch.where(down, right, high)
    return torch.minimum(value((low + high) / 2), value(torch.ones_like(top)))


def sine_of(off: Tensor, on: Tensor) -> Tensor:
    """q/√(1+q²) for q = off/on, and 1, which says nothing, where q is not below 1.

    Examples
    --------
    >>> sine_of(torch.tensor([3.0, 5.0]), torch.tensor([4.0, 5.0])).tolist()
    [0.6..., 1.0]
    """
    return torch.where(off < on, off / (off**2 + on**2).sqrt().clamp_min(TINY), 1.0)


@dataclass(frozen=True)
class Bounds:
    """The step from Y to H, and the bounds on it that are free of scale; values (...).

    scalar: that of the best scalar; off, on: the two sides of q with P = P(H).
    """

    step: preservation.SinTheta
    scalar: Tensor
    off: Tensor
    on: Tensor

    @property
    def tangent(self) -> Tensor:
        """The tangent bound, on the sine."""
        return sine_of(self.off, self.on)

    def where(self, mask: Tensor) -> Bounds:
        """Only the instances that ``mask`` (...) admits."""
        return Bounds(self.step.where(mask), self.scalar[mask], self.off[mask], self.on[mask])


def bounds(Y: Tensor, H: Tensor, r: int) -> Bounds:
    """All bounds on the angle between the row spaces of Y and H, (..., h, n) each.

    Examples
    --------
    >>> H = torch.tensor([[1.0, -0.1]], dtype=torch.float64)
    >>> found = bounds(H.clamp_min(0), H, 1)
    >>> round(found.step.spectral.item(), 9), round(found.tangent.item(), 6)
    (0.1, 0.099504)
    """
    step = preservation.sin_theta(Y, H - Y, r)
    off, on = preservation.tangent_ratio(Y, subspaces.principal_rows(H, r, method="svd"))
    return Bounds(step, best_scalar(Y, H, r), off, on)


def curve(H: Tensor, f: Callable[[Tensor], Tensor], scales: Tensor, r: int) -> Tensor:
    """Medians (scales, 5) over pre-activations H (B, h, n), times each scale: LINES in order.

    Bounds are cut at 1, which says nothing.

    Examples
    --------
    >>> H = torch.tensor([[[1.0, -0.1, 0.5]]], dtype=torch.float64)
    >>> rows = curve(H, torch.relu, torch.tensor([1.0, 10.0]).double(), 1)
    >>> rows.shape, torch.allclose(rows[0], rows[1])
    (torch.Size([2, 5]), True)
    """
    stack = (scales[:, None, None, None] * H).reshape(-1, *H.shape[-2:])
    found = bounds(f(stack), stack, r)
    step = found.step
    sharp = torch.where(step.gap > 0, step.spectral / step.gap, torch.inf)
    lines = [(2 * r) ** 0.5 * sharp, sharp, found.scalar, found.tangent, step.largest_entry]
    rows = torch.stack(lines, -1).clamp(max=1.0)
    return rows.reshape(len(scales), len(H), len(LINES)).median(1).values


def drawing(curves: Mapping[str, Tensor], scales: Tensor) -> Figure:
    """A panel for each of six activations: four bounds and the truth against the scale.

    Examples
    --------
    >>> one = {str(k): torch.full((2, 5), 0.1) for k in range(6)}
    >>> len(drawing(one, torch.tensor([1.0, 10.0])).axes)
    6
    """
    fig, axes = plots.figure(7.6, 5.0, nrows=2, ncols=3, sharex=True, sharey=True)
    styles = ("--", "-.", ":", "-", "-")
    colours = [plots.CYCLE[k] for k in (1, 3, 5, 2, 0)]
    for ax, (name, rows) in zip(axes.flat, curves.items(), strict=True):
        for k, label in enumerate(LINES):
            seen = rows[:, k].clamp_min(1e-7)
            ax.loglog(scales, seen, styles[k], color=colours[k], label=label)
        ax.set_title(name)
    axes[1, 1].set_xlabel("scale of the pre-activations")
    for ax in axes[:, 0]:
        ax.set_ylabel("largest entry moved")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    return fig
