"""Controls for a trained layer: maps that nobody trained, what they keep and what they cut."""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim.checks import choice
from lowdim.data.unions import UnionOfSubspaces
from lowdim.linalg import subspaces
from lowdim.preserve import drift
from lowdim.preserve.learning import Setting, top
from lowdim.seeds import generator

__all__ = ["KINDS", "cut", "kept", "rows"]

KINDS = ("orthonormal, h rows", "orthogonal, m rows", "identity", "leading left vectors of X")


def rows(kind: str, D: UnionOfSubspaces, setting: Setting) -> Tensor:
    """The map W (T, ·, m) of one of :data:`KINDS` for the data D.

    Raises
    ------
    ValueError
        If ``kind`` is none of these.

    Examples
    --------
    >>> setting = Setting(80, 20)
    >>> rows("orthonormal, h rows", setting.draw(draws=2), setting).shape
    torch.Size([2, 20, 80])
    """
    choice(kind, KINDS, "kind")
    draws, m, h = len(D.clean), setting.size, setting.hidden
    if kind == "identity":
        return torch.eye(m, dtype=torch.float64).expand(draws, -1, -1)
    if kind == "leading left vectors of X":
        return torch.linalg.svd(D.noisy)[0][..., :h].mT
    rngs = [generator(setting.seed, i, kind) for i in range(draws)]
    shape = (m, m if "m rows" in kind else h)
    normal = torch.stack([torch.from_numpy(rng.standard_normal(shape)) for rng in rngs])
    return torch.linalg.qr(normal).Q.mT


def kept(D: UnionOfSubspaces, A: Tensor, setting: Setting) -> list[float]:
    """What WX = A (T, h, n) and its ReLU keep, means over draws.

    Distances from P(X*) to P(WX) and P(Y), from P(X) to the same, and the accuracies of both.

    Examples
    --------
    >>> setting = Setting(80)
    >>> D = setting.draw(draws=1)
    >>> round(kept(D, D.noisy, setting)[2], 6)
    0.0
    """
    P, Q = top(A), top(A.relu())
    far = [drift.apart(top(M), V).mean().item() for M in (D.clean, D.noisy) for V in (P, Q)]
    return [*far, setting.read(P), setting.read(Q)]


def cut(D: UnionOfSubspaces, W: Tensor) -> list[float]:
    """What the ReLU after W (T, h, m) cuts, means over draws.

    The share of negative entries of WX, ‖Y−WX‖/‖WX‖, and the price ‖WZ‖_F/‖WX*‖_F.

    Examples
    --------
    >>> D = Setting(80).draw(0.0, draws=1)
    >>> cut(D, torch.zeros(1, 1, 80, dtype=torch.float64) + 1e-3)[2]
    0.0
    """
    A, norm, frobenius = W @ D.noisy, subspaces.spectral_norm, torch.linalg.matrix_norm
    part = (A < 0).double().mean().item()
    size = (norm(A.relu() - A) / norm(A)).mean().item()
    price = (frobenius(W @ D.noise) / frobenius(W @ D.clean)).mean().item()
    return [part, size, price]
