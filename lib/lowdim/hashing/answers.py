"""Answers to m classes without a network: outputs, representations and factors to attack.

Outputs Y are (B, m, n, m): class, point, row of the output. Representations R are (B, m, n, T), and
``A`` (B, m, T) reads outputs off them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import factored

__all__ = [
    "apart", "balanced_pairs", "centred", "loss", "misread", "numbers", "one_direction",
    "outputs", "random_answers", "simplex", "spread_out", "tied", "varies_off_class",
]  # fmt: skip


def loss(Y: Tensor) -> Tensor:
    """The weighted square loss (B,) of outputs Y (B, m, n, m) against one-hot targets.

    Examples
    --------
    >>> loss(torch.zeros(1, 3, 2, 3)).item()
    0.5
    """
    return factored.weighted_loss(*factored.columns(Y))


def misread(Y: Tensor) -> Tensor:
    """The share (B,) of points of which another class's output is as large as their own.

    Examples
    --------
    >>> misread(tied(3)["Y"]).item() * 3
    1.0
    """
    own = torch.diagonal(Y, dim1=1, dim2=3).permute(0, 2, 1)[..., None]
    same = torch.eye(Y.shape[1], dtype=torch.bool)[:, None]
    others = Y.masked_fill(same, -torch.inf)
    return (others >= own - 1e-12).any(-1).double().mean((1, 2))  # a tie is an error


def centred(Y: Tensor) -> tuple[Tensor, Tensor]:
    """What replacing outputs by their class means takes off the loss, and V(ŷ): (B,) both.

    Examples
    --------
    >>> gain, V = centred(varies_off_class()["Y"])
    >>> bool((gain - V / 4).abs() < 1e-12)
    True
    """
    mean = Y.mean(2, keepdim=True)
    return loss(Y) - loss(mean.expand_as(Y)), (Y - mean).square().sum(-1).mean((1, 2))


def random_answers(
    count: int, rng: np.random.Generator, *, m: int = 4, n: int = 3
) -> dict[str, Tensor]:
    """Outputs around the targets, at all sizes of error.

    Examples
    --------
    >>> tuple(random_answers(5, np.random.default_rng(0))["Y"].shape)
    (5, 4, 3, 4)
    """
    size = torch.from_numpy(10 ** rng.uniform(-2, 0.5, (count, 1, 1, 1)))
    noise = torch.from_numpy(rng.standard_normal((count, m, n, m)))
    return {"Y": torch.eye(m, dtype=torch.float64)[:, None] + size * noise}


def tied(m: int) -> dict[str, Tensor]:
    """One point misread at the least loss, ŷ_l = ŷ_j = (m - 1)/m; all others are right.

    Examples
    --------
    >>> tied(2)["Y"][0, 0, 0].tolist()
    [0.5, 0.5]
    """
    Y = torch.eye(m, dtype=torch.float64)[:, None].clone()
    Y[0, 0, 0] = Y[0, 0, 1] = (m - 1) / m
    return {"Y": Y[None]}


def varies_off_class() -> dict[str, Tensor]:
    """Three classes of two points; one output varies, and it is not that of its own class.

    Examples
    --------
    >>> varies_off_class()["Y"].square().sum().item()
    2.0
    """
    Y = torch.zeros(1, 3, 2, 3, dtype=torch.float64)
    Y[0, 0, :, 1] = torch.tensor([1.0, -1.0])
    return {"Y": Y}


def balanced_pairs(count: int, rng: np.random.Generator, *, top: float) -> dict[str, Tensor]:
    """Products W (B, 3, 4), centred features Z (B, 4, 6), and their variance V (B,) up to ``top``.

    Examples
    --------
    >>> case = balanced_pairs(5, np.random.default_rng(0), top=0.5)
    >>> bool((case["V"] <= 0.5).all())
    True
    """
    W = torch.from_numpy(rng.standard_normal((count, 3, 4)))
    half = count // 2
    W[:half] = W[:half] * torch.from_numpy(10 ** rng.uniform(-2, 0, (half, 1, 4)))
    Z = torch.from_numpy(rng.standard_normal((count, 4, 6)))
    return {"W": W, "Z": Z, "V": torch.from_numpy(rng.uniform(0, 1, count)) * top}


def numbers(**given: float) -> dict[str, Tensor]:
    """One instance of vectors of a single entry, (1, 1) each.

    Examples
    --------
    >>> numbers(a=0.5)
    {'a': tensor([[0.5000]], dtype=torch.float64)}
    """
    return {name: torch.tensor([[x]], dtype=torch.float64) for name, x in given.items()}


def one_direction(variance: float) -> dict[str, Tensor]:
    """A product of three equal singular values, and features along the first of them only.

    Examples
    --------
    >>> one_direction(0.5)["V"].tolist()
    [0.5]
    """
    Z = torch.zeros(1, 4, 4, dtype=torch.float64)
    Z[0, 0, 0] = 1.0
    W = torch.eye(3, 4, dtype=torch.float64)[None]
    return {"W": W, "Z": Z, "V": torch.tensor([variance], dtype=torch.float64)}


def spread_out(
    count: int, rng: np.random.Generator, *, m: int = 4, n: int = 2, T: int = 3
) -> dict[str, Tensor]:
    """Rows A and representations R around unit vectors.

    Examples
    --------
    >>> [tuple(v.shape) for v in spread_out(5, np.random.default_rng(0)).values()]
    [(5, 4, 3), (5, 4, 2, 3)]
    """
    eye = torch.eye(m, T, dtype=torch.float64)
    A = eye + 0.3 * torch.from_numpy(rng.standard_normal((count, m, T)))
    return {
        "A": A,
        "R": eye[:, None] + 0.3 * torch.from_numpy(rng.standard_normal((count, m, n, T))),
    }


def simplex(m: int, a: float, *, far: float = 1e-4) -> dict[str, Tensor]:
    """Corners of a regular simplex far from the origin: outputs 1 - a on the class, a off it.

    Examples
    --------
    >>> case = simplex(3, 0.2)
    >>> outputs(case["A"], case["R"])[0, 0, 0].round(decimals=9).tolist()
    [0.8, 0.2, 0.2]
    """
    corners = torch.linalg.svd(torch.eye(m, dtype=torch.float64) - 1 / m)[0][:, : m - 1]
    scale = (1 - 2 * a) ** 0.5
    U, last = scale * corners, torch.ones(m, 1, dtype=torch.float64)
    A = torch.cat([U, far * last], 1)
    R = torch.cat([U, (a + scale**2 / m) / far * last], 1)
    return {"A": A[None], "R": R[None, :, None]}


def outputs(A: Tensor, R: Tensor) -> Tensor:
    """Outputs (B, m, n, m) of representations R (B, m, n, T) under A (B, m, T).

    Examples
    --------
    >>> outputs(torch.eye(2)[None], torch.ones(1, 2, 5, 2)).shape
    torch.Size([1, 2, 5, 2])
    """
    return torch.einsum("blt,bjnt->blnj", A, R).permute(0, 3, 2, 1)


def apart(R: Tensor) -> Tensor:
    """H (B, m): mean squared distances of each manifold to the others, i-th point to i-th point.

    Examples
    --------
    >>> apart(torch.tensor([[[[0.0]], [[1.0]], [[3.0]]]])).tolist()
    [[5.0, 2.5, 6.5]]
    """
    D = (R[:, :, None] - R[:, None]).square().sum(-1).mean(-1)
    return D.sum(2) / (R.shape[1] - 1)
