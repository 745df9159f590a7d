r"""Stationary points of small networks, found to rounding and with their gradient reported.

Statements about stationary points say nothing about a network whose gradient is merely small,
unless the gradient's share is added. Here the objective is Part II's,
:math:`\frac1N\sum_i\|f(x_i)-y_i\|^2+\lambda\|\Theta\|^2` over all weights and biases, minimized by
L-BFGS and finished by Newton steps with the whole Hessian, which networks of up to some two
thousand parameters allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import grad, jvp, vmap

from lowdim import checks
from lowdim.collapse.gradients import _SMOOTH
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights, spread

__all__ = ["Stationary", "find"]

_PIECE = 256  # columns of the Hessian at a time


@dataclass(frozen=True)
class Stationary:
    """Points reached, T trials.

    weights: as in ``networks``; gradients: those of the objective with weight decay, in the same
    shapes; gradient_norm, before: (T,) its Euclidean norm, and what L-BFGS had left of it; loss:
    (T,) without the penalty; curvature: (T,) least eigenvalue of the Hessian (NaN where no Newton
    step was needed), positive at a strict local minimum; steps: (T,) of L-BFGS and Newton.
    """

    weights: Weights
    gradients: Weights
    gradient_norm: Tensor
    before: Tensor
    loss: Tensor
    curvature: Tensor
    steps: Tensor
    decay: float


def find(
    net: Dense,
    weights: Weights,
    X: Tensor,
    target: Tensor | None = None,
    *,
    decay: float,
    goal: float = 1e-10,
    steps: int = 2000,
    newton: int = 20,
) -> Stationary:
    r"""Go from ``weights`` to a stationary point of loss per sample plus ``decay`` · ‖Θ‖².

    Parameters
    ----------
    X, target
        (T, m, N) and (T, c, N), or without T; float64. The target is X unless given.
    decay
        Part II's λ: the penalty is λ‖Θ‖² (its gradient 2λΘ), on weights and biases.
    goal
        Norm of the gradient to reach.
    steps, newton
        At most so many steps of L-BFGS, then of Newton; 0 leaves either out.

    Raises
    ------
    ValueError
        If ``decay`` is not above 0, an activation is not identity, tanh or sigmoid, or as
        ``training.train``.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> point = find(net, [(torch.ones(1, 1, 1).double(), None)], torch.ones(1, 1).double(),
    ...              torch.ones(1, 1).double(), decay=1.0)
    >>> round(point.weights[0][0].item(), 12), bool(point.gradient_norm < 1e-10)
    (0.5, True)
    """
    if not 0 < decay < math.inf:
        raise ValueError(f"decay must be a number above 0; you gave {decay!r}.")
    checks.whole(newton, "newton", 0)
    for act in net.activations:
        checks.choice(act.name, [name for name in _SMOOTH if name != "relu"], "activation")
    run = training.train(
        net, weights, X, target, method="lbfgs", steps=steps, loss="sample",
        weight_decay=2 * decay, gradient_norm=goal, schedule=[0], progress=False,
    )  # fmt: skip
    data = net.check(run.weights, X)
    goals = data if target is None else spread(target, len(data), net.widths[-1], "target")
    ends, curvature, taken = [], [], []
    for trial in range(len(data)):
        mine = [(W[trial], None if b is None else b[trial]) for W, b in run.weights]
        end, low, count = _newton(net, mine, data[trial], goals[trial], decay, goal, newton)
        ends.append(end)
        curvature.append(low)
        taken.append(count)
    final = [
        (
            torch.stack([end[k][0] for end in ends]),
            torch.stack([end[k][1] for end in ends]) if net.bias else None,
        )
        for k in range(net.depth)
    ]
    settings = {"loss": "sample", "weight_decay": 2 * decay}
    grads = training.gradients(net, final, data, goals, **settings)
    squares = [t.flatten(1).square().sum(1) for pair in grads for t in pair if t is not None]
    return Stationary(
        weights=final,
        gradients=grads,
        gradient_norm=torch.stack(squares).sum(0).sqrt(),
        before=run.gradient_norm,
        loss=training.objective(net, final, data, goals, loss="sample"),
        curvature=torch.tensor(curvature, dtype=torch.float64),
        steps=run.steps + torch.tensor(taken),
        decay=decay,
    )


def _newton(net, weights, X, Y, decay, goal, most):
    """Newton steps, downhill until the Hessian is positive; weights, least eigenvalue, steps."""
    parts = [t for pair in weights for t in pair if t is not None]
    shapes, sizes = [t.shape for t in parts], [t.numel() for t in parts]
    flat = torch.cat([t.reshape(-1) for t in parts])

    def unpack(vector: Tensor) -> list[Tensor]:
        pieces = torch.split(vector, sizes)
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    def objective(vector: Tensor) -> Tensor:
        h, pieces = X, iter(unpack(vector))
        for act in net.activations:
            h = next(pieces) @ h
            if net.bias:
                h = h + next(pieces)
            h = _SMOOTH[act.name][0](h)
        return (h - Y).square().sum() / X.shape[-1] + decay * vector.square().sum()

    def gradient(vector: Tensor) -> Tensor:
        leaf = vector.detach().requires_grad_()
        return torch.autograd.grad(objective(leaf), leaf)[0]

    def hessian(vector: Tensor) -> Tensor:
        def product(way: Tensor) -> Tensor:
            return jvp(grad(objective), (vector,), (way,))[1]

        # in pieces: all columns at once would need gigabytes
        return vmap(product, chunk_size=_PIECE)(torch.eye(len(vector), dtype=vector.dtype))

    g, low, count, damping = gradient(flat), math.nan, 0, 1e-3
    value = float(objective(flat))
    while count < most and float(g.norm()) > goal:
        values, vectors = torch.linalg.eigh(hessian(flat))
        low, along, count = float(values[0]), vectors.mT @ g, count + 1
        pure = flat - vectors @ (along / values)
        if low > 0 and float(gradient(pure).norm()) < 0.1 * float(g.norm()):
            flat = pure  # close to a strict minimum: Newton's own step
        else:
            flat, damping = _descend(objective, flat, value, values, vectors, along, damping)
        g, value = gradient(flat), float(objective(flat))
    pieces = iter(unpack(flat.detach()))
    return [(next(pieces), next(pieces) if net.bias else None) for _ in weights], low, count


def _descend(objective, flat, value, values, vectors, along, damping):
    """A step down along all eigenvectors, also those of negative curvature; the damping adapts."""
    for _ in range(30):
        trial = flat - vectors @ (along / (values.abs() + damping))
        if float(objective(trial)) < value:
            return trial, max(damping / 8, 1e-12)
        damping = max(4 * damping, 1e-10)
    return flat, damping
