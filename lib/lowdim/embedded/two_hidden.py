"""Small ReLU networks with two hidden layers, in batches that a search can climb through.

A case has A (B, n, d) and a (B, n, 1), the first layer and its biases, B (B, n, n), C (B, 1, n).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

__all__ = ["lone_neuron", "passed", "rms", "stretch"]


def passed(case: Mapping[str, Tensor], points: Tensor) -> tuple[Tensor, Tensor]:
    """Values f (B, 1, k) at points (B, d, k), and df by the first pre-activations, (B, n, k).

    Examples
    --------
    >>> f, back = passed(lone_neuron(), torch.ones(1, 2, 6).double())
    >>> float(f[0, 0, 0]), back[0, :, 0].tolist()
    (2.0, [1.0, 0.0, 0.0])
    """
    t = case["A"] @ points + case["a"]
    u = case["B"] @ t.clamp_min(0)
    back = case["B"].mT @ (case["C"].mT * (u > 0)) * (t > 0)
    return case["C"] @ u.clamp_min(0), back


def stretch(case: Mapping[str, Tensor], layers: str) -> Tensor:
    """The product (B,) of the operator norms of these layers, as in ``"BC"``.

    Examples
    --------
    >>> float(stretch(lone_neuron(), "ABC"))
    1.0
    """
    return torch.stack([torch.linalg.matrix_norm(case[name], 2) for name in layers]).prod(0)


def rms(values: Tensor) -> Tensor:
    """Root (B,) of the mean over points of the squared length of values (B, d, k).

    Examples
    --------
    >>> float(rms(torch.tensor([[[3.0], [4.0]]])))
    5.0
    """
    return values.square().sum(1).mean(-1).sqrt()


def lone_neuron(points: int = 6) -> dict[str, Tensor]:
    """f = relu(y + 1) through one neuron of three, at (0, y) with y = 1 and g = 0, σ = 1.

    Keys beside the network: x (1, 1, k), e (1, 2, k), g (1, 1, k), s (1,), the log of σ.

    Examples
    --------
    >>> sorted(lone_neuron(2))
    ['A', 'B', 'C', 'a', 'e', 'g', 's', 'x']
    """
    unit, zero = torch.eye(3).double()[None], torch.zeros(1, 1, points).double()
    first = torch.zeros(1, 3, 2).double()
    first[0, 0, 1] = 1.0
    network = {"A": first, "a": unit[..., :1], "B": unit, "C": unit[:, :1]}
    noise = torch.ones(1, 2, points).double()
    return {**network, "x": zero, "e": noise, "g": zero.clone(), "s": torch.zeros(1).double()}
