"""Train many trials at once: hand-derived gradients, traces, stopping, divergence by trial.

Trials are independent, so a few whose data fit in the caches go through all steps up to the next
measurement together, then the next few, in as many threads as torch has. No result of a trial
depends on the others: trial i of many equals that trial alone, up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from lowdim.checks import choice, whole
from lowdim.nets._descent import Descent, Problem
from lowdim.nets._engine import NORMALIZATIONS, coefficient
from lowdim.nets._follow import follow_search, follow_steps
from lowdim.nets._rules import Rule
from lowdim.nets._run import Recorder, Run, State
from lowdim.nets._schedule import Progress, resolve
from lowdim.nets.networks import Dense, Weights, flat, spread

__all__ = ["LEARNED", "METHODS", "NORMALIZATIONS", "Run", "State", "gradients", "learned"]
__all__ += ["objective", "remaining", "train"]

METHODS = ("gd", "sgd", "momentum", "adam", "lbfgs")

# A network whose loss stays above this share of a constant answer's has learned nothing that its
# layers could be asked about. Near one, because on noisy data most of the loss is noise.
LEARNED = 0.95


def _number(value: float, name: str, low: float, high: float, *, ends: str) -> float:
    """``value`` if it lies between low and high; ``ends`` says it in words."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value < high
    if not good or (value == low and ends.startswith("above")):
        raise ValueError(f"{name} must be a number {ends}; you gave {value!r}.")
    return float(value)


def _problem(
    net: Dense, weights: Weights, X: Tensor, target: Tensor | None, loss: str, decay: float
) -> Problem:
    choice(loss, NORMALIZATIONS, "loss")
    _number(decay, "weight_decay", 0, math.inf, ends="0 or above")
    if not isinstance(X, Tensor) or not isinstance(target, Tensor | None):
        raise ValueError("X and target must be torch tensors.")

    def own(t: Tensor) -> Tensor:
        return t.detach().clone(memory_format=torch.contiguous_format)

    moving = [(own(W), None if b is None else own(b)) for W, b in weights]
    data = net.check(moving, X.detach())
    if target is None:
        if net.widths[0] != net.widths[-1]:
            raise ValueError(
                "without a target the network must return its input's width; "
                f"its widths are {net.widths}."
            )
        goal = data
    else:
        goal = spread(target.detach(), len(data), net.widths[-1], "target")
        if goal.shape[2] != data.shape[2] or goal.dtype != data.dtype:
            raise ValueError(
                f"target and X need as many samples and one dtype; they have {goal.shape[2]} and "
                f"{data.shape[2]} samples, {goal.dtype} and {data.dtype}."
            )
    named = [("X", data), *(("weights", w) for w in flat(moving))]
    for name, t in named if goal is data else [*named, ("target", goal)]:
        one = t[:1] if t.stride(0) == 0 else t
        # a sum that is finite settles it in one cheap pass; one that is not may only have overflown
        if not bool(one.sum().isfinite()) and not bool(one.isfinite().all()):
            raise ValueError(f"{name} must be finite; some entries supplied are NaN or infinite.")
    return Problem(net, moving, data, goal, loss, decay)


def _penalty(weights: Weights, decay: float) -> Tensor:
    squares = [t.double().flatten(1).square().sum(1) for t in flat(weights)]
    return decay / 2 * torch.stack(squares).sum(0)


def objective(
    net: Dense,
    weights: Weights,
    X: Tensor,
    target: Tensor | None = None,
    *,
    loss: str = "sum",
    weight_decay: float = 0.0,
) -> Tensor:
    """Loss of each trial plus weight_decay/2 times its squared weights and biases, (T,) float64.

    The loss is ‖H_L - target‖², over all entries (``"sum"``), divided by the number of samples
    (``"sample"``), or by that of entries (``"mean"``). Without a target, it is X.

    Raises
    ------
    ValueError
        If shapes or dtypes do not fit together, or something is not finite.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> objective(net, [(torch.zeros(1, 1, 1), None)], torch.ones(1, 4), loss="sample").item()
    1.0
    """
    with _problem(net, weights, X, target, loss, weight_decay) as problem:
        value, _, _ = problem.evaluate()
    return value + _penalty(problem.weights, weight_decay)


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


def gradients(
    net: Dense,
    weights: Weights,
    X: Tensor,
    target: Tensor | None = None,
    *,
    loss: str = "sum",
    weight_decay: float = 0.0,
) -> Weights:
    """Gradients of ``objective``, in the shapes of ``weights``.

    Raises
    ------
    ValueError
        As ``objective``.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> gradients(net, [(torch.full((1, 1, 1), 3.0), None)], torch.ones(1, 1))[0][0].item()
    4.0
    """
    with _problem(net, weights, X, target, loss, weight_decay) as problem:
        return problem.evaluate("all")[2]


