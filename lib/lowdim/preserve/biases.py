r"""Layers with a bias: :math:`Y=\max(0,WX+b\mathbf 1^\top)`, the bias as a column of W.

A row of ones below the data makes a bias part of the weights, as Section 3 of the paper says. The
augmented clean data have one dimension more, r + 1 in all. A case has ``clean`` and ``Z``
(B, m, n), ``W`` (B, h, m), ``b`` (B, h, 1), ``rank`` (B,) (of the clean data) and ``epsilon`` (B,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case, Climb, drawn, normal
from lowdim.linalg import subspaces
from lowdim.nets import training
from lowdim.preserve import drift, foils, preservation
from lowdim.preserve.learning import Fitted, Setting, top

__all__ = [
    "Augmented", "Look", "augmented", "climb", "constant", "eckart_young", "lifted", "look",
    "negative_shares", "ones_below", "over_least", "random", "small", "trained",
]  # fmt: skip


def ones_below(X: Tensor) -> Tensor:
    """The data (..., m, n) with a row of ones below them, (..., m + 1, n).

    Examples
    --------
    >>> ones_below(torch.zeros(1, 2)).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    return torch.cat([X, torch.ones_like(X[..., :1, :])], -2)


def lifted(A: Tensor) -> Tensor:
    """The smallest biases (..., h, 1), none below zero, for which A + b (..., h, n) is not cut.

    Examples
    --------
    >>> lifted(torch.tensor([[1.0, -2.0], [3.0, 4.0]])).tolist()
    [[2.0], [0.0]]
    """
    return (-A).amax(-1, keepdim=True).clamp_min(0)


def constant(rank: int) -> float:
    """The numerator of (2) for the augmented data, √(2⁷(r + 1)).

    Examples
    --------
    >>> constant(1)
    16.0
    """
    return float(128 * (rank + 1)) ** 0.5


@dataclass(frozen=True)
class Augmented:
    """A batch of layers on augmented data.

    layer: the quantities of Theorem 3.1 at r + 1; signal: δ₀ (B,), the smaller of the two clean
    singular values number r + 1; error: (B,) the larger of ‖Z‖ and ‖WZ‖; needed: the bound on it.
    """

    layer: preservation.Layer
    signal: Tensor
    error: Tensor
    needed: Tensor
    epsilon: Tensor
    rank: int

    @property
    def eta(self) -> Tensor:
        """The right side of (2), with the ε of the case."""
        return constant(self.rank) * self.layer.error / self.epsilon

    @property
    def top(self) -> Tensor:
        """σ_{r+1}(Y) (B,)."""
        return subspaces.singular_values(self.layer.output)[..., self.rank]


def augmented(case: Case) -> Augmented:
    """Measure a case at r + 1, with ones below the data and the bias beside W.

    Examples
    --------
    >>> q = augmented(random(4, np.random.default_rng(0)))
    >>> bool((q.layer.cut == 0).all() and (q.eta < q.layer.delta).all())
    True
    """
    r = int(case["rank"][0])
    clean = ones_below(case["clean"])
    Z = torch.nn.functional.pad(case["Z"], (0, 0, 0, 1))
    W = torch.cat([case["W"], case["b"]], -1)
    q = preservation.layer(clean, Z, W, r + 1)
    signal = torch.minimum(subspaces.singular_values(clean)[..., r], q.signal)
    epsilon = case["epsilon"]
    needed = signal * epsilon / (constant(r) + 2 * epsilon)
    return Augmented(q, signal, torch.maximum(q.noise, q.mapped_noise), needed, epsilon, r)


def _scaled(clean: Tensor, Z: Tensor, W: Tensor, epsilon: Tensor, share: Tensor) -> Case:
    """A case whose noise has the given share of what the theorem allows, with smallest biases."""
    rank = torch.full((len(W),), float(torch.linalg.matrix_rank(clean[0])))
    case = {"clean": clean, "Z": 0 * Z, "W": W, "rank": rank, "epsilon": epsilon}
    for _ in range(3):  # the bias depends on the noise, and the allowed noise on the bias
        q = augmented({**case, "b": lifted(W @ (clean + case["Z"]))})
        size = torch.maximum(subspaces.spectral_norm(Z), subspaces.spectral_norm(W @ Z))
        case["Z"] = (share * q.needed / size.clamp_min(1e-300))[:, None, None] * Z
    return {**case, "b": lifted(W @ (clean + case["Z"]))}


def random(count: int, rng: np.random.Generator) -> Case:
    """Two planes in six dimensions, seven points each, under eight units; noise that is allowed.

    Examples
    --------
    >>> random(3, np.random.default_rng(0))["b"].shape
    torch.Size([3, 8, 1])
    """
    bases = torch.linalg.qr(normal(2, 6, 2)(count, rng)).Q
    V = normal(2, 2, 7)(count, rng)
    clean = torch.cat([bases[:, k] @ V[:, k] for k in (0, 1)], 2)
    epsilon = torch.from_numpy(10 ** rng.uniform(-3, 0, count))
    share = torch.from_numpy(rng.uniform(0.5, 0.999, count))
    return _scaled(clean, normal(6, 14)(count, rng), normal(8, 6)(count, rng), epsilon, share)


