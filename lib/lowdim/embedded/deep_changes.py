r"""What a shift off the data does to deep ReLU networks, and bounds on it.

A case has the shifts s (B, n₁) of the first layer and layers W1, b1, W2, b2, ... with one input.
:func:`measured` integrates the change :math:`\|\Delta f\|^2` over (-1, 1) exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.embedded import offdata, shifts
from lowdim.evidence.attacks import Case
from lowdim.nets.networks import Dense, Weights

__all__ = ["DeepChange", "copies", "measured", "on_plane", "random_deep"]


def random_deep(
    count: int, rng: np.random.Generator, *, widths: Sequence[int]
) -> dict[str, Tensor]:
    """Networks on a line, Gaussian weights over fan-in, shifts of several sizes.

    Every second one has a second layer and shifts of one sign.

    Examples
    --------
    >>> case = random_deep(4, np.random.default_rng(0), widths=(3, 2, 1))
    >>> tuple(case["W2"].shape), bool((case["W2"][::2] >= 0).all())
    ((4, 2, 3), True)
    """

    def draw(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    case = {"s": 10 ** torch.from_numpy(rng.uniform(-1, 1, (count, 1))) * draw(widths[0])}
    for k, (out, into) in enumerate(zip(widths, (1, *widths[:-1]), strict=True), start=1):
        case[f"W{k}"], case[f"b{k}"] = draw(out, into) / into**0.5, 0.5 * draw(out, 1)
    case["W2"][::2], case["s"][::2] = case["W2"][::2].abs(), case["s"][::2].abs()
    return case


def copies(n: int, later: int, y: float = 1.0) -> dict[str, Tensor]:
    """n equal neurons relu(x + y), their sum, and ``later`` layers of one neuron with weight one.

    Examples
    --------
    >>> float(measured(copies(2, 1)).change)  # 4 · 4/3
    5.333333333333333
    """

    def one(*shape: int) -> Tensor:
        return torch.ones(1, *shape, dtype=torch.float64)

    case = {"s": y * one(n), "W1": one(n, 1), "b1": 0 * one(n, 1)}
    case |= {"W2": one(1, n), "b2": 0 * one(1, 1)}
    for k in range(3, 3 + later):
        case |= {f"W{k}": one(1, 1), f"b{k}": 0 * one(1, 1)}
    return case


@dataclass(frozen=True)
class DeepChange:
    """Squared norms (B,) of changes, and the factors and sums of the bounds.

    ``change`` of f and ``second`` of the second layer; ``upper`` and ``all``: products of ‖W‖² from
    layer 3 and from layer 2. Sums over the first layer: ``terms`` of the changes and ``printed`` of
    their bounds, weighted by the columns of W²; ``free`` of the changes and ``sharp`` of their
    one-sided bounds, without weights; ``lipschitz``. ``thin``: the least tangential weight.
    """

    change: Tensor
    second: Tensor
    upper: Tensor
    all: Tensor
    terms: Tensor
    printed: Tensor
    free: Tensor
    sharp: Tensor
    lipschitz: Tensor
    thin: Tensor


def measured(case: Case) -> DeepChange:
    """Changes and bounds of networks on a line.

    Examples
    --------
    >>> q = measured(copies(2, 1))
    >>> bool(q.change > q.upper * q.printed), bool(q.change <= q.all * q.sharp)
    (True, True)
    """
    layers = [(case[f"W{k}"], case[f"b{k}"]) for k in range(1, len(case) // 2 + 1)]
    s, w, b = case["s"], layers[0][0], layers[0][1][..., 0]
    q = shifts.measured(w, b, s)
    norms = [torch.linalg.matrix_norm(W, 2).square() for W, _ in layers]
    columns = layers[1][0].square().sum(1)
    return DeepChange(
        change=offdata.deep_line_change(layers, s),
        second=offdata.deep_line_change(layers[:2], s),
        upper=torch.stack(norms[2:]).prod(0) if norms[2:] else torch.ones(len(s)),
        all=torch.stack(norms[1:]).prod(0),
        terms=(columns * q.change).sum(1),
        printed=(columns * q.printed).sum(1),
        free=q.change.sum(1),
        sharp=q.one_sided.sum(1),
        lipschitz=2 * s.square().sum(1),
        thin=w[..., 0].abs().amin(1),
    )


def on_plane(net: Dense, weights: Weights, y: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The change at y (2,) over (3.4), over the sum under the norm, and over Lipschitz; (nets,).

    Networks on (x, y) with x in three dimensions; the change is an average over the points ``at``
    (3, n), the bounds are exact.

    Examples
    --------
    >>> net = Dense((5, 4, 3, 1))
    >>> weights = net.init(trials=2, seed=0, dtype=torch.float64)
    >>> y, at = torch.ones(2).double(), offdata.cube_points(3, 64)
    >>> bool((on_plane(net, weights, y, at)[1] < 1).all())
    True
    """
    first, bias = weights[0]
    if bias is None:
        raise ValueError("the first layer must have biases; it has none.")
    w, s, b = first[..., :3], first[..., 3:] @ y, bias[..., 0]
    q = shifts.measured(w, b, s)
    norms = [torch.linalg.matrix_norm(W, 2).square() for W, _ in weights]
    above = torch.stack([torch.ones(len(w)), *norms[2:]]).prod(0)
    columns = weights[1][0].square().sum(1)
    change = 8 * offdata.stability(net, weights, at, y[:, None].expand(2, at.shape[1]))
    return (
        change / (above * (columns * q.printed).sum(1)),
        change / (above * norms[1] * q.one_sided.sum(1)),
        change / (8 * above * norms[1] * s.square().sum(1)),
    )