def train(
    net: Dense,
    weights: Weights,
    X: Tensor,
    target: Tensor | None = None,
    *,
    method: str = "gd",
    rate: float = 0.005,
    steps: int = 3000,
    loss: str = "sum",
    batch: int | None = None,
    momentum: float = 0.9,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    gradient_norm: float | None = None,
    measure: Mapping[str, Callable[[State], Tensor]] | None = None,
    schedule: str | int | Sequence[int] = "log",
    seed: int = 0,
    first_trial: int = 0,
    progress: bool | None = None,
) -> Run:
    """Train every trial from ``weights`` (which stay as they are) on X (T, m, n) or (m, n).

    Parameters
    ----------
    target
        (T, out, n) or (out, n); X unless given.
    method
        ``gd`` (all samples), ``sgd`` (needs ``batch``), ``momentum`` and ``adam`` (all samples, or
        ``batch`` of them) with the conventions of torch.optim; ``lbfgs`` (scipy's L-BFGS-B for each
        trial, float64 only, without ``batch``; ``rate`` plays no part).
    loss, weight_decay
        As in ``objective``. In a mini-batch, samples are those of the mini-batch.
    batch
        Samples in a mini-batch; every epoch goes once through all samples in an order that each
        trial draws from (seed, first_trial + its number, epoch). A step is one mini-batch.
    gradient_norm
        A trial stops where the norm of its gradient over all samples is at most this. It is looked
        at before every step, and with mini-batches before every epoch.
    measure
        Names and functions of a ``State``, each returning (T,) or (T, k).
    schedule
        When to measure: ``"log"``, every k-th step, or a list of steps; always step 0 and the last.
    progress
        None shows a bar on a terminal if the run takes more than two seconds, True at once and
        anywhere, False never.

    A trial has diverged when its loss or its weights are not finite, or its loss exceeds a million
    times the sum of its first loss and its target's. This is looked at every ten steps and wherever
    there is a measurement; the trial goes back to its last good look and stays there.

    Raises
    ------
    ValueError
        If an argument is not as above; the message says what was supplied.

    Examples
    --------
    >>> net = Dense((3, 2, 3), activation="identity", bias=False)
    >>> X = torch.diag(torch.tensor([2.0, 1.0, 0.0]))
    >>> run = train(net, net.init(trials=4), X, rate=0.05, steps=400, schedule=100,
    ...             measure={"rank": lambda s: torch.linalg.matrix_rank(s.post[-1], atol=1e-2)})
    >>> run.trace_steps, bool((run.loss < 1e-6).all())
    ([0, 100, 200, 300, 400], True)
    """
    choice(method, METHODS, "method")
    problem = _problem(net, weights, X, target, loss, weight_decay)
    whole(steps, "steps", 0)
    whole(first_trial, "first_trial", 0)
    _number(rate, "rate", 0, math.inf, ends="above 0 and finite")
    _number(momentum, "momentum", 0, 1, ends="from 0 up to 1")
    if len(betas) != 2:
        raise ValueError(f"betas must be two numbers from 0 up to 1; you gave {betas!r}.")
    for beta in betas:
        _number(beta, "betas", 0, 1, ends="from 0 up to 1, twice")
    if gradient_norm is not None:
        _number(gradient_norm, "gradient_norm", 0, math.inf, ends="above 0 and finite")
    _check_batch(method, batch, problem)
    measure = {} if measure is None else measure
    if "loss" in measure:
        raise ValueError("measure may not use the name 'loss': the loss is always traced.")
    points = resolve(schedule, steps)

    recorder = Recorder(measure, problem.trials)
    rule = Rule(method, problem.weights, rate=rate, momentum=momentum, betas=betas)
    with Progress(steps * problem.trials, progress) as bar, problem:
        descent = Descent(
            problem,
            rule,
            batch=batch,
            gradient_norm=gradient_norm,
            seed=seed,
            first_trial=first_trial,
            progress=bar,
        )
        follow = follow_search if method == "lbfgs" else follow_steps
        value, sizes, taken = follow(descent, recorder, points)
    stopped = descent.stopped_at >= 0
    sizes = torch.where(stopped, descent.stopped_norm, sizes)
    reached = sizes <= (-1.0 if gradient_norm is None else gradient_norm)
    diverged = descent.diverged_at >= 0
    return Run(
        weights=problem.weights,
        loss=value,
        objective=value + _penalty(problem.weights, weight_decay),
        gradient_norm=sizes,
        steps=taken,
        trace=recorder.trace(),
        trace_steps=recorder.steps,
        diverged=diverged,
        diverged_at=descent.diverged_at,
        converged=reached & ~diverged,
        method=method,
        goal=gradient_norm,
    )


def _check_batch(method: str, batch: int | None, problem: Problem) -> None:
    if method == "lbfgs" and problem.X.dtype != torch.float64:
        raise ValueError(f"method 'lbfgs' needs float64 throughout; X is {problem.X.dtype}.")
    if batch is None:
        if method == "sgd":
            raise ValueError(
                "method 'sgd' needs batch, the samples in a mini-batch; you gave None."
            )
        return
    if method in ("gd", "lbfgs"):
        raise ValueError(
            f"method {method!r} uses all samples: leave batch out, or take sgd, momentum or adam; "
            f"you gave batch = {batch!r}."
        )
    if whole(batch, "batch", 1) > problem.samples:
        raise ValueError(
            f"batch must be from 1 to the {problem.samples} samples there are; you gave {batch}."
        )