def small(free: Case) -> Case:
    """A line with three points, two units: the smallest layers with room for a bias.

    ``free`` has ``c`` (B, 1, 3), ``w`` (B, 2, 1) and ``z`` (B, 1, 3).

    Examples
    --------
    >>> small(climb().start(2, np.random.default_rng(0)))["W"].shape
    torch.Size([2, 2, 1])
    """
    count = len(free["c"])
    epsilon = torch.full((count,), 0.5, dtype=torch.float64)
    return _scaled(free["c"], free["z"], free["w"], epsilon, 1.998 * epsilon)


def climb() -> Climb:
    """A search over :func:`small` for layers that (2) or the angle hardly admits.

    Examples
    --------
    >>> climb().method
    'simplex'
    """
    start = drawn({"c": normal(1, 3), "w": normal(2, 1), "z": normal(1, 3)})
    return Climb(small, start, starts=8, steps=150, method="simplex")


@dataclass(frozen=True)
class Look:
    """What the ReLU of a trained network cuts, means over draws.

    negative: the share of WX + b below zero; cut: ‖Y − (WX + b)‖/‖WX + b‖; distance: of P(Y) from
    P(X*), normalized; accuracy: of clusters cut from P(Y); loss: over the least that any network
    without activation reaches.
    """

    negative: float
    cut: float
    distance: float
    accuracy: float
    loss: float


def eckart_young(X: Tensor, units: int, *, centred: bool) -> Tensor:
    """The least loss per point (T,) of autoencoders without activation on X (T, m, n).

    The squares of the singular values beyond ``units``, over n; of the centred data if the network
    has biases.

    Examples
    --------
    >>> X = torch.tensor([[[1.0, 3.0], [0.0, 0.0]]])
    >>> eckart_young(X, 1, centred=True).item(), eckart_young(3 * X, 0, centred=False).item()
    (0.0, 45.0)
    """
    A = X.double()
    A = A - A.mean(-1, keepdim=True) if centred else A
    return subspaces.singular_values(A)[..., units:].square().sum(-1) / X.shape[-1]


def trained(setting: Setting, kind: str, *, bias: bool, draws: int, steps: int) -> Fitted:
    """The autoencoder of Section 5 on data of a kind of :data:`lowdim.preserve.foils.KINDS`.

    Examples
    --------
    >>> trained(Setting(80, 20), "clusters", bias=True, draws=1, steps=3).outputs()[0].shape
    torch.Size([1, 20, 80])
    """
    return setting.fit(*foils.data(setting, kind, draws=draws), steps=steps, bias=bias)


def negative_shares(
    setting: Setting, kind: str, *, bias: bool, draws: int, steps: int
) -> tuple[list[int], Tensor]:
    """Steps, and the shares (looks, draws) of WX + b below zero at each, while a network trains.

    Examples
    --------
    >>> at, shares = negative_shares(Setting(80, 20), "clusters", bias=True, draws=1, steps=100)
    >>> at[0], at[-1], shares.shape == (len(at), 1)
    (0, 100, True)
    """
    clean, noise = foils.data(setting, kind, draws=draws)
    net: Any = setting.net(bias=bias)
    run = training.train(
        training.Objective(net, (clean + noise).float(), normalization="sample"),
        net.init(trials=draws, seed=setting.seed),
        training.GD(0.005),
        steps,
        schedule=sorted({round(steps * (i / 10) ** 2) for i in range(11)}),
        measure={"negative": lambda state: (state.pre[0] < 0).double().mean((-2, -1))},
    )
    return run.trace_steps, run.trace["negative"]


def over_least(fitted: Fitted) -> Tensor:
    """The final loss per point (T,) over that of :func:`eckart_young`.

    Examples
    --------
    >>> run = trained(Setting(80, 20), "clusters", bias=True, draws=1, steps=3)
    >>> bool((over_least(run) > 1).all())
    True
    """
    W, b = fitted.run.weights[0]
    least = eckart_young(fitted.X, W.shape[-2], centred=b is not None)
    return fitted.run.trace["loss"][-1].double() / least


def look(fitted: Fitted, setting: Setting, *, learned: bool = True) -> Look:
    """What a network cuts and keeps, after training or before it.

    Examples
    --------
    >>> setting = Setting(80, 20)
    >>> run = trained(setting, "clusters", bias=True, draws=1, steps=3)
    >>> 0 < look(run, setting).negative < 1
    True
    """
    A, Y = (part.double() for part in fitted.outputs(learned=learned))
    V, norm = top(Y), subspaces.spectral_norm
    loss = over_least(fitted).mean().item() if learned else float("nan")
    return Look(
        negative=(A < 0).double().mean().item(),
        cut=(norm(Y - A) / norm(A)).mean().item(),
        distance=drift.apart(fitted.star, V).mean().item(),
        accuracy=setting.read(V),
        loss=loss,
    )
