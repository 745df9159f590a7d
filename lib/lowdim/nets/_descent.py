"""Many trials through many steps: chunks of trials, stopping, divergence, threads."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from lowdim.nets._engine import Engine, chunk_size, coefficient, norms
from lowdim.nets._rules import Rule
from lowdim.nets._schedule import Progress
from lowdim.nets.networks import Dense, Weights, flat
from lowdim.seeds import generator

# Steps between two looks at the loss: each look also keeps the weights, to fall back on.
CHECK = 10
GROWTH = 1e6


class Problem:
    """Network, data and loss of all trials, and the chunked passes through them.

    A context: inside it, chunks run in as many threads as torch has, each with one torch thread,
    and torch's own setting is back afterwards.
    """

    def __init__(
        self, net: Dense, weights: Weights, X: Tensor, target: Tensor, loss: str, decay: float
    ) -> None:
        self.net, self.weights, self.X, self.target = net, weights, X, target
        self.loss, self.decay = loss, decay
        self.trials, _, self.samples = X.shape
        self.size = chunk_size(net, self.trials, self.samples, X.element_size())
        self.cancelled = False
        self.pool: ThreadPoolExecutor | None = None
        self.engines: queue.SimpleQueue[Engine] = queue.SimpleQueue()

    def __enter__(self) -> Problem:
        self.threads = torch.get_num_threads()
        workers = min(self.threads, -(-self.trials // self.size))
        if workers > 1:
            self.pool = ThreadPoolExecutor(
                workers, "lowdim-training", initializer=torch.set_num_threads, initargs=(1,)
            )
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self.pool is not None:
            self.cancelled = kind is not None
            self.pool.shutdown(wait=True, cancel_futures=True)
            self.pool = None
            torch.set_num_threads(self.threads)

    def factor(self, samples: int) -> float:
        """c, for that many samples."""
        return coefficient(self.loss, samples, self.net.widths[-1])

    def cut(self, lo: int, hi: int) -> Weights:
        """The weights of trials lo … hi, as views."""
        return [(W[lo:hi], None if b is None else b[lo:hi]) for W, b in self.weights]

    def chunks(self, active: Tensor) -> list[tuple[int, int]]:
        """Runs of neighbouring active trials, none longer than the chunk size."""
        found: list[tuple[int, int]] = []
        for i in active.nonzero()[:, 0].tolist():
            if found and found[-1][1] == i and i - found[-1][0] < self.size:
                found[-1] = (found[-1][0], i + 1)
            else:
                found.append((i, i + 1))
        return found

    def over(self, task: Callable[[Engine, int, int], None], active: Tensor) -> None:
        """Run ``task(engine, lo, hi)`` on every chunk of the active trials."""

        def with_engine(chunk: tuple[int, int]) -> None:
            try:
                engine = self.engines.get_nowait()
            except queue.Empty:
                engine = Engine(self.net, self.size, self.samples, self.X.dtype)
            try:
                with torch.no_grad():
                    task(engine, *chunk)
            finally:
                self.engines.put(engine)

        chunks = self.chunks(active)
        if self.pool is None or len(chunks) < 2:
            for chunk in chunks:
                with_engine(chunk)
        else:
            list(self.pool.map(with_engine, chunks))

    def evaluate(self, gradient: str = "none") -> tuple[Tensor, Tensor, Weights]:
        """Loss (T,) without penalty and, of the penalized one, norms (T,) and gradients.

        ``gradient`` is "none", "norm" (all gradients are dropped once measured) or "all".
        """
        loss = torch.empty(self.trials, dtype=torch.float64)
        size = torch.full_like(loss, torch.nan)
        kept: Weights = []
        if gradient == "all":
            kept = [
                (torch.empty_like(W), None if b is None else torch.empty_like(b))
                for W, b in self.weights
            ]
        c = self.factor(self.samples)

        def task(engine: Engine, lo: int, hi: int) -> None:
            W, X, Y = self.cut(lo, hi), self.X[lo:hi], self.target[lo:hi]
            loss[lo:hi] = c * engine.forward(W, X, Y)
            if gradient != "none":
                grads = engine.backward(W, X, 2 * c, self.decay)
                size[lo:hi] = norms(grads)
            if gradient == "all":
                for mine, theirs in zip(flat(kept), flat(grads), strict=True):
                    mine[lo:hi] = theirs

        self.over(task, torch.ones(self.trials, dtype=torch.bool))
        return loss, size, kept


class Descent:
    """The state of a run: weights that move, weights kept, and who has stopped and why."""

    def __init__(
        self,
        problem: Problem,
        rule: Rule,
        *,
        batch: int | None,
        gradient_norm: float | None,
        seed: int,
        first_trial: int,
        progress: Progress,
        fused: bool = True,
    ) -> None:
        self.problem, self.rule, self.batch = problem, rule, batch
        self.goal, self.seed, self.first_trial = gradient_norm, seed, first_trial
        self.progress = progress
        self.fused = fused and rule.method in ("gd", "sgd") and gradient_norm is None
        trials = problem.trials
        self.kept = [t.clone() for t in flat(problem.weights)]
        self.kept_at = torch.zeros(trials, dtype=torch.int64)
        self.active = torch.ones(trials, dtype=torch.bool)
        self.diverged_at = torch.full((trials,), -1)
        self.stopped_at = torch.full((trials,), -1)
        self.stopped_norm = torch.full((trials,), torch.nan, dtype=torch.float64)
        self.limit = torch.full((trials,), torch.inf, dtype=torch.float64)

    def start(self, loss: Tensor) -> bool:
        """Set each trial's limit from its loss at step 0 and its target's size; then ``judge``."""
        p = self.problem
        size = torch.linalg.vector_norm(p.target.flatten(1), dim=1).double().square()
        self.limit = GROWTH * (loss + p.factor(p.samples) * size) + 1e-30
        return self.judge(0, p.trials, 0, loss)

    def judge(self, lo: int, hi: int, step: int, loss: Tensor) -> bool:
        """Freeze the trials of lo … hi whose loss or weights have blown up; keep the others'.

        True if no trial had to be frozen here.
        """
        now = [t[lo:hi] for t in flat(self.problem.weights)]
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
        """Freeze the trials of lo … hi whose gradient is small enough."""
        done = (sizes <= self.goal) & self.active[lo:hi]
        for i in done.nonzero()[:, 0].tolist():
            self.stopped_at[lo + i], self.stopped_norm[lo + i] = step, sizes[i]
            self.active[lo + i] = False
        return not bool(done.any())

    def advance(self, start: int, stop: int) -> None:
        """Take all active trials from step ``start`` to step ``stop``."""

        def task(engine: Engine, lo: int, hi: int) -> None:
            work = [(lo, hi, start)]
            while work and not self.problem.cancelled:
                first, last, step = work.pop()
                reached = self.walk(engine, first, last, step, stop)
                if reached < stop:
                    # some have stopped: their neighbours go on without them
                    alive = torch.zeros_like(self.active)
                    alive[first:last] = self.active[first:last]
                    work += [(a, b, reached) for a, b in self.problem.chunks(alive)]

        self.problem.over(task, self.active.clone())

    def walk(self, engine: Engine, lo: int, hi: int, step: int, stop: int) -> int:
        """Steps for trials lo … hi until ``stop`` or until one of them is frozen."""
        p, rule = self.problem, self.rule
        weights, X, Y = p.cut(lo, hi), p.X[lo:hi], p.target[lo:hi]
        columns = Columns(self, lo, hi) if self.batch else None
        c = whole = p.factor(p.samples)
        while step < stop and not p.cancelled:
            if columns is not None:
                if self.goal is not None and step % columns.steps == 0:
                    engine.residual(weights, p.X[lo:hi], p.target[lo:hi])
                    sizes = norms(engine.backward(weights, p.X[lo:hi], 2 * whole, p.decay))
                    if not self.settle(lo, hi, step, sizes):
                        return step
                X, Y = columns.at(step)
                c = p.factor(X.shape[2])
            engine.residual(weights, X, Y)
            if step % CHECK == 0:
                if not self.judge(lo, hi, step, c * engine.squares(X)):
                    return step
                self.progress.add(min(CHECK, stop - step) * (hi - lo))
            if self.fused:
                engine.descend(weights, X, rule.rate, 2 * c, p.decay)
            else:
                grads = engine.backward(weights, X, 2 * c, p.decay)
                if self.goal is not None and columns is None:
                    if not self.settle(lo, hi, step, norms(grads)):
                        return step
                rule.update(weights, grads, lo, hi, step)
            step += 1
        return step


class Columns:
    """Mini-batches of trials lo … hi: every epoch each trial's own shuffle, cut into batches."""

    def __init__(self, descent: Descent, lo: int, hi: int) -> None:
        self.descent, self.lo, self.hi = descent, lo, hi
        self.samples, self.batch = descent.problem.samples, descent.batch or 1
        self.steps = -(-self.samples // self.batch)
        self.epoch = -1
        self.order = torch.empty(0, dtype=torch.int64)

    def at(self, step: int) -> tuple[Tensor, Tensor]:
        """Data and target of that step, (trials, width, batch or fewer)."""
        d = self.descent
        epoch, place = divmod(step, self.steps)
        if epoch != self.epoch:
            shuffles = [
                torch.from_numpy(
                    generator(d.seed, d.first_trial + i, "batches", epoch).permutation(self.samples)
                )
                for i in range(self.lo, self.hi)
            ]
            self.order, self.epoch = torch.stack(shuffles), epoch
        chosen = self.order[:, None, place * self.batch : (place + 1) * self.batch]
        X, Y = d.problem.X[self.lo : self.hi], d.problem.target[self.lo : self.hi]
        taken = X.gather(2, chosen.expand(-1, X.shape[1], -1))
        if Y.data_ptr() == X.data_ptr() and Y.shape == X.shape:
            return taken, taken
        return taken, Y.gather(2, chosen.expand(-1, Y.shape[1], -1))
