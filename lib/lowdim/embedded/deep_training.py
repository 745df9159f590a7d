"""Deep networks trained on a plane with equal normal weights, and their stability metric."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from scipy.special import roots_hermitenorm
from torch import Tensor

from lowdim.embedded import offdata
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights, mapped
from lowdim.seeds import generator

__all__ = ["Grown", "grow", "sampled_metric"]


@dataclass(frozen=True)
class Grown:
    """Networks before (``start``) and after (``end``) training, in double precision."""

    net: Dense
    start: Weights
    end: Weights
    loss: Tensor

    def metric(self, x: Tensor, y: Tensor) -> Tensor:
        """The mean (nets,) of (f(x, y) - f(x, 0))² after training, at x (3, n) and y (2, n)."""
        return offdata.stability(self.net, self.end, x, y)

    def expected(self, gamma: float, x: Tensor, *, nodes: int = 40) -> Tensor:
        """E‖Δf‖² (nets,) over the cube for normal y of size γ, by quadrature in y₁ + y₂.

        Equal normal weights see that sum only, which has the variance 2γ².

        Examples
        --------
        >>> how = {"nets": 1, "width": 4, "points": 40, "epochs": 1, "batch": 10, "rate": 0.03}
        >>> made, x = grow(2, seed=0, **how), offdata.cube_points(3, 64)
        >>> bool((made.expected(0.5, x) > made.expected(0.25, x)).all())
        True
        """
        z, by = roots_hermitenorm(nodes)
        by = by / by.sum()
        total = torch.zeros(())
        for node, weight in zip(z, by, strict=True):
            y = torch.full((2, x.shape[1]), node * gamma / 2**0.5, dtype=torch.float64)
            total = total + weight * self.metric(x, y)
        return 8 * total

    def limits(self, x: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        """c₀ by a tiny step, and c∞ by the network without biases at x = 0; (nets,) each."""
        zero = self.metric(x, 2.0**-20 * z) * 4.0**20
        bare = [(W, None if b is None else 0 * b) for W, b in self.end]
        return zero, offdata.stability(self.net, bare, 0 * x, z)

    def norms(self) -> list[Tensor]:
        """Spectral norms (nets,) of the layers after training."""
        return [torch.linalg.matrix_norm(W, 2) for W, _ in self.end]


def grow(
    depth: int,
    *,
    nets: int,
    width: int,
    points: int,
    epochs: int,
    batch: int,
    rate: float,
    seed: int,
    eta: float = 1.0,
) -> Grown:
    """Train ``nets`` networks of ``depth`` layers on ``points`` of a cube in 3 of 5 directions.

    The labels are Σ sin πx. The normal weights are η(1, 1) for every neuron; rates fall from
    ``rate`` to a hundredth of it by a cosine.

    Examples
    --------
    >>> how = {"nets": 2, "width": 4, "points": 40, "epochs": 1, "batch": 10, "rate": 0.03}
    >>> made = grow(3, seed=0, eta=0.5, **how)
    >>> len(made.end), bool((made.end[0][0][..., 3:] == 0.5).all())
    (3, True)
    """
    x = torch.from_numpy(2 * generator(seed, 0, "points").random((3, points)) - 1).float()
    X, goal = torch.cat([x, torch.zeros(2, points)]), torch.sin(torch.pi * x).sum(0, keepdim=True)
    net = Dense((5, *(width,) * (depth - 1), 1))
    start = net.init(trials=nets, seed=seed, kind="kaiming")
    start[0][0][..., 3:] = eta
    rates = training.cosine_rates(rate, rate / 100, epochs)
    objective = training.Objective(net, X, goal, normalization="half")
    end = offdata.anneal(objective, start, rates, batch=batch, seed=seed)
    start, end = (mapped(weights, torch.Tensor.double) for weights in (start, end))
    loss = (net.forward(end, X.double())[1][-1] - goal).square().mean((1, 2)) / 2
    return Grown(net, start, end, loss)


def sampled_metric(made: Grown, gamma: float, *, count: int, runs: int, seed: int) -> Tensor:
    """The metric (runs, nets) as the paper computes it: ``count`` uniform x and normal y.

    Examples
    --------
    >>> how = {"nets": 2, "width": 4, "points": 40, "epochs": 1, "batch": 10, "rate": 0.03}
    >>> sampled_metric(grow(2, seed=0, **how), 0.5, count=50, runs=3, seed=0).shape
    torch.Size([3, 2])
    """
    found = []
    for k in range(runs):
        rng = generator(seed, k, "monte carlo")
        x = torch.from_numpy(2 * rng.random((3, count)) - 1)
        found.append(made.metric(x, torch.from_numpy(gamma * rng.standard_normal((2, count)))))
    return torch.stack(found)
