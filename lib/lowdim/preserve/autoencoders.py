r"""Small ReLU autoencoders without biases, :math:`\hat X=V\sigma(WX)`, with dense derivatives.

A case has ``W`` (B, h, m), ``V`` (B, m, h) and ``X`` (B, m, n); the loss of an instance is
:math:`f=\|X-\hat X\|_F^2`. Derivatives are by all p = 2hm weights, those of W first, row by row.
Away from kinks, where an entry of WX is zero, they are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.nets import networks, training
from lowdim.seeds import generator

__all__ = ["Units", "arrived", "clearance", "derivatives", "loss", "random", "scalar", "units"]


def loss(case: Case) -> Tensor:
    """The loss (B,) of each instance.

    Examples
    --------
    >>> loss(scalar(2.0, 2.0)).item()
    9.0
    """
    out = case["V"] @ torch.relu(case["W"] @ case["X"])
    return ((out - case["X"]) ** 2).sum((1, 2))


def derivatives(case: Case) -> tuple[Tensor, Tensor]:
    """Gradient (B, p) and Hessian (B, p, p) of the loss, in closed form.

    Examples
    --------
    >>> gradient, H = derivatives(scalar(2.0, 2.0))
    >>> gradient.tolist(), H.tolist()
    ([[12.0, 12.0]], [[[8.0, 14.0], [14.0, 8.0]]])
    """
    W, V, X = case["W"], case["V"], case["X"]
    B, h, m = W.shape
    D = (W @ X > 0).double()
    Y = D * (W @ X)
    R = V @ Y - X
    by_W = torch.einsum("bji,bin,bkn->bjnik", V, D, X).reshape(B, -1, h * m)
    eye = torch.eye(m, dtype=W.dtype)
    by_V = torch.einsum("ja,bin->bjnai", eye, Y).reshape(B, -1, m * h)
    J = torch.cat([by_W, by_V], 2)
    H = 2 * J.mT @ J
    mixed = 2 * torch.einsum("bjn,bin,bkn,il->bikjl", R, D, X, torch.eye(h).double())
    mixed = mixed.reshape(B, h * m, m * h)
    H[:, : h * m, h * m :] += mixed
    H[:, h * m :, : h * m] += mixed.mT
    return 2 * (J.mT @ R.reshape(B, -1, 1))[..., 0], H


@dataclass(frozen=True)
class Units:
    r"""Weights into and out of each unit, :math:`\theta_i=(w_i,v_i)`.

    slope, length: :math:`\|\nabla_if\|` and :math:`\|\theta_i\|`, (B, h); directions: (B, p, h),
    the unit vectors along which unit i is scaled up on one side and down on the other.
    """

    slope: Tensor
    length: Tensor
    directions: Tensor

    @property
    def rho(self) -> Tensor:
        r"""The largest :math:`\|\nabla_if\|/\|\theta_i\|`, (B,)."""
        return (self.slope / self.length).amax(1)


def units(case: Case, gradient: Tensor) -> Units:
    """The units of each instance, given its ``gradient`` (B, p).

    Examples
    --------
    >>> case = scalar(2.0, 2.0)
    >>> round(units(case, derivatives(case)[0]).rho.item(), 12)
    6.0
    """
    W, V = case["W"], case["V"]
    B, h, m = W.shape
    by_W = gradient[:, : h * m].reshape(B, h, m)
    by_V = gradient[:, h * m :].reshape(B, m, h)
    slope = (by_W.square().sum(2) + by_V.square().sum(1)).sqrt()
    length = (W.square().sum(2) + V.square().sum(1)).sqrt()
    eye = torch.eye(h, dtype=W.dtype)
    into = (W[:, :, :, None] * eye[:, None, :]).reshape(B, h * m, h)
    out = (V[:, :, :, None] * eye).reshape(B, m * h, h)
    return Units(slope, length, torch.cat([into, -out], 1) / length[:, None])


def clearance(case: Case) -> Tensor:
    """How far each instance is from a kink: the smallest absolute entry (B,) of WX.

    Examples
    --------
    >>> clearance(scalar(-0.5, 3.0)).item()
    0.5
    """
    return (case["W"] @ case["X"]).abs().amin((1, 2))


def random(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Gaussian networks 4 → 3 → 4 on 20 points, encoders of sizes from 0.1 to 10.

    Examples
    --------
    >>> random(5, np.random.default_rng(0))["V"].shape
    torch.Size([5, 4, 3])
    """
    spread = torch.from_numpy(10 ** rng.uniform(-1, 1, (count, 1, 1)))
    W, V, X = (
        torch.from_numpy(rng.standard_normal((count, *shape)))
        for shape in ((3, 4), (4, 3), (4, 20))
    )
    return {"W": spread * W, "V": V, "X": X}


def scalar(w: float, v: float, x: float = 1.0) -> dict[str, Tensor]:
    """One instance with one unit, one dimension and one point.

    Examples
    --------
    >>> scalar(2.0, 0.5)["W"].shape
    torch.Size([1, 1, 1])
    """
    named = {"W": w, "V": v, "X": x}
    return {key: torch.tensor([[[a]]], dtype=torch.float64) for key, a in named.items()}


def arrived(count: int, *, seed: int, gradient_norm: float = 1e-7) -> dict[str, Tensor]:
    """Networks 4 → 2 → 4 on 12 Gaussian points, trained until the gradient is as small as asked.

    Of ``count`` networks only those that got there, at a distance of more than 1e-6 from kinks.

    Examples
    --------
    >>> there = arrived(8, seed=0)
    >>> bool((derivatives(there)[0].norm(dim=1) <= 1e-7).all())
    True
    """
    net: Any = networks.Dense((4, 2, 4), activation="relu", bias=False)
    X = torch.from_numpy(generator(seed, 2, "critical").standard_normal((count, 4, 12)))
    run = training.train(
        training.Objective(net, X),
        net.init(trials=count, seed=seed, dtype=torch.float64),
        training.LBFGS(),
        2000,
        gradient_norm=gradient_norm,
        schedule=2000,
    )
    there = {"W": run.weights[0][0], "V": run.weights[1][0], "X": X}
    done = run.converged & (clearance(there) - 1e-9 > 1e-6)
    return {key: value[done] for key, value in there.items()}
