r"""What a ReLU network does off its data: slices of a cube, shifts of a neuron, stability.

Data lie on the plane y = 0 of :math:`R^{d_x + d_y}` and x ranges over the cube
:math:`\Omega = (-1, 1)^{d_x}`. A neuron sees :math:`t = w \cdot x + b` on the plane and t + s off
it, with :math:`s = W_y y`; its output moves by relu(t + s) - relu(t). Integrals over the cube of a
function of :math:`w \cdot x` alone are integrals over its slices, and the slices are splines: they
are computed exactly, up to rounding, in any small dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import qmc
from torch import Tensor

from lowdim.checks import whole
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights, mapped
from lowdim.nets.training import Objective

__all__ = [
    "Shift", "anneal", "cube_points", "deep_line_change", "largest_section", "largest_shadow",
    "line_change", "neuron_shift", "normal_change", "ridge_integral", "section", "shadow",
    "stability",
]  # fmt: skip

DIMENSIONS = 6  # slices take 2^(d-1) pieces in each dimension; beyond this they cost too much


def _normals(w: object) -> Tensor:
    w = torch.as_tensor(w, dtype=torch.float64)
    if w.ndim != 2 or not 1 <= w.shape[1] <= DIMENSIONS:
        raise ValueError(
            f"w needs the shape (instances, d) with d from 1 to {DIMENSIONS}; "
            f"its shape is {tuple(w.shape)}."
        )
    if not bool(torch.isfinite(w).all()):
        raise ValueError("w must be finite; some entries supplied are not.")
    return w


def _corners(a: Tensor) -> Tensor:
    """The values of a·x at the corners of the cube, where a slice changes its shape: (B, 2^d)."""
    values = torch.zeros(len(a), 1, dtype=a.dtype)
    for i in range(a.shape[1]):
        values = torch.cat([values - a[:, i : i + 1], values + a[:, i : i + 1]], dim=1)
    return values


def _gauss(edges: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """Nodes and weights on the pieces between sorted ``edges`` (..., k): (..., pieces·m) each."""
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    left, width = edges[..., :-1, None], edges.diff(dim=-1)[..., None]
    at = left + width * torch.from_numpy((nodes + 1) / 2)
    by = width * torch.from_numpy(weights / 2)
    return at.flatten(-2), by.flatten(-2)


def _density(a: Tensor, u: Tensor) -> Tensor:
    """d/du of the measure of {x in the cube: a·x <= u}; a (B, d) with falling |a|, u (B, k)."""
    d = a.shape[1]
    first = a[:, :1].clamp_min(1e-300)
    if d == 1:
        return torch.where(u.abs() < first, 1 / first, 0.0)
    last = a[:, -1:]
    if d == 2:
        # the part of (-a2, a2) that lies in (u - a1, u + a1), over a1·a2; 2/a1 if a2 vanishes
        over = torch.minimum(last, u + first) - torch.maximum(-last, u - first)
        small = last < 1e-150
        full = torch.where(u.abs() < first, 2 / first, 0.0)
        return torch.where(small, full, over.clamp_min(0) / (first * last.clamp_min(1e-150)))
    # Fubini in the last variable: the density in d - 1 dimensions, piecewise of degree d - 2
    rest = a[:, :-1]
    kinks = (u[..., None] - _corners(rest)[:, None, :]) / last.clamp_min(1e-300)[..., None]
    ends = torch.tensor([-1.0, 1.0], dtype=a.dtype).expand(*u.shape, 2)
    edges = torch.cat([ends, kinks.clamp(-1, 1)], dim=-1).sort(dim=-1).values
    x, by = _gauss(edges, d - 2)
    inner = _density(rest, (u[..., None] - last[..., None] * x).flatten(1)).view_as(x)
    return (inner * by).sum(-1)


def _falling(w: Tensor) -> Tensor:
    # reflecting a coordinate of the cube changes the sign of a weight, so only sizes matter
    return w.abs().sort(dim=1, descending=True).values


def section(normal: object, offset: object) -> Tensor:
    """The (d-1)-measure of the slices {a·x = offset·|a|} of the cube (-1, 1)^d, (B,).

    Parameters
    ----------
    normal
        a, of shape (B, d), none of them zero; only its direction matters.
    offset
        Signed distance (B,) of each slice's plane from the centre.

    Raises
    ------
    ValueError
        If a normal has the wrong shape or is zero.

    Examples
    --------
    >>> slices = section([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 2 ** -0.5])
    >>> [round(size, 9) for size in slices.tolist()]
    [2.0, 2.828427125, 1.414213562]
    """
    w = _normals(normal)
    size = w.norm(dim=1, keepdim=True)
    if not bool((size > 0).all()):
        raise ValueError("a slice needs a normal that is not zero.")
    at = torch.as_tensor(offset, dtype=torch.float64).expand(len(w))[:, None]
    return _density(_falling(w / size), at)[:, 0]


def shadow(normal: object) -> Tensor:
    """The (d-1)-measure of the projection of the cube (-1, 1)^d along each normal, (B,).

    A face whose outer normal is e_i casts a shadow of |a_i| times its measure, and half of the
    2d faces cover the shadow once.

    Examples
    --------
    >>> [round(size, 9) for size in shadow([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]).tolist()]
    [4.0, 6.92820323]
    """
    w = _normals(normal)
    return 2.0 ** (w.shape[1] - 1) * w.abs().sum(1) / w.norm(dim=1)


def largest_section(d: int) -> float:
    """The measure of the largest slice of (-1, 1)^d: 1 for d = 1, else 2^(d-1)·√2 (Ball 1986).

    Examples
    --------
    >>> largest_section(1), largest_section(2) == 8 ** 0.5
    (1.0, True)
    """
    whole(d, "d", 1)
    return 1.0 if d == 1 else 2.0 ** (d - 1) * math.sqrt(2)


def largest_shadow(d: int) -> float:
    """The measure of the largest projection of (-1, 1)^d onto a hyperplane: 2^(d-1)·√d.

    Examples
    --------
    >>> largest_shadow(1), largest_shadow(4)
    (1.0, 16.0)
    """
    whole(d, "d", 1)
    return 2.0 ** (d - 1) * math.sqrt(d)


def ridge_integral(w: object, f: Callable[[Tensor], Tensor], kinks: object) -> Tensor:
    """The integral over the cube (-1, 1)^d of f(w·x), (B,).

    Exact up to rounding if f is a polynomial of degree at most two between its ``kinks``.

    Parameters
    ----------
    w
        Directions (B, d), zero among them or not.
    f
        Maps values (B, k) of w·x to (B, k), each row with the parameters of its instance.
    kinks
        (B, m), where the pieces of f end.

    Raises
    ------
    ValueError
        If w has the wrong shape or more than six dimensions.

    Examples
    --------
    >>> value = ridge_integral([[1.0, 0.0], [0.5, 0.5]], lambda t: t.clamp_min(0), [[0.0], [0.0]])
    >>> [round(v, 12) for v in value.tolist()]
    [1.0, 0.666666666667]
    """
    w = _normals(w)
    d = w.shape[1]
    kinks = torch.as_tensor(kinks, dtype=torch.float64)
    size = w.norm(dim=1, keepdim=True)
    a = _falling(torch.where(size > 0, w / size.clamp_min(1e-300), 1.0))
    corners = _corners(a)
    top = corners.amax(1, keepdim=True)
    inside = (kinks / size.clamp_min(1e-300)).clamp(-top, top)
    edges = torch.cat([corners, inside], dim=1).sort(dim=1).values
    u, by = _gauss(edges, d + 1)
    value = (f(size * u) * _density(a, u) * by).sum(1)
    flat = 2.0**d * f(torch.zeros_like(size))[:, 0]
    return torch.where(size[:, 0] > 0, value, flat)


@dataclass(frozen=True)
class Shift:
    """What a shift s does to relu(w·x + b) on the cube, output weight one; tensors (B,).

    active: the measure of {t > 0}; plus: the integral of the squared change where the neuron is on
    before and after; minus: where it is switched on or off; total: their sum.
    """

    active: Tensor
    plus: Tensor
    minus: Tensor

    @property
    def total(self) -> Tensor:
        """The squared L² norm of relu(t + s) - relu(t) over the cube."""
        return self.plus + self.minus


def neuron_shift(w: object, b: object, s: object) -> Shift:
    """The L² change of a neuron relu(w·x + b) on the cube when s is added inside.

    Parameters
    ----------
    w, b, s
        Weights (B, d), biases (B,) and shifts (B,); w may be zero.

    Raises
    ------
    ValueError
        If w has the wrong shape or more than six dimensions.

    Examples
    --------
    One dimension, t = x, s = 1: switched on over (-1, 0), where the change is x + 1.

    >>> shift = neuron_shift([[1.0]], [0.0], [1.0])
    >>> shift.plus.item(), round(shift.minus.item(), 12)
    (1.0, 0.333333333333)
    """
    w = _normals(w)
    b = torch.as_tensor(b, dtype=torch.float64).expand(len(w))[:, None]
    s = torch.as_tensor(s, dtype=torch.float64).expand(len(w))[:, None]
    kinks = torch.cat([-b, -b - s], dim=1)
    both = b + s.clamp(max=0)  # on before and after: t + min(s, 0) > 0
    active = ridge_integral(w, lambda t: (t + b > 0).double(), kinks)
    kept = ridge_integral(w, lambda t: (t + both > 0).double(), kinks)

    def switched(t: Tensor) -> Tensor:
        change = (t + b + s).clamp_min(0) - (t + b).clamp_min(0)
        return torch.where(t + both > 0, 0.0, change.square())

    return Shift(active, s[:, 0].square() * kept, ridge_integral(w, switched, kinks))


def line_change(w: Tensor, b: Tensor, v: Tensor, s: Tensor) -> Tensor:
    """The squared L²(-1, 1) norm of Σ v_i (relu(w_i x + b_i + s_i) - relu(w_i x + b_i)), (B,).

    All arguments are (B, n): B networks with n neurons on a line. Exact up to rounding.

    Examples
    --------
    >>> one = torch.ones(1, 2, dtype=torch.float64)
    >>> round(line_change(one, 0 * one, one, one).item(), 12)  # two equal neurons: 4 · 4/3
    5.333333333333
    """
    turns = torch.cat([-b, -b - s], dim=1)
    slope = torch.cat([w, w], dim=1)
    at = torch.where(slope == 0, 1.0, turns / torch.where(slope == 0, 1.0, slope)).clamp(-1, 1)
    ends = torch.tensor([-1.0, 1.0], dtype=w.dtype).expand(len(w), 2)
    x, by = _gauss(torch.cat([ends, at], dim=1).sort(dim=1).values, 2)
    t = w[:, :, None] * x[:, None, :] + b[:, :, None]
    change = (t + s[:, :, None]).clamp_min(0) - t.clamp_min(0)
    return ((v[:, :, None] * change).sum(1).square() * by).sum(1)


def _relu_layers(layers: Weights, t: Tensor) -> list[Tensor]:
    """Pre-activations (B, n_l, k) of every layer from those of the first."""
    out = [t]
    for W, b in layers[1:]:
        out.append(W @ out[-1].clamp_min(0) + (0 if b is None else b))
    return out


def deep_line_change(layers: Weights, s: Tensor) -> Tensor:
    """The squared L²(-1, 1) norm of f(x, y) - f(x, 0) for ReLU networks on a line, (B,).

    Exact up to rounding: both functions are linear between their kinks, and the kinks are found
    layer by layer. Their number grows by a factor of twice the width, so keep networks small.

    Parameters
    ----------
    layers
        Pairs W (B, n_l, n_{l-1}), b (B, n_l, 1), the first with n_0 = 1: the weights of x.
    s
        (B, n_1), what y adds to the first layer.

    Examples
    --------
    >>> one = torch.ones(1, 2, 1, dtype=torch.float64)
    >>> layers = [(one, 0 * one), (one.mT, None)]
    >>> round(deep_line_change(layers, one[..., 0]).item(), 12)
    5.333333333333
    """
    (W, b), s = layers[0], s[..., None]
    edges = torch.tensor([-1.0, 1.0], dtype=W.dtype).expand(len(W), 1, 2)

    def both(x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        t = W * x if b is None else W * x + b
        return _relu_layers(layers, t + s), _relu_layers(layers, t)

    for layer in range(len(layers) - 1):
        pre = torch.cat([side[layer] for side in both(edges)], dim=1)
        left, right = pre[..., :-1], pre[..., 1:]
        turn = (left * right < 0).to(W.dtype)
        share = turn * left / torch.where(turn > 0, left - right, 1.0)
        more = (edges[..., :-1] + share * edges.diff(dim=-1)).flatten(1)
        edges = torch.cat([edges[:, 0], more], dim=1).sort(dim=1).values[:, None]
    x, by = _gauss(edges, 2)
    off, on = both(x)
    return ((off[-1] - on[-1]).square() * by).sum((1, 2))


def cube_points(d: int, count: int, *, seed: int = 0) -> Tensor:
    """``count`` scrambled Sobol points of the cube (-1, 1)^d as columns, (d, count) float64.

    Examples
    --------
    >>> cube_points(3, 8).shape, bool(cube_points(3, 8).abs().max() < 1)
    (torch.Size([3, 8]), True)
    """
    whole(d, "d", 1)
    whole(count, "count", 1)
    sobol = qmc.Sobol(d, rng=np.random.default_rng(abs(seed)))
    unit = sobol.random(2 ** max(0, math.ceil(math.log2(count))))[:count]
    return torch.from_numpy(2 * unit.T - 1).contiguous()


def normal_change(net: Dense, weights: Weights, x: Tensor, y: Tensor) -> Tensor:
    """f(x, y) - f(x, 0) at each point, (T, outputs, n).

    x is (d_x, n) and y (d_y, n), or with a leading axis of trials.

    Examples
    --------
    >>> net = Dense((2, 1), bias=False)
    >>> W = [(torch.tensor([[[1.0, 2.0]]], dtype=torch.float64), None)]
    >>> point = torch.ones(1, 1, dtype=torch.float64)
    >>> normal_change(net, W, point, point).item()
    2.0
    """
    off = net.forward(weights, torch.cat([x, y], dim=-2))[1][-1]
    on = net.forward(weights, torch.cat([x, torch.zeros_like(y)], dim=-2))[1][-1]
    return off - on


def stability(net: Dense, weights: Weights, x: Tensor, y: Tensor) -> Tensor:
    """The mean of |f(x, y) - f(x, 0)|² over the points, (T,); |Ω| = 2^d_x times it is the norm's.

    This is the right-hand side of the paper's (3.5).

    Examples
    --------
    >>> net = Dense((2, 1), bias=False)
    >>> W = [(torch.tensor([[[1.0, 2.0]]], dtype=torch.float64), None)]
    >>> stability(net, W, torch.ones(1, 4).double(), torch.ones(1, 4).double()).item()
    4.0
    """
    return normal_change(net, weights, x, y).square().sum(-2).mean(-1)


def anneal(
    objective: Objective,
    weights: Weights,
    rates: Sequence[float],
    *,
    batch: int,
    seed: int = 0,
    each: Callable[[int, Weights], None] | None = None,
    give_up: bool = False,
) -> Weights:
    """Weights after stochastic gradient descent with mini-batches, one epoch for each of ``rates``.

    The paper's objective, (1/2B) Σ (f - g)² + λ‖θ‖², is an ``Objective`` whose normalization is
    ``"half"`` and whose penalty is λ.

    Parameters
    ----------
    rates
        ``training.cosine_rates`` for instance.
    each
        Called with the number of epochs done (from 0) and the weights, before each epoch and at
        the end.
    give_up
        Whether a trial that diverges is given up instead of refused: its weights are nan at the
        end, and all others are as they would be without it.

    Raises
    ------
    ValueError
        As ``training.train``, or if a trial diverges and is not to be given up.

    Examples
    --------
    >>> net = Dense((2, 8, 1))
    >>> X = torch.cat([cube_points(1, 64), torch.zeros(1, 64)]).float()
    >>> start = net.init(seed=1)
    >>> task = Objective(net, X, X[:1], normalization="half")
    >>> end = anneal(task, start, [0.05] * 3, batch=8)
    >>> torch.equal(start[0][0][..., 1], end[0][0][..., 1])  # no gradient off the data
    True
    """
    lost = torch.zeros(len(weights[0][0]), dtype=torch.bool)
    for epoch, rate in enumerate(rates):
        if each is not None:
            each(epoch, weights)
        batches = training.Shuffled(batch, seed=seed + 7919 * epoch)
        steps = batches.epoch(objective.X.shape[-1])
        run = training.train(
            objective, weights, training.GD(rate), steps, batches=batches, schedule=steps
        )
        if not give_up and bool(run.diverged.any()):
            raise ValueError(f"{int(run.diverged.sum())} trials diverged in epoch {epoch}.")
        weights, lost = run.weights, lost | run.diverged
    if bool(lost.any()):
        weights = mapped(weights, lambda t: t.masked_fill(lost[:, None, None], torch.nan))
    if each is not None:
        each(len(rates), weights)
    return weights
