"""Train many trials at once: one loop for every network, loss, optimizer and penalty.

An :class:`Objective` says what is minimized, an optimizer (``GD``, ``Momentum``, ``Adam``,
``LBFGS``) how, and :func:`train` does it, with traces, stopping and divergence by trial.

Trials are independent, so a few whose data fit in the caches go through all steps up to the next
measurement together, then the next few, in as many threads as torch has. No result of a trial
depends on the others: trial i of many equals that trial alone, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from lowdim.checks import choice, whole
from lowdim.nets._descent import Descent
from lowdim.nets._follow import follow_search, follow_steps
from lowdim.nets._numbers import number
from lowdim.nets._passes import Passes
from lowdim.nets._run import Recorder, Run, State
from lowdim.nets._schedule import Progress, resolve
from lowdim.nets.batches import Batches, Drawn, Shuffled
from lowdim.nets.losses import NORMALIZATIONS, Quadratic, coefficient
from lowdim.nets.networks import Weights
from lowdim.nets.objective import Objective, from_weight_decay
from lowdim.nets.optimizers import GD, LBFGS, Adam, Momentum, Optimizer, cosine_rates, held

__all__ = ["GD", "LBFGS", "LEARNED", "NORMALIZATIONS", "Adam", "Drawn", "Momentum", "Objective"]
__all__ += ["Run", "Shuffled", "State", "cosine_rates", "from_weight_decay", "held", "learned"]
__all__ += ["remaining", "train"]

# A network whose loss stays above this share of a constant answer's has learned nothing that its
# layers could be asked about. Near one, because on noisy data most of the loss is noise.
LEARNED = 0.95


def train(
    objective: Objective,
    weights: Weights,
    optimizer: Optimizer,
    steps: int,
    *,
    batches: Batches | None = None,
    gradient_norm: float | None = None,
    measure: Mapping[str, Callable[[State], Tensor]] | None = None,
    schedule: str | int | Sequence[int] = "log",
) -> Run:
    """Train every trial from ``weights``, which stay as they are, for ``steps`` steps.

    Parameters
    ----------
    optimizer
        ``GD``, ``Momentum``, ``Adam``, or ``LBFGS`` (float64 only, without ``batches``).
    batches
        Which samples a step sees: ``Shuffled`` mini-batches or ``Drawn`` columns; all unless given.
        The loss is then normalized by the samples seen.
    gradient_norm
        A trial stops where the norm of its gradient over all samples is at most this. It is looked
        at before every step, and with mini-batches before every epoch.
    measure
        Names and functions of a ``State``, each returning (T,) or (T, k).
    schedule
        When to measure: ``"log"``, every k-th step, or a list of steps; always step 0 and the last.

    A trial has diverged when its loss or its weights are not finite, or its loss exceeds a million
    times the sum of its first loss and its target's. This is looked at every ten steps and wherever
    there is a measurement; the trial goes back to its last good look and stays there. On a terminal
    a bar shows how far a run of more than two seconds is.

    Raises
    ------
    ValueError
        If an argument is not as above; the message says what was supplied.

    Examples
    --------
    >>> from lowdim.nets.networks import Dense
    >>> net = Dense((3, 2, 3), activation="identity", bias=False)
    >>> task = Objective(net, torch.diag(torch.tensor([2.0, 1.0, 0.0])))
    >>> run = train(task, net.init(trials=4), GD(0.05), 400, schedule=100,
    ...             measure={"rank": lambda s: torch.linalg.matrix_rank(s.post[-1], atol=1e-2)})
    >>> run.trace_steps, bool((run.loss < 1e-6).all())
    ([0, 100, 200, 300, 400], True)
    """
    if not isinstance(optimizer, GD | LBFGS):
        raise ValueError(
            f"optimizer must be GD, Momentum, Adam or LBFGS, with its rate; you gave {optimizer!r}."
        )
    whole(steps, "steps", 0)
    if gradient_norm is not None:
        number(gradient_norm, "gradient_norm", above=0)
    measure = {} if measure is None else measure
    if "loss" in measure:
        raise ValueError("measure may not use the name 'loss': the loss is always traced.")
    points = resolve(schedule, steps)
    passes = Passes(objective, weights)
    _check_batches(optimizer, batches, passes)

    recorder = Recorder(measure, passes.trials)
    with Progress(steps * passes.trials) as bar:
        descent = Descent(passes, optimizer, batches=batches, goal=gradient_norm, progress=bar)
        follow = follow_search if isinstance(optimizer, LBFGS) else follow_steps
        value, sizes, taken = follow(descent, recorder, points)
    stopped = descent.stopped_at >= 0
    sizes = torch.where(stopped, descent.stopped_norm, sizes)
    reached = sizes <= (-1.0 if gradient_norm is None else gradient_norm)
    diverged = descent.diverged_at >= 0
    return Run(
        weights=passes.weights,
        loss=value,
        objective=value + passes.penalty(),
        gradient_norm=sizes,
        steps=taken,
        trace=recorder.trace(),
        trace_steps=recorder.steps,
        diverged=diverged,
        diverged_at=descent.diverged_at,
        converged=reached & ~diverged,
        method=optimizer.name,
        goal=gradient_norm,
    )


def _check_batches(optimizer: Optimizer, batches: Batches | None, passes: Passes) -> None:
    if isinstance(optimizer, LBFGS) and passes.X.dtype != torch.float64:
        raise ValueError(f"LBFGS needs float64 throughout; X is {passes.X.dtype}.")
    if batches is None:
        return
    if isinstance(optimizer, LBFGS):
        raise ValueError("LBFGS uses all samples: leave batches out, or take GD, Momentum or Adam.")
    if isinstance(passes.loss, Quadratic):
        raise ValueError("a quadratic loss couples the samples: leave batches out.")
    if not isinstance(batches, Shuffled | Drawn):
        raise ValueError(f"batches must be Shuffled or Drawn; you gave {batches!r}.")
    batches.epoch(passes.samples)


def remaining(loss: Tensor, target: Tensor, *, normalization: str = "sample") -> Tensor:
    """Losses (..., T) over what the best constant answer leaves of targets (T, m, n).

    The best constant answer is the mean of the n samples. Training that ends near 1 has found no
    more than that; ``learned`` asks this. A target that does not vary leaves nothing: then the
    share is infinite, or nan for a loss of 0.

    Raises
    ------
    ValueError
        If there are not as many losses as trials, or the normalization is unknown.

    Examples
    --------
    >>> X = torch.tensor([[[1.0, 3.0]]])  # the constant 2 leaves 1 for each of two samples
    >>> remaining(torch.tensor([[4.0], [0.5]]), X).flatten().tolist()
    [4.0, 0.5]
    """
    trials, width, samples = target.shape
    if loss.shape[-1:] != (trials,):
        raise ValueError(
            f"loss must have one number for each of the {trials} trials of the target; "
            f"it has shape {tuple(loss.shape)}."
        )
    choice(normalization, NORMALIZATIONS, "normalization")
    varies = (target - target.mean(-1, keepdim=True)).double().square().sum((-2, -1))
    return loss.double() / (coefficient(normalization, samples, width) * varies)


def learned(left: Tensor) -> Tensor:
    """Whether the median over trials of shares (..., T), from ``remaining``, is below ``LEARNED``.

    A share that is nan, as after a run that diverged, makes the answer no.

    Raises
    ------
    ValueError
        If there is no trial.

    Examples
    --------
    >>> learned(torch.tensor([[1.0, 0.97, 0.96], [0.2, 0.3, 1.0]])).tolist()
    [False, True]
    """
    if left.ndim == 0 or left.shape[-1] == 0:
        raise ValueError(
            f"left must have one number for each trial in its last dimension; it has shape "
            f"{tuple(left.shape)}."
        )
    return left.median(-1).values < LEARNED
