"""Random networks 5-7-6-5 with a batch of points, as cases for an attack; ranks of gradients."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.collapse import gradients
from lowdim.nets.networks import Dense, Weights

__all__ = ["ACTIVATIONS", "cut_gap", "draw", "network", "numerical_rank"]

ACTIVATIONS = ("tanh", "relu", "sigmoid", "identity")
WIDTHS = (5, 7, 6, 5)
Case = Mapping[str, Tensor]


def draw(
    count: int,
    rng: np.random.Generator,
    *,
    distinct: int,
    points: int | None = None,
    activation: str = "tanh",
    scale: float = 1.0,
) -> dict[str, Tensor]:
    """Normal weights, inputs X (count, 5, points) and labels Y (count, 5, points).

    ``distinct`` of the inputs differ; they are repeated in turn until there are ``points`` of them
    (no more than ``distinct`` unless given). ``scale`` multiplies the weights, not the biases.

    Raises
    ------
    ValueError
        If the activation is unknown.

    Examples
    --------
    >>> case = draw(2, np.random.default_rng(0), distinct=3, points=24)
    >>> case["X"].shape, len(torch.unique(case["X"][0], dim=1).mT)
    (torch.Size([2, 5, 24]), 3)
    """
    checks.choice(activation, ACTIVATIONS, "activation")

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    case = {"act": torch.full((count,), float(ACTIVATIONS.index(activation)))}
    for k, (i, o) in enumerate(pairwise(WIDTHS)):
        case[f"W{k}"], case[f"b{k}"] = scale * normal(o, i) / i**0.5, normal(o, 1)
    X = normal(WIDTHS[0], distinct)
    case["X"] = X if points is None else X[..., torch.arange(points) % distinct]
    case["Y"] = normal(WIDTHS[-1], case["X"].shape[-1])
    return case


def network(case: Case) -> tuple[Dense, Weights]:
    """The network of a case and its weights; the activation acts on the output too.

    Examples
    --------
    >>> net, weights = network(draw(2, np.random.default_rng(0), distinct=3, activation="relu"))
    >>> net.activations[-1].name, weights[0][0].shape
    ('relu', torch.Size([2, 7, 5]))
    """
    act = ACTIVATIONS[int(case["act"][0])]
    weights = [(case[f"W{k}"], case[f"b{k}"]) for k in range(len(WIDTHS) - 1)]
    return Dense(WIDTHS, activation=act, output=act), weights


def numerical_rank(G: Tensor) -> Tensor:
    """Singular values above 1e-11 of the largest (...), of matrices (..., m, n).

    Examples
    --------
    >>> numerical_rank(torch.diag(torch.tensor([1.0, 1e-3, 1e-14]).double())).item()
    2.0
    """
    s = torch.linalg.svdvals(G)
    return (s > 1e-11 * s[..., :1].clamp_min(1e-300)).sum(-1).double()


def cut_gap(case: Case) -> Tensor:
    """How far a sample's gradient depends on where the network is cut (count,).

    The gradient in W_l taken as a function of the data, and of the hidden points of a layer j < l
    held fixed: the largest difference over all l and j < l, against one plus its size (slopes of
    saturated units are rounding).

    Examples
    --------
    >>> bool((cut_gap(draw(4, np.random.default_rng(0), distinct=3)) < 1e-12).all())
    True
    """
    net, weights = network(case)
    whole = gradients.factors(net, weights, case["X"], case["Y"])
    hidden = [case["X"], *net.forward(weights, case["X"])[1]]
    worst = torch.zeros(len(case["X"]), dtype=torch.float64)
    for layer, (D, Z) in enumerate(whole, start=1):
        G = (D.mT[..., :, None] * Z.mT[..., None, :]).flatten(1)
        size = G.norm(dim=1) + 1
        for j in range(layer):
            at = {"layer": layer, "start": j}
            H = gradients.sample_gradients(net, weights, hidden[j], case["Y"], **at).flatten(1)
            worst = torch.maximum(worst, (G - H).norm(dim=1) / size)
    return worst
