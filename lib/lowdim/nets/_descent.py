"""Many trials through many steps: who moves, who has stopped and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from lowdim.nets._engine import Engine, norms
from lowdim.nets._passes import Passes
from lowdim.nets._schedule import Progress
from lowdim.nets.batches import Batches, Shuffled
from lowdim.nets.networks import Dense, flat
from lowdim.nets.optimizers import GD, LBFGS, Adam, Optimizer, Pace

# Steps between two looks at the loss: each look also keeps the weights, to fall back on.
CHECK = 10
GROWTH = 1e6


class Descent:
    """The state of a run: weights that move, weights kept, and who has stopped and why."""

    def __init__(
        self,
        passes: Passes,
        optimizer: Optimizer,
        *,
        batches: Batches | None,
        goal: float | None,
        progress: Progress,
    ) -> None:
        dense = isinstance(passes.net, Dense)
        if isinstance(optimizer, Adam) and optimizer.fused is None:
            alike = not isinstance(optimizer.rate, Tensor)
            optimizer = replace(optimizer, fused=alike and not dense)
        self.passes, self.optimizer, self.batches = passes, optimizer, batches
        self.goal, self.progress = goal, progress
        trials, moving = passes.trials, flat(passes.weights)
        # what a step sees of a trial, unless gradients over all samples are asked for in between
        self.seen = batches.size if isinstance(batches, Shuffled) and goal is None else None
        self.rate: Any = None if isinstance(optimizer, LBFGS) else self._rate(optimizer.rate)
        slots = 0 if isinstance(optimizer, LBFGS) else optimizer.slots
        self.memory = [[torch.zeros_like(t) for _ in range(slots)] for t in moving]
        # one number for all trials may go into the products themselves
        alike = not isinstance(self.rate, Tensor) and isinstance(passes.strength, float)
        self.fused = dense and type(optimizer) is GD and goal is None and alike
        self.kept = [t.clone() for t in moving]
        self.kept_at = torch.zeros(trials, dtype=torch.int64)
        self.active = torch.ones(trials, dtype=torch.bool)
        self.diverged_at = torch.full((trials,), -1)
        self.stopped_at = torch.full((trials,), -1)
        self.stopped_norm = torch.full((trials,), torch.nan, dtype=torch.float64)
        self.limit = torch.full((trials,), torch.inf, dtype=torch.float64)

    def _rate(self, rate: Any) -> Any:
        """The rate as a number, a function of the step, or (T,) in the weights' precision."""
        if not isinstance(rate, Tensor):
            return rate
        if len(rate) != self.passes.trials:
            raise ValueError(
                f"rate must be one number, or one for each of the {self.passes.trials} trials; "
                f"you gave {len(rate)}."
            )
        return rate.to(self.passes.X.dtype)

    def pace(self, step: int, lo: int, hi: int) -> Pace:
        """The rate of trials lo … hi - 1 at a step."""
        if isinstance(self.rate, Tensor):
            return self.rate[lo:hi]
        return self.rate(step) if callable(self.rate) else self.rate

    def start(self, loss: Tensor) -> bool:
        """Set each trial's limit from its loss at step 0 and its target's size; then ``judge``."""
        p = self.passes
        size = p.loss.size(p.target)
        self.limit = GROWTH * (loss.abs() + p.coefficient(p.samples) * size) + 1e-30
        return self.judge(0, p.trials, 0, loss)

    def judge(self, lo: int, hi: int, step: int, loss: Tensor) -> bool:
        """Freeze the trials of lo … hi whose loss or weights have blown up; keep the others'.

        True if no trial had to be frozen here.
        """
        now = [t[lo:hi] for t in flat(self.passes.weights)]
        sound = loss.isfinite() & (loss <= self.limit[lo:hi])
        for t in now:
            sound &= t.flatten(1).sum(1).isfinite()
        active = self.active[lo:hi]
        good, bad = sound & active, ~sound & active
        if not bool(bad.any()) and bool(good.all()):
            for kept, t in zip(self.kept, now, strict=True):
                kept[lo:hi] = t
            self.kept_at[lo:hi] = step
            return True
        for i in good.nonzero()[:, 0].tolist():
            for kept, t in zip(self.kept, now, strict=True):
                kept[lo + i] = t[i]
            self.kept_at[lo + i] = step
        for i in bad.nonzero()[:, 0].tolist():
            for kept, t in zip(self.kept, now, strict=True):
                t[i] = kept[lo + i]
            self.diverged_at[lo + i] = step
            self.active[lo + i] = False
        return not bool(bad.any())

    def settle(self, lo: int, hi: int, step: int, sizes: Tensor) -> bool:
        """Freeze the trials of lo … hi whose gradient is small enough; True if there was none."""
        done = (sizes <= (-1.0 if self.goal is None else self.goal)) & self.active[lo:hi]
        for i in done.nonzero()[:, 0].tolist():
            self.stopped_at[lo + i], self.stopped_norm[lo + i] = step, sizes[i]
            self.active[lo + i] = False
        return not bool(done.any())

    def advance(self, start: int, stop: int) -> None:
        """Take all active trials from step ``start`` to step ``stop``."""

        def task(engine: Engine, lo: int, hi: int) -> None:
            work = [(lo, hi, start)]
            while work and not self.passes.cancelled:
                first, last, step = work.pop()
                reached = self.walk(engine, first, last, step, stop)
                if reached < stop:
                    # some have stopped: their neighbours go on without them
                    alive = torch.zeros_like(self.active)
                    alive[first:last] = self.active[first:last]
                    work += [(a, b, reached) for a, b in self.passes.chunks(alive, self.seen)]

        self.passes.over(task, self.active.clone(), self.seen)

    def walk(self, engine: Engine, lo: int, hi: int, step: int, stop: int) -> int:
        """Steps for trials lo … hi until ``stop`` or until one of them is frozen."""
        p = self.passes
        weights, pulls = p.cut(lo, hi), p.pulls(lo, hi)
        whole = X, Y = p.X[lo:hi], p.target[lo:hi]
        c = p.coefficient(p.samples)
        pick, epoch = None, 1
        if self.batches is not None:
            pick, epoch = self.batches.columns(lo, hi, p.samples), self.batches.epoch(p.samples)
        while step < stop and not p.cancelled:
            if pick is not None:
                if self.goal is not None and step % epoch == 0:
                    engine.residual(weights, *whole)
                    factor = p.loss.factor * p.coefficient(p.samples)
                    sizes = norms(engine.backward(weights, whole[0], factor, pulls))
                    if not self.settle(lo, hi, step, sizes):
                        return step
                X, Y = _taken(*whole, pick(step))
                c = p.coefficient(X.shape[2])
            engine.residual(weights, X, Y)
            if step % CHECK == 0:
                if not self.judge(lo, hi, step, c * engine.losses(X)):
                    return step
                self.progress.add(min(CHECK, stop - step) * (hi - lo))
            pace, factor = self.pace(step, lo, hi), p.loss.factor * c
            if self.fused:  # then these are numbers
                engine.descend(weights, X, cast(float, pace), factor, cast(list[float], pulls))
            else:
                grads = engine.backward(weights, X, factor, pulls)
                if self.goal is not None and pick is None:
                    if not self.settle(lo, hi, step, norms(grads)):
                        return step
                moving = zip(flat(weights), flat(grads), self.memory, strict=True)
                for W, G, memory in moving:
                    cast(GD, self.optimizer).update(W, G, [m[lo:hi] for m in memory], pace, step)
            step += 1
        return step


def _taken(X: Tensor, Y: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Data and target of those columns (trials, k), (trials, width, k) each."""
    chosen = columns[:, None]
    taken = X.gather(2, chosen.expand(-1, X.shape[1], -1))
    if Y.data_ptr() == X.data_ptr() and Y.shape == X.shape:
        return taken, taken
    return taken, Y.gather(2, chosen.expand(-1, Y.shape[1], -1))
