"""L-BFGS, one trial at a time, to a gradient norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from scipy.optimize import LbfgsInvHessProduct, minimize
from torch import Tensor

from lowdim.nets._descent import Descent
from lowdim.nets._engine import Engine
from lowdim.nets.networks import flat
from lowdim.nets.optimizers import LBFGS


class Search:
    """One trial's search: its weights as one vector, its scheduled snapshots, what it reached."""

    def __init__(self, descent: Descent, trial: int, engine: Engine, goal: float) -> None:
        p = descent.passes
        self.descent, self.trial, self.engine, self.goal = descent, trial, engine, goal
        self.weights = p.cut(trial, trial + 1)
        self.parts = flat(self.weights)
        self.X, self.Y = p.X[trial : trial + 1], p.target[trial : trial + 1]
        self.c, self.factor = p.coefficient(p.samples), p.loss.factor * p.coefficient(p.samples)
        self.pulls = p.pulls(trial, trial + 1)
        self.strength = p.strength if isinstance(p.strength, float) else self._spread(p.strength)
        self.steps, self.norm = 0, np.inf
        self.at = self.vector()
        self.value = np.inf
        self.last: tuple[np.ndarray, float, np.ndarray] | None = None

    def vector(self) -> np.ndarray:
        """The trial's weights as one vector."""
        return torch.cat([t.reshape(-1) for t in self.parts]).numpy().copy()

    def _spread(self, strength: Tensor) -> np.ndarray:
        """λ of every entry of the vector, from those of trials and layers (T, L)."""
        layers = zip(strength[self.trial].tolist(), self.weights, strict=True)
        sizes = [(lam, sum(t.numel() for t in flat([layer]))) for lam, layer in layers]
        return np.concatenate([np.full(size, lam) for lam, size in sizes])

    def penalty(self, x: np.ndarray) -> float:
        """λ‖θ‖² at the vector x."""
        if isinstance(self.strength, float):
            return self.strength * float(x @ x)
        return float(self.strength * x @ x)

    def write(self, x: np.ndarray) -> None:
        """Put the vector x in the place of the trial's weights."""
        restore(self.parts, 0, x)

    def objective(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Penalized loss and gradient at x; the last point is remembered."""
        if self.last is not None and np.array_equal(x, self.last[0]):
            return self.last[1], self.last[2]
        self.write(x)
        loss = self.c * self.engine.forward(self.weights, self.X, self.Y).item()
        grads = flat(self.engine.backward(self.weights, self.X, self.factor, self.pulls))
        gradient = torch.cat([g.reshape(-1) for g in grads]).numpy()
        value = loss + self.penalty(x)
        self.last = x.copy(), value if np.isfinite(value) else np.inf, gradient
        return self.last[1], gradient

    def look(self, x: np.ndarray) -> bool:
        """Take x as the current point and tell whether to stop there."""
        self.at = x.copy()
        self.value, gradient = self.objective(x)
        self.norm = float(np.linalg.norm(gradient))
        return self.norm <= self.goal or self.descent.passes.cancelled


Kept = dict[int, list[tuple[int, float, np.ndarray | None]]]


def run(descent: Descent, steps: int, schedule: Sequence[int], keep: bool) -> Kept:
    """Minimize every active trial; return {step: [(trial, loss, weights)]}.

    The weights are None unless ``keep`` asks for them: they are needed to measure anything else.

    L-BFGS-B's own tests are off. Where its line search gives up, because the loss no longer changes
    in double precision, quasi-Newton steps go on as long as they shrink the gradient; where those
    fail too, it starts anew without memory, and it ends when a new start gains nothing.
    ``descent`` then says who reached the goal and where.
    """
    kept: Kept = {s: [] for s in schedule}
    goal = -1.0 if descent.goal is None else descent.goal

    def task(engine: Engine, lo: int, hi: int) -> None:
        for trial in range(lo, hi):
            if not descent.passes.cancelled:
                _search(Search(descent, trial, engine, goal), steps, kept, keep)

    descent.passes.over(task, descent.active.clone())
    return kept


def _search(search: Search, steps: int, kept: Kept, keep: bool) -> None:
    descent, trial = search.descent, search.trial

    def callback(x: np.ndarray) -> None:
        search.steps += 1
        done = search.look(x)
        if search.steps in kept:
            loss = search.value - search.penalty(x)
            kept[search.steps].append((trial, loss, search.at if keep else None))
        descent.progress.add(1)
        if done:
            raise StopIteration

    done = search.look(search.at)
    while not done and search.steps < steps and np.isfinite(search.value):
        began = search.value, search.norm
        options = {
            "maxiter": steps - search.steps,
            "maxfun": 10**9,
            "maxcor": cast(LBFGS, descent.optimizer).memory,
        }
        with np.errstate(all="ignore"):
            found = minimize(
                search.objective,
                search.at,
                jac=True,
                method="L-BFGS-B",
                callback=callback,
                options=options | {"ftol": 0.0, "gtol": 0.0, "maxls": 50},
            )
            try:
                _polish(search, steps, found.hess_inv, callback)
            except StopIteration:
                break
        done = search.norm <= search.goal or descent.passes.cancelled
        if not (search.value < began[0] or search.norm < began[1] / 2):
            break
    search.write(search.at)
    _settle(search)


def _polish(
    search: Search, steps: int, memory: LbfgsInvHessProduct, callback: Callable[[np.ndarray], None]
) -> None:
    """Quasi-Newton steps that shrink the gradient and leave the loss where it is, to rounding."""
    moves, turns = list(memory.sk), list(memory.yk)
    _, gradient = search.objective(search.at)
    room = search.value + 1e-10 * abs(search.value)
    while search.goal < search.norm and search.steps < steps and search.goal > 0:
        length = 1.0
        way = -(
            LbfgsInvHessProduct(np.array(moves), np.array(turns)) @ gradient if moves else gradient
        )
        while length > 1e-3:
            x = search.at + length * way
            value, new = search.objective(x)
            if value <= room and np.linalg.norm(new) < search.norm:
                break
            length /= 2
        else:
            return
        move, turn, gradient = x - search.at, new - gradient, new
        if move @ turn > 0:
            most = cast(LBFGS, search.descent.optimizer).memory
            moves, turns = [*moves, move][-most:], [*turns, turn][-most:]
        callback(x)


def _settle(search: Search) -> None:
    """Leave what the search reached in the descent's books."""
    descent, trial = search.descent, search.trial
    descent.kept_at[trial] = search.steps
    if not np.isfinite(search.value):
        descent.diverged_at[trial] = search.steps
        descent.active[trial] = False
    elif search.norm <= search.goal:
        descent.stopped_at[trial] = search.steps
        descent.stopped_norm[trial] = search.norm
        descent.active[trial] = False


def restore(parts: list[Tensor], trial: int, vector: np.ndarray) -> None:
    """Write one trial's vector into weights that hold all trials.

    Examples
    --------
    >>> W = torch.zeros(2, 1, 2, dtype=torch.float64)
    >>> restore([W], 1, np.array([3.0, 4.0]))
    >>> W.tolist()
    [[[0.0, 0.0]], [[3.0, 4.0]]]
    """
    place, source = 0, torch.from_numpy(vector)
    for t in parts:
        mine = t[trial].view(-1)
        mine.copy_(source[place : place + len(mine)])
        place += len(mine)
