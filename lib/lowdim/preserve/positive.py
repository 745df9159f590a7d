r"""Positive weights on positive data: layers that cut nothing, and the optimum with W > 0.

A *layer* is a case with ``clean`` and ``Z`` (B, m, n) and ``W`` (B, h, m), as in
:func:`lowdim.preserve.preservation.layer`; here all three are non-negative, so that
:math:`\sigma(WX)=WX`. A *step* is a case with positive ``X`` (B, m, n), its positive optimum ``W``
(B, h, m) and ``V`` (B, m, h), and a way ``dW``, ``dV`` away from it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim.data import unions
from lowdim.evidence.attacks import Case

__all__ = [
    "built_layer", "built_step", "layer_edges", "layers", "near", "optimum", "step_edges", "steps",
]  # fmt: skip


def layers(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Positive layers of six units on two planes in four dimensions, noise of many sizes.

    Examples
    --------
    >>> case = layers(3, np.random.default_rng(0))
    >>> case["clean"].shape, bool((case["W"] @ (case["clean"] + case["Z"]) >= 0).all())
    (torch.Size([3, 4, 12]), True)
    """
    D = unions.union_of_subspaces(
        trials=count,
        ambient=4,
        dims=(2, 2),
        sizes=(6, 6),
        basis="nonnegative",
        coefficients="nonnegative",
        seed=int(rng.integers(2**31)),
    )
    level = torch.from_numpy(10 ** rng.uniform(-8, -1.5, (count, 1, 1)))
    Z = level * torch.from_numpy(rng.random((count, 4, 12)))
    return {"clean": D.clean, "Z": Z, "W": torch.from_numpy(rng.random((count, 6, 4)))}


def _edge(first: Tensor, second: Tensor, Z: Tensor, W: Tensor) -> dict[str, Tensor]:
    """Clean data (first, second), noise Z on the second half, one instance."""
    clean, noise = torch.cat([first, second], 1), torch.cat([0 * Z, Z], 1)
    return {"clean": clean[None], "Z": noise[None], "W": W[None]}


def layer_edges() -> dict[str, dict[str, Tensor]]:
    """Layers by hand: one that attains the tangent bound, tied and ill-conditioned ones.

    Examples
    --------
    >>> [case["W"].shape for case in layer_edges().values()] == [torch.Size([1, 4, 4])] * 4
    True
    """
    eye, J = torch.eye(4).double(), torch.ones(4, 4).double()
    corner = torch.diag(eye[0])
    return {
        "attained, X = (I, E₁₁/2)": _edge(eye, 0 * eye, corner / 2, eye),
        "tied": _edge(eye, eye, 0.1 * J, eye),
        "ill-conditioned X": _edge(J + 1e-3 * eye, J + 1e-3 * eye, 1e-4 * corner, eye),
        "ill-conditioned W": _edge(eye, eye, 1e-4 * corner, J + 1e-3 * eye),
    }


def built_layer(free: Case) -> dict[str, Tensor]:
    """A layer from free numbers clean, Z and W, its noise of Frobenius norm 0.1.

    Examples
    --------
    >>> one = torch.tensor([[[-3.0, 4.0]]])
    >>> case = built_layer({"clean": one, "Z": one, "W": one[..., :1]})
    >>> round(case["Z"].norm().item(), 6), case["W"].item()
    (0.1, 3.0)
    """
    Z = free["Z"].abs()
    Z = 0.1 * Z / Z.square().sum((1, 2), keepdim=True).sqrt()
    return {"clean": free["clean"].abs(), "Z": Z, "W": free["W"].abs()}


def optimum(X: Tensor, h: int) -> tuple[Tensor, Tensor]:
    r"""The positive optimum W (B, h, m), V (B, m, h) of a stack of positive X (B, m, n).

    Row i of W is :math:`cu_1+u_i`, in left singular vectors of X, with c half as large again as it
    must be for :math:`W\ge0`.

    Examples
    --------
    >>> X = torch.tensor([[[2.0, 1.0], [1.0, 2.0]]], dtype=torch.float64)
    >>> W, V = optimum(X, 2)
    >>> bool((W > 0).all()), torch.allclose(V @ W @ X, X)
    (True, True)
    """
    U = torch.linalg.svd(X, full_matrices=False)[0][..., :h]
    U = U * torch.sign(U.sum(-2, keepdim=True)[..., :1])
    c = 1.5 * (U.abs().amax(-1) / U[..., 0]).amax(-1)[:, None, None]
    G = torch.eye(h, dtype=X.dtype) + c * torch.eye(h, dtype=X.dtype)[0]
    return G @ U.mT, U @ torch.linalg.inv(G)


def near(X: Tensor, level: float | Tensor, rng: np.random.Generator) -> dict[str, Tensor]:
    """Steps of size ``level`` from the optimum of X (B, m, n) with two units.

    Examples
    --------
    >>> X = torch.eye(3, dtype=torch.float64)[None] + 0.1
    >>> near(X, 0.0, np.random.default_rng(0))["dV"].abs().max().item()
    0.0
    """
    W, V = optimum(X, 2)
    dW, dV = (level * torch.from_numpy(rng.standard_normal(A.shape)) for A in (W, V))
    return {"X": X, "W": W, "V": V, "dW": dW, "dV": dV}


def steps(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Steps of sizes from 1e-4 to 1 from the optima of random positive matrices (4, 7).

    Examples
    --------
    >>> steps(5, np.random.default_rng(0))["W"].shape
    torch.Size([5, 2, 4])
    """
    X = torch.from_numpy(rng.random((count, 4, 7)) + 0.02)
    level = torch.from_numpy(10 ** rng.uniform(-4, 0, (count, 1, 1)))
    return near(X, level, rng)


def step_edges(rng: np.random.Generator) -> dict[str, dict[str, Tensor]]:
    """Steps by hand: tied, ill-conditioned and nearly split data, and one along the orbit.

    Examples
    --------
    >>> list(step_edges(np.random.default_rng(0)))[-1]
    'attained, (2W, V/2)'
    """
    eye, J = torch.eye(4).double(), torch.ones(4, 4).double()
    split = J.clone()
    split[:2, 2:] = split[2:, :2] = 1e-3
    split[:2, :2] = 2.0
    edges = {
        "tied, σ₂ = σ₃ = σ₄": near((eye + J / 10)[None], 0.01, rng),
        "ill-conditioned": near((J + 1e-4 * eye.cumsum(0))[None], 1e-5, rng),
        "nearly split, f = 0": near(split[None], 0.01, rng),
    }
    orbit = near((eye + J / 10)[None], 0.0, rng)
    orbit["dW"], orbit["dV"] = orbit["W"], -orbit["V"] / 2
    return {**edges, "attained, (2W, V/2)": orbit}


def built_step(free: Case) -> dict[str, Tensor]:
    """A step from free numbers X, dW and dV.

    Examples
    --------
    >>> free = {"X": torch.zeros(1, 2, 3), "dW": torch.ones(1, 2, 2), "dV": torch.ones(1, 2, 2)}
    >>> built_step(free)["X"].unique().tolist()
    [1.0]
    """
    X = free["X"].exp()
    W, V = optimum(X, 2)
    return {"X": X, "W": W, "V": V, "dW": free["dW"] / 10, "dV": free["dV"] / 10}
