"""What a measurement sees while a network trains, and what is left when it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor

from lowdim.nets.networks import Dense, Network, Weights


@dataclass(frozen=True)
class State:
    """All trials at one step. Weights are the live ones: copy what you keep, change nothing.

    ``pre`` and ``post`` are lists of (T, width, n), one for each layer and the output last, and are
    worked out when they are first asked for; ``pre`` is empty unless the network is ``Dense``. A
    trial that diverged is seen as it last was in good order.
    """

    step: int
    weights: Weights
    X: Tensor
    net: Network = field(repr=False)

    @cached_property
    def _layers(self) -> tuple[list[Tensor], list[Tensor]]:
        if isinstance(self.net, Dense):
            return self.net.forward(self.weights, self.X)
        return [], cast(Any, self.net).activations(self.weights, self.X)

    @property
    def pre(self) -> list[Tensor]:
        """Pre-activations ``W H + b`` of every layer."""
        return self._layers[0]

    @property
    def post(self) -> list[Tensor]:
        """What every layer hands on, and the output."""
        return self._layers[1]


@dataclass(frozen=True)
class Run:
    """A finished run of T trials.

    Attributes
    ----------
    weights
        Final weights; of a trial that diverged, the last ones found in good order.
    loss, objective, gradient_norm
        (T,) float64: the loss at these weights, the loss with its penalty, and the Euclidean norm
        of the gradient of the latter, over all samples.
    steps
        (T,) how many steps these weights have behind them.
    trace, trace_steps
        Measurements, each (len(trace_steps), T) or (len(trace_steps), T, k), ``"loss"`` always
        among them; a trial that diverged is NaN from ``diverged_at`` on.
    diverged, diverged_at
        (T,) who diverged, and the step at which it was noticed (-1 for the others).
    converged
        (T,) whose gradient norm came down to ``goal``; all False if none was asked for.
    """

    weights: Weights
    loss: Tensor
    objective: Tensor
    gradient_norm: Tensor
    steps: Tensor
    trace: dict[str, Tensor]
    trace_steps: list[int]
    diverged: Tensor
    diverged_at: Tensor
    converged: Tensor
    method: str
    goal: float | None

    def report(self) -> str:
        """One sentence for each problem, or one that says that there was none.

        Examples
        --------
        >>> from lowdim.nets import training
        >>> net = Dense((2, 2))
        >>> task = training.Objective(net, torch.eye(2))
        >>> run = training.train(task, net.init(trials=2), training.GD(0.1), 5)
        >>> run.report()
        'All 2 trials went through 5 steps of gd without a problem.'
        """
        said = []
        for i in self.diverged.nonzero()[:, 0].tolist():
            said.append(
                f"Trial {i} diverged, noticed at step {int(self.diverged_at[i])}: its weights are "
                f"those of step {int(self.steps[i])}, with loss {float(self.loss[i]):.3g}, "
                "and its trace is NaN from there."
            )
        short = (~self.converged & ~self.diverged).nonzero()[:, 0].tolist()
        if self.goal is not None and short:
            worst = max(short, key=lambda i: float(self.gradient_norm[i]))
            said.append(
                f"{len(short)} of {len(self.loss)} trials did not reach the gradient norm "
                f"{self.goal:.3g} asked for: trial {worst} is furthest, at "
                f"{float(self.gradient_norm[worst]):.3g} after {int(self.steps[worst])} steps."
            )
        if said:
            return "\n".join(said)
        goal = "" if self.goal is None else f", down to a gradient norm of {self.goal:.3g},"
        low, high = int(self.steps.min()), int(self.steps.max())
        span = f"{high}" if low == high else f"{low} to {high}"
        who = "The one trial" if len(self.loss) == 1 else f"All {len(self.loss)} trials"
        return f"{who} went through {span} steps of {self.method}{goal} without a problem."


class Recorder:
    """Collects measurements of all trials, step after step."""

    def __init__(self, measure: Mapping[str, Callable[[State], Tensor]], trials: int) -> None:
        self.measure, self.trials = dict(measure), trials
        self.steps: list[int] = []
        self.rows: dict[str, list[Tensor]] = {name: [] for name in ("loss", *self.measure)}

    def record(self, state: State, loss: Tensor, diverged: Tensor) -> None:
        """Measure ``state``; rows of diverged trials become NaN.

        Raises
        ------
        ValueError
            If a measurement is not (T,) or (T, k).
        """
        self.steps.append(state.step)
        some = bool(diverged.any())
        for name in self.rows:
            value = loss if name == "loss" else self.measure[name](state)
            value = torch.as_tensor(value).detach()
            if value.ndim not in (1, 2) or len(value) != self.trials:
                raise ValueError(
                    f"measurement {name!r} must have the shape ({self.trials},) or "
                    f"({self.trials}, k); its shape is {tuple(value.shape)}."
                )
            value = value.clone() if value.is_floating_point() else value.double()
            if some:
                value[diverged] = torch.nan
            self.rows[name].append(value)

    def trace(self) -> dict[str, Tensor]:
        """Every measurement with the steps as its first axis."""
        return {name: torch.stack(rows) for name, rows in self.rows.items()}
