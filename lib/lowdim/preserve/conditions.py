r"""Condition (2) of Theorem 3.1 on layers that were trained: three gaps against three sizes.

The gaps are those of X* and X, of WX* and WX, of Y and WX; the sizes are :math:`\|Z\|`,
:math:`\|WZ\|` and :math:`\|Y-WX\|`. Each gap must exceed :math:`\sqrt{2^7r}/\varepsilon` times the
largest size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from lowdim.evidence.values import Share
from lowdim.evidence.verdicts import compared
from lowdim.linalg import subspaces
from lowdim.nets import training
from lowdim.preserve.learning import CLUSTERS, RANK, Setting

__all__ = ["CONSTANT", "CONSTANT_BIASED", "epsilon", "gaps", "last_level", "lines", "trained_at"]

CONSTANT = (128 * RANK) ** 0.5
CONSTANT_BIASED = (128 * (RANK + 1)) ** 0.5  # the row of ones is a direction more


def gaps(
    clean: Tensor, Z: Tensor, W: Tensor, b: Tensor | float = 0.0, *, rank: int = RANK
) -> tuple[Tensor, Tensor]:
    """The three gaps and the three sizes, each (T, 3), of layers W (T, h, m) with biases ``b``.

    Examples
    --------
    >>> D = Setting(80).draw(0.0, draws=1)
    >>> _, sizes = gaps(D.clean, D.noise, torch.eye(80, dtype=torch.float64)[None])
    >>> sizes[:, :2].tolist()
    [[0.0, 0.0]]
    """
    A, A_star = W @ (clean + Z) + b, W @ clean + b
    Y, norm = A.relu(), subspaces.spectral_norm
    pairs = ((clean, clean + Z), (A_star, A), (Y, A))
    delta = torch.stack([subspaces.gap(*pair, rank) for pair in pairs], 1)
    return delta, torch.stack([norm(Z), norm(A - A_star), norm(Y - A)], 1)


def epsilon(star: Tensor) -> Tensor:
    """ε (T,): the smallest absolute entry within a cluster of projectors with bases (T, n, 16).

    Points are ordered by cluster, and clusters are of one size.

    Examples
    --------
    >>> epsilon(torch.full((1, 8, 16), 0.5)).item()
    4.0
    """
    share = star.shape[-2] // CLUSTERS
    same = torch.block_diag(*[torch.ones(share, share)] * CLUSTERS).bool()
    return torch.stack([(V @ V.mT).abs()[same].min() for V in star])


def trained_at(
    setting: Setting, noise: float, *, draws: int, steps: int, bias: bool = False
) -> tuple[Tensor, Tensor]:
    """Gaps and sizes, each (draws, 3), after training at noise of variance ``noise``.

    With ``bias`` the data have a row of ones below them and the gaps are those at r + 1.

    Examples
    --------
    >>> delta, size = trained_at(Setting(80, 20), 0.1, draws=2, steps=1)
    >>> delta.shape == size.shape == (2, 3)
    True
    """
    D = setting.draw(noise, draws=draws)
    net: Any = setting.net(bias=bias)
    task = training.Objective(net, D.noisy.float(), normalization="sample")
    start = net.init(trials=draws, seed=setting.seed)
    run = training.train(task, start, training.GD(0.005), steps, schedule=steps)
    W, b = run.weights[0]
    if b is None:
        return gaps(D.clean, D.noise, W.double())
    pad = torch.nn.functional.pad
    clean, Z = pad(D.clean, (0, 0, 0, 1), value=1.0), pad(D.noise, (0, 0, 0, 1))
    return gaps(clean, Z, torch.cat([W, b], -1).double(), rank=RANK + 1)


def last_level(levels: Sequence[float], shares: Sequence[float]) -> float | None:
    """The last level at which at least half of the draws satisfy a condition; None if at none.

    Examples
    --------
    >>> last_level([0.0, 0.1, 0.2], [1.0, 0.5, 0.25]), last_level([0.0, 0.1], [0.2, 0.0])
    (0.1, None)
    """
    met = [level for level, share in zip(levels, shares, strict=True) if share >= 0.5]
    return met[-1] if met else None


def lines(
    levels: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    draws: int,
    agree: Mapping[str, bool],
) -> list[dict[str, object]]:
    """Figure 2, left, line by line: shares of ``draws`` at each level, by condition.

    ``agree`` says of the conditions that are the paper's whether they show what it shows; of the
    others with ε = 1 a line says up to which level at least half of the draws satisfy them.

    Examples
    --------
    >>> curves = {"(2)": [0.5, 0.0], "(4) alone, ε = 1": [1.0, 0.5]}
    >>> two, four = lines([0.0, 0.1], curves, draws=4, agree={"(2)": False})
    >>> two["measured"], four["measured"]
    ({'count': 2, 'of': 8}, 0.1)
    """
    found = []
    for name, agrees in agree.items():
        met = Share(round(sum(curves[name]) * draws), len(levels) * draws)
        found.append(compared("frequency of δ > η", "falls with noise", met, name, agrees))
    reading = "a condition dropped; the last s² at which half of the draws satisfy it"
    for name, curve in curves.items():
        if name not in agree and "ε = 1" in name:
            found.append(compared(name, "not shown", last_level(levels, curve), reading))
    return found
