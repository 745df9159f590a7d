"""From one measurement to the next: the two ways in which a run unfolds."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from lowdim.nets import _lbfgs
from lowdim.nets._descent import Descent
from lowdim.nets._run import Recorder, State
from lowdim.nets.networks import flat, mapped

# Loss, gradient norms and steps taken, each (T,).
Followed = tuple[Tensor, Tensor, Tensor]


def follow_steps(descent: Descent, recorder: Recorder, points: list[int]) -> Followed:
    """Take all trials from point to point and measure at each, until the last or nobody moves."""
    passes = descent.passes

    def look(step: int, kind: str) -> tuple[Tensor, Tensor]:
        value, sizes, _ = passes.evaluate(kind)
        if step:
            sound = descent.judge(0, passes.trials, step, value)
        else:
            sound = descent.start(value)
        state = State(step, passes.weights, passes.X, passes.net)
        recorder.record(state, value, descent.diverged_at >= 0)
        if kind == "norm" and not sound:
            value, sizes, _ = passes.evaluate(kind)
        return value, sizes

    end = points[-1]
    value, sizes = look(0, "none" if end else "norm")
    for start, stop in pairwise(points):
        if not bool(descent.active.any()):
            break
        descent.advance(start, stop)
        last = stop
        if not bool(descent.active.any()):
            last = int(torch.maximum(descent.stopped_at, descent.diverged_at).max())
        if last > recorder.steps[-1]:
            value, sizes = look(last, "norm" if last == end else "none")
    if recorder.steps[-1] < end:
        value, sizes, _ = passes.evaluate("norm")
    taken = torch.full((passes.trials,), recorder.steps[-1])
    taken = torch.where(descent.stopped_at >= 0, descent.stopped_at, taken)
    return value, sizes, torch.where(descent.diverged_at >= 0, descent.kept_at, taken)


def follow_search(descent: Descent, recorder: Recorder, points: list[int]) -> Followed:
    """Minimize each trial to the end, then measure along the points that were kept."""
    passes = descent.passes
    value, sizes, _ = passes.evaluate("norm")
    descent.start(value)
    moving = passes.weights
    shown = mapped(moving, torch.clone)
    began_bad = descent.diverged_at >= 0
    recorder.record(State(0, shown, passes.X, passes.net), value, began_bad)
    kept = _lbfgs.run(descent, points[-1], points, bool(recorder.measure))
    final, sizes, _ = passes.evaluate("norm")
    last = int(descent.kept_at.max())
    for step in [s for s in points if 0 < s < last] + ([last] if last else []):
        for trial, loss, vector in kept.get(step, []):
            value[trial] = loss
            if vector is not None:
                _lbfgs.restore(flat(shown), trial, vector)
        ended = descent.kept_at <= step
        value[ended] = final[ended]
        for mine, theirs in zip(flat(shown), flat(moving), strict=True):
            mine[ended] = theirs[ended]
        gone = (descent.diverged_at >= 0) & (descent.diverged_at <= step)
        recorder.record(State(step, shown, passes.X, passes.net), value, gone)
    return final, sizes, descent.kept_at
