r"""A layer's gradient as a product, and how it bends when the data move.

For the loss :math:`\frac1N\sum_i\|f(x_i)-y_i\|^2` the gradient with respect to the weights of layer
l is :math:`\frac1N\sum_i\delta_i z_i^\top`, where :math:`z_i` enters the layer and
:math:`\delta_i` is the gradient of the i-th loss with respect to the layer's pre-activation. Part
II compares it with its value at centroids; what is lost is governed by the second derivative of
:math:`g(z,y)=\delta z^\top` with respect to a hidden point z of an earlier layer and its target y.

Layers are numbered from 1; hidden points of layer 0 are the data. Networks carry a leading axis of
T trials, points are columns, as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.func import jvp

from lowdim import checks
from lowdim.nets.networks import Dense, Weights, spread
from lowdim.seeds import generator

__all__ = [
    "bend", "bend_norm", "certified_bend", "factors", "largest_bend", "sample_gradients",
]  # fmt: skip

Pointwise = Callable[[Tensor], Tensor]
_SMOOTH: dict[str, tuple[Pointwise, Pointwise]] = {
    "identity": (lambda t: t, torch.ones_like),
    "tanh": (torch.tanh, lambda t: 1 - torch.tanh(t).square()),
    "sigmoid": (torch.sigmoid, lambda t: torch.sigmoid(t) * (1 - torch.sigmoid(t))),
    "relu": (torch.relu, lambda t: (t > 0).to(t.dtype)),
}
# suprema of the absolute values of the first three derivatives
_SUPREMA = {
    "identity": (1.0, 0.0, 0.0),
    "tanh": (1.0, 4 / (3 * math.sqrt(3)), 2.0),
    "sigmoid": (0.25, 1 / (6 * math.sqrt(3)), 0.125),
}


def factors(
    net: Dense, weights: Weights, X: Tensor, target: Tensor | None = None
) -> list[tuple[Tensor, Tensor]]:
    """For every layer the pair (delta (T, out, N), inputs (T, in, N)) of its gradient.

    The gradient of the loss per sample, without weight decay, is ``delta @ inputs.mT / N``.

    Parameters
    ----------
    X, target
        (T, m, N) and (T, c, N), or without T if all trials share them; target is X unless given.

    Raises
    ------
    ValueError
        If shapes or dtypes do not fit together.

    Examples
    --------
    >>> net = Dense((2, 1), bias=False)
    >>> (delta, inputs), = factors(net, [(torch.ones(1, 1, 2), None)], torch.eye(2),
    ...                            torch.zeros(1, 2))
    >>> delta.tolist()
    [[[2.0, 2.0]]]
    """
    data = net.check(weights, X)
    goal = data if target is None else spread(target, len(data), net.widths[-1], "target")
    pre, post = net.forward(weights, data)
    pairs: list[tuple[Tensor, Tensor]] = []
    delta = 2 * (post[-1] - goal)
    for layer in range(net.depth - 1, -1, -1):
        delta = delta * net.activations[layer].slope(pre[layer])
        pairs.append((delta, post[layer - 1] if layer else data))
        delta = weights[layer][0].mT @ delta
    return pairs[::-1]


def _chosen(net: Dense, layer: int, start: int) -> None:
    checks.whole(layer, "layer", 1)
    checks.whole(start, "start", 0)
    if not start < layer <= net.depth:
        raise ValueError(
            f"layer must be from 1 to {net.depth} and start from 0 to layer - 1; "
            f"you gave layer = {layer} and start = {start}."
        )
    for act in net.activations[start:]:
        checks.choice(act.name, _SMOOTH, "activation")


def sample_gradients(
    net: Dense, weights: Weights, Z: Tensor, Y: Tensor, *, layer: int, start: int
) -> Tensor:
    """Gradients (T, N, out, in) of the loss at single points, as functions of hidden points.

    Z (T, width of layer ``start``, N) are points that leave layer ``start``, Y (T, c, N) targets.
    Autograd flows through Z and Y. Activations: identity, tanh, sigmoid, relu.

    Raises
    ------
    ValueError
        Unless 0 <= start < layer <= depth, or if an activation is not among the above.

    Examples
    --------
    >>> net = Dense((2, 1), bias=False)
    >>> W = [(torch.ones(1, 1, 2), None)]
    >>> sample_gradients(net, W, torch.eye(2)[None], torch.zeros(1, 1, 2), layer=1, start=0)[0, 0]
    tensor([[2., 0.]])
    """
    _chosen(net, layer, start)
    h, seen, slopes = Z, None, []
    for k in range(start, net.depth):
        W, b = weights[k]
        if k == layer - 1:
            seen = h
        a = W @ h if b is None else W @ h + b
        value, slope = _SMOOTH[net.activations[k].name]
        h = value(a)
        slopes.append(slope(a))
    delta = 2 * (h - Y) * slopes.pop()
    for k in range(net.depth - 1, layer - 1, -1):
        delta = (weights[k][0].mT @ delta) * slopes.pop()
    assert seen is not None  # layer lies behind start
    return delta.mT[..., :, None] * seen.mT[..., None, :]


def bend(
    net: Dense,
    weights: Weights,
    Z: Tensor,
    Y: Tensor,
    u: tuple[Tensor, Tensor],
    v: tuple[Tensor, Tensor] | None = None,
    *,
    layer: int,
    start: int,
) -> tuple[Tensor, Tensor]:
    """First and second derivative of ``sample_gradients`` along u, and along u and v.

    ``u`` and ``v`` are pairs of directions in the shapes of Z and Y; v is u unless given. Both
    results have the shape (T, N, out, in).

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> one = torch.ones(1, 1, 1)
    >>> bend(net, [(3 * one, None)], one, one, (one, 0 * one), layer=1, start=0)[1].item()
    12.0
    """

    def value(z: Tensor, y: Tensor) -> Tensor:
        return sample_gradients(net, weights, z, y, layer=layer, start=start)

    def slope(z: Tensor, y: Tensor) -> Tensor:
        return jvp(value, (z, y), u)[1]

    first, second, *_ = jvp(slope, (Z, Y), u if v is None else v)
    return first, second


def bend_norm(
    net: Dense, weights: Weights, Z: Tensor, Y: Tensor, *, layer: int, start: int
) -> Tensor:
    """Frobenius norm (T, N) of the whole second derivative, a tensor of order four.

    It is at least the largest bend along a unit direction. Costs p(p+1)/2 bends for p coordinates.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> one = torch.ones(1, 1, 1)
    >>> round(bend_norm(net, [(0 * one, None)], one, one, layer=1, start=0).item() ** 2, 3)
    8.0
    """
    d, c = Z.shape[1], Y.shape[1]
    total = torch.zeros(Z.shape[0], Z.shape[2], dtype=Z.dtype)

    def unit(k: int) -> tuple[Tensor, Tensor]:
        uz, uy = torch.zeros_like(Z), torch.zeros_like(Y)
        (uz if k < d else uy)[:, k if k < d else k - d] = 1
        return uz, uy

    for k in range(d + c):
        for m in range(k + 1):
            part = bend(net, weights, Z, Y, unit(k), unit(m), layer=layer, start=start)[1]
            total += (1 if k == m else 2) * part.square().sum((-2, -1))
    return total.sqrt()


def largest_bend(
    net: Dense,
    weights: Weights,
    Z: Tensor,
    Y: Tensor,
    *,
    layer: int,
    start: int,
    labels: object | None = None,
    starts: int = 8,
    steps: int = 40,
    rate: float = 0.1,
    seed: int = 0,
) -> Tensor:
    """Largest second derivative (T,) along a unit direction that a search in the hull finds.

    The hull is that of the points (z_i, y_i), or of each part of them that ``labels`` (N,) make. A
    search from ``starts`` points by Adam; what it finds is a *lower* bound on the supremum.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> Z = torch.tensor([[[-1.0, 1.0]]]).double()
    >>> found = largest_bend(net, [(torch.zeros(1, 1, 1).double(), None)], Z, Z, layer=1, start=0)
    >>> round(found.item(), 6)
    2.0
    """
    T, d, n = Z.shape
    rng = generator(seed, 0, "bend")
    numbers = np.zeros(n, dtype=int) if labels is None else np.asarray(labels)
    at = rng.integers(0, n, (T, starts))
    mine = torch.from_numpy(numbers[at][..., None] == numbers)  # (T, starts, n)
    logits = torch.from_numpy(rng.standard_normal((T, starts, n)))
    vertex = (
        torch.nn.functional.one_hot(torch.from_numpy(at), n)
        * (torch.arange(starts) % 2)[None, :, None]
    )
    logits = (logits + 12 * vertex).requires_grad_()
    way = torch.from_numpy(rng.standard_normal((T, d + Y.shape[1], starts))).requires_grad_()
    points = torch.cat([Z, Y.expand(T, -1, -1)], 1)
    optimizer = torch.optim.Adam([logits, way], lr=rate)
    best = torch.zeros(T, dtype=Z.dtype)
    for _ in range(steps + 1):
        share = torch.softmax(torch.where(mine, logits, -torch.inf), -1)
        x = points @ share.mT
        u = way / way.norm(dim=1, keepdim=True)
        where, along = (x[:, :d], x[:, d:]), (u[:, :d], u[:, d:])
        size = bend(net, weights, *where, along, layer=layer, start=start)[1].norm(dim=(-2, -1))
        best = torch.maximum(best, size.detach().amax(1))
        optimizer.zero_grad()
        (-size.clamp_min(1e-300).log().sum()).backward()
        for free in (logits, way):
            if free.grad is not None:
                free.grad.nan_to_num_(0.0, 0.0, 0.0)
        optimizer.step()
    return best


def certified_bend(
    net: Dense,
    weights: Weights,
    Z: Tensor,
    Y: Tensor,
    *,
    layer: int,
    start: int,
    labels: object | None = None,
) -> Tensor:
    """An *upper* bound (T,) on the second derivative along unit directions, on the whole hull.

    Norms of values and of first and second derivatives along a line are carried through the layers
    by the chain and product rules, from spectral norms of the weights and suprema of the
    activations' derivatives. Every point of a hull is at most the largest distance of its points
    from their centroid away from the centroid. True up to rounding. Activations: identity, tanh,
    sigmoid.

    Raises
    ------
    ValueError
        Unless 0 <= start < layer <= depth, or if an activation is not among the above.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> Z = torch.tensor([[[-1.0, 1.0]]]).double()
    >>> round(certified_bend(net, [(0 * Z[..., :1], None)], Z, Z, layer=1, start=0).item(), 6)
    4.0
    """
    _chosen(net, layer, start)
    for act in net.activations[start:]:
        checks.choice(act.name, _SUPREMA, "activation")
    n = Z.shape[2]
    numbers = np.zeros(n, dtype=int) if labels is None else np.asarray(labels)
    parts = [torch.from_numpy(np.flatnonzero(numbers == k)) for k in np.unique(numbers)]
    Y = Y.expand(len(Z), -1, -1)
    bounds = [_on_hull(net, weights, Z[..., p], Y[..., p], layer, start) for p in parts]
    return torch.stack(bounds).amax(0)


def _on_hull(net: Dense, weights: Weights, Z: Tensor, Y: Tensor, layer: int, start: int) -> Tensor:
    """The certified bound on one hull; pairs (value, first, second) are called jets."""
    centre, goal = Z.mean(-1, keepdim=True), Y.mean(-1, keepdim=True)
    radius = ((Z - centre).square().sum(1) + (Y - goal).square().sum(1)).sqrt().amax(-1)
    one = torch.ones_like(radius)
    h, h1, h2 = centre, one, 0 * one
    slopes: list[tuple[Tensor, ...]] = []
    seen: tuple[Tensor, ...] = ()
    for k in range(start, net.depth):
        W, b = weights[k]
        size = torch.linalg.matrix_norm(W, 2)
        if k == layer - 1:
            seen = (h.norm(dim=(1, 2)) + h1 * radius, h1, h2)
        name = net.activations[k].name
        p1, p2, p3 = _SUPREMA[name]
        h = _SMOOTH[name][0](W @ h if b is None else W @ h + b)
        a1, a2 = size * h1, size * h2
        h1, h2 = p1 * a1, p2 * a1**2 + p1 * a2
        slopes.append((p1 * one, p2 * a1, p3 * a1**2 + p2 * a2))
    e1 = 2 * (h1**2 + 1).sqrt()  # a unit direction is shared by z and y
    jet = _product(slopes.pop(), (2 * (h - goal).norm(dim=(1, 2)) + e1 * radius, e1, 2 * h2))
    for k in range(net.depth - 1, layer - 1, -1):
        size = torch.linalg.matrix_norm(weights[k][0], 2)
        jet = _product(slopes.pop(), tuple(size * part for part in jet))
    return _product(jet, seen)[2]


def _product(a: tuple[Tensor, ...], b: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Bounds on a product and its derivatives along a line, from those of its factors."""
    return a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[0] * b[2] + 2 * a[1] * b[1] + a[2] * b[0]
