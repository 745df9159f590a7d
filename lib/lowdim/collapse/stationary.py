r"""Stationary points of small networks, found to rounding and with their gradient reported.

Statements about stationary points say nothing about a network whose gradient is merely small,
unless the gradient's share is added. Here an objective, Part II's
:math:`\frac1N\sum_i\|f(x_i)-y_i\|^2+\lambda\|\Theta\|^2` for instance, is minimized by L-BFGS and
finished by Newton steps with the whole Hessian, which networks of up to some two thousand
parameters allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.func import grad, jvp, vmap

from lowdim import checks
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights, flat, mapped
from lowdim.nets.training import Objective

__all__ = ["SMOOTH", "Stationary", "find"]

SMOOTH = ("identity", "tanh", "sigmoid")  # activations with a Hessian everywhere
_PIECE = 256  # columns of the Hessian at a time


@dataclass(frozen=True)
class Stationary:
    """Points reached, T trials.

    weights: as in ``networks``; gradients: those of the objective with its penalty, in the same
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


def find(
    objective: Objective,
    weights: Weights,
    *,
    goal: float = 1e-10,
    steps: int = 2000,
    newton: int = 20,
) -> Stationary:
    r"""Go from ``weights`` (float64) to a stationary point of ``objective``.

    Parameters
    ----------
    goal
        Norm of the gradient to reach.
    steps, newton
        At most so many steps of L-BFGS, then of Newton; 0 leaves either out.

    Raises
    ------
    ValueError
        If an activation is not in ``SMOOTH``, the penalty is not above 0 everywhere (without it
        stationary points need not be isolated), or as ``training.train``.

    Examples
    --------
    >>> from lowdim.nets.networks import Dense
    >>> one = torch.ones(1, 1).double()
    >>> task = Objective(Dense((1, 1), bias=False), one, one, normalization="sample", penalty=1.0)
    >>> point = find(task, [(torch.ones(1, 1, 1).double(), None)])
    >>> round(point.weights[0][0].item(), 12), bool(point.gradient_norm < 1e-10)
    (0.5, True)
    """
    checks.whole(newton, "newton", 0)
    for act in cast(Dense, objective.net).activations:
        checks.choice(act.name, SMOOTH, "activation")
    if not bool((torch.as_tensor(objective.penalty) > 0).all()):
        raise ValueError(f"penalty must be above 0; you gave {objective.penalty!r}.")
    run = training.train(
        objective, weights, training.LBFGS(), steps, gradient_norm=goal, schedule=[0]
    )
    final = mapped(run.weights, torch.clone)
    curvature, taken = [], []
    for trial in range(len(run.loss)):
        mine = [t[trial : trial + 1] for t in flat(final)]
        function = _Function(objective.trial(trial), mine)
        x, low, count = _newton(function, function.flatten(mine), goal, newton)
        for part, piece in zip(mine, function.pieces(x), strict=True):
            part.copy_(piece)
        curvature.append(low)
        taken.append(count)
    grads = objective.gradients(final)
    squares = [t.flatten(1).square().sum(1) for t in flat(grads)]
    return Stationary(
        weights=final,
        gradients=grads,
        gradient_norm=torch.stack(squares).sum(0).sqrt(),
        before=run.gradient_norm,
        loss=objective.losses(final),
        curvature=torch.tensor(curvature, dtype=torch.float64),
        steps=run.steps + torch.tensor(taken),
    )


class _Function:
    """One trial's objective as a function of a vector, with its gradient and Hessian."""

    def __init__(self, objective: Objective, parts: list[Tensor]) -> None:
        self.objective, self.shapes = objective, [t.shape for t in parts]

    def flatten(self, parts: list[Tensor]) -> Tensor:
        return torch.cat([t.reshape(-1) for t in parts])

    def pieces(self, x: Tensor) -> list[Tensor]:
        split = torch.split(x, [shape.numel() for shape in self.shapes])
        return [piece.reshape(shape) for piece, shape in zip(split, self.shapes, strict=True)]

    def __call__(self, x: Tensor) -> Tensor:
        parts = iter(self.pieces(x))
        bias = cast(Dense, self.objective.net).bias
        weights = [(W, next(parts) if bias else None) for W in parts]
        return self.objective.differentiable(weights)[0]

    def gradient(self, x: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(self(leaf), leaf)[0]

    def hessian(self, x: Tensor) -> Tensor:
        def product(way: Tensor) -> Tensor:
            return jvp(grad(self), (x,), (way,))[1]

        # in pieces: all columns at once would need gigabytes
        return vmap(product, chunk_size=_PIECE)(torch.eye(len(x), dtype=x.dtype))


def _newton(function: _Function, x: Tensor, goal: float, most: int) -> tuple[Tensor, float, int]:
    """Newton steps, downhill until the Hessian is positive; point, least eigenvalue, steps.

    scipy's trust-region methods judge a step by the value alone: they give up where it no longer
    changes in double precision, with a gradient of 1e-8 left.
    """
    g, low, count, damping = function.gradient(x), math.nan, 0, 1e-3
    value = float(function(x))
    while count < most and float(g.norm()) > goal:
        values, vectors = torch.linalg.eigh(function.hessian(x))
        low, along, count = float(values[0]), vectors.mT @ g, count + 1
        pure = x - vectors @ (along / values)
        if low > 0 and float(function.gradient(pure).norm()) < 0.1 * float(g.norm()):
            x = pure  # close to a strict minimum: Newton's own step
        else:
            x, damping = _damped(function, x, value, (values, vectors, along), damping)
        g, value = function.gradient(x), float(function(x))
    return x.detach(), low, count


def _damped(
    function: _Function,
    x: Tensor,
    value: float,
    spectrum: tuple[Tensor, Tensor, Tensor],
    damping: float,
) -> tuple[Tensor, float]:
    """The first of more and more damped steps that goes down, and the damping to try next.

    ``spectrum`` is the Hessian's eigenvalues, eigenvectors and the gradient along them; steps go
    down along all of them, also those of negative curvature.
    """
    values, vectors, along = spectrum
    for _ in range(30):
        trial = x - vectors @ (along / (values.abs() + damping))
        if float(function(trial)) < value:
            return trial, max(damping / 8, 1e-12)
        damping = max(4 * damping, 1e-10)
    return x, damping
