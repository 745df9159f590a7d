"""Values and gradients of all trials of an objective, a few at a time, in torch's threads."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from lowdim.linalg.parallel import share_out
from lowdim.nets import _autograd, _engine
from lowdim.nets._autograd import Autograd
from lowdim.nets._engine import Engine, Pull, norms
from lowdim.nets.losses import coefficient, named
from lowdim.nets.networks import Dense, Weights, flat, mapped, spread

if TYPE_CHECKING:
    from lowdim.nets.objective import Objective

# What is done with some trials: an Engine, or an Autograd, which has its methods, and from where to
# where they are.
Task = Callable[[Any, int, int], None]


class Passes:
    """An objective with weights of its own (copies, which may be moved), and passes through it.

    Chunks of trials run in as many threads as torch has, each with one torch thread.
    """

    def __init__(self, objective: Objective, weights: Weights) -> None:
        net = self.net = objective.net

        def own(t: Tensor) -> Tensor:
            return t.detach().clone(memory_format=torch.contiguous_format)

        self.weights: Weights = mapped(weights, own)
        self.X = net.check(self.weights, objective.X.detach())
        self.trials, _, self.samples = self.X.shape
        self.target = self._target(objective.target)
        self._refuse_infinite()
        self.loss, self.normalization = named(objective.loss), objective.normalization
        self.strength = objective.strength(self.trials)
        self.everyone = torch.ones(self.trials, dtype=torch.bool)
        self.cancelled = False
        self.engines: queue.SimpleQueue[Engine | Autograd] = queue.SimpleQueue()

    def size(self, samples: int | None = None) -> int:
        """How many trials go together if so many samples (all unless given) are seen at a time."""
        seen = self.samples if samples is None else samples
        if isinstance(self.net, Dense):
            return _engine.chunk_size(self.net, self.trials, seen, self.X.element_size())
        return _autograd.chunk_size(self.X)

    def _target(self, target: Tensor | None) -> Tensor:
        net, X = self.net, self.X
        if target is None:
            if net.inputs != net.outputs:
                raise ValueError(
                    "without a target the network must return its input's width; it takes "
                    f"{net.inputs} numbers and returns {net.outputs}."
                )
            return X
        goal = spread(target.detach(), self.trials, net.outputs, "target")
        if goal.shape[2] != self.samples or goal.dtype != X.dtype:
            raise ValueError(
                f"target and X need as many samples and one dtype; they have {goal.shape[2]} and "
                f"{self.samples} samples, {goal.dtype} and {X.dtype}."
            )
        return goal

    def _refuse_infinite(self) -> None:
        given = [("X", self.X), *(("weights", w) for w in flat(self.weights))]
        for name, t in given if self.target is self.X else [*given, ("target", self.target)]:
            one = t[:1] if t.stride(0) == 0 else t
            # a finite sum settles it in one cheap pass; one that is not may only have overflown
            if not bool(one.sum().isfinite()) and not bool(one.isfinite().all()):
                raise ValueError(
                    f"{name} must be finite; some entries supplied are NaN or infinite."
                )

    def coefficient(self, samples: int) -> float:
        """The loss's normalization, for that many samples."""
        return coefficient(self.normalization, samples, self.net.outputs)

    def pulls(self, lo: int, hi: int) -> list[Pull]:
        """For every layer what its penalty λ‖θ‖² adds to the gradient in multiples of θ: 2λ."""
        if isinstance(self.strength, float):
            return [2 * self.strength] * len(self.weights)
        return list((2 * self.strength[lo:hi].to(self.X.dtype)).unbind(1))

    def penalty(self) -> Tensor:
        """The penalty of each trial, (T,) float64."""
        squares = [
            torch.stack([t.double().flatten(1).square().sum(1) for t in flat([layer])])
            for layer in self.weights
        ]
        if isinstance(self.strength, float):
            return self.strength * torch.cat(squares).sum(0)
        layers = torch.stack([layer.sum(0) for layer in squares], 1)
        return (self.strength * layers).sum(1)

    def cut(self, lo: int, hi: int) -> Weights:
        """The weights of trials lo … hi - 1, as views."""
        return mapped(self.weights, lambda t: t[lo:hi])

    def new_engine(self) -> Engine | Autograd:
        """Memory for one thread's passes."""
        if isinstance(self.net, Dense):
            return Engine(self.net, self.loss, self.X.dtype)
        return Autograd(self.net, self.loss)

    def chunks(self, active: Tensor, samples: int | None = None) -> list[tuple[int, int]]:
        """Runs of neighbouring active trials, none longer than ``size(samples)``."""
        found: list[tuple[int, int]] = []
        size = self.size(samples)
        for i in active.nonzero()[:, 0].tolist():
            if found and found[-1][1] == i and i - found[-1][0] < size:
                found[-1] = (found[-1][0], i + 1)
            else:
                found.append((i, i + 1))
        return found

    def over(self, task: Task, active: Tensor, samples: int | None = None) -> None:
        """Run ``task(engine, lo, hi)`` on every chunk of the active trials; see ``size``."""

        def with_engine(chunk: tuple[int, int]) -> None:
            try:
                engine = self.engines.get_nowait()
            except queue.Empty:
                engine = self.new_engine()
            try:
                with torch.no_grad():
                    task(engine, *chunk)
            finally:
                self.engines.put(engine)

        share_out(with_engine, [(chunk,) for chunk in self.chunks(active, samples)], stop=self.stop)

    def stop(self) -> None:
        """Ask those who walk to stop at their next look."""
        self.cancelled = True

    def evaluate(self, gradient: str = "none") -> tuple[Tensor, Tensor, Weights]:
        """Loss (T,) without penalty and, of the penalized one, norms (T,) and gradients.

        ``gradient`` is "none", "norm" (all gradients are dropped once measured) or "all".
        """
        loss = torch.empty(self.trials, dtype=torch.float64)
        size = torch.full_like(loss, torch.nan)
        kept: Weights = mapped(self.weights, torch.empty_like) if gradient == "all" else []
        c = self.coefficient(self.samples)

        def task(engine: Engine, lo: int, hi: int) -> None:
            W, X, Y = self.cut(lo, hi), self.X[lo:hi], self.target[lo:hi]
            loss[lo:hi] = c * engine.forward(W, X, Y)
            if gradient != "none":
                grads = engine.backward(W, X, self.loss.factor * c, self.pulls(lo, hi))
                size[lo:hi] = norms(grads)
            if gradient == "all":
                for mine, theirs in zip(flat(kept), flat(grads), strict=True):
                    mine[lo:hi] = theirs

        self.over(task, self.everyone)
        return loss, size, kept
