r"""Full-batch descent with a weight decay of its own for each trial and each layer.

Part II compares networks that differ in weight decay only. Here the decay is an axis: trial t
minimizes :math:`\mathcal L_0+\sum_l\lambda_{t,l}\|\theta_l\|^2`, where :math:`\theta_l` are the
weights and biases of layer l and :math:`\mathcal L_0` is the mean over samples of
:math:`\|f(x)-y\|^2` or of the cross-entropy. Steps are gradient descent with heavy-ball momentum:
:math:`v\leftarrow\beta v+\nabla`, :math:`\theta\leftarrow\theta-\eta v`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lowdim import checks
from lowdim.nets.networks import Dense, Weights, flat, spread

__all__ = ["LOSSES", "Path", "descend", "flops", "forgetting", "losses"]

LOSSES = ("square", "entropy")
Picker = Callable[[int], Tensor]


@dataclass(frozen=True)
class Path:
    """Where a descent ended, T trials.

    weights: as in ``networks``; loss, objective: (T,) without and with the penalty;
    gradient_norm: (T,) of the objective; steps: where something was measured; trace: by name,
    (len(steps), T, ...); diverged: (T,) whether the objective is not finite.
    """

    weights: Weights
    loss: Tensor
    objective: Tensor
    gradient_norm: Tensor
    steps: tuple[int, ...]
    trace: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def diverged(self) -> Tensor:
        """(T,) whether the objective is not finite."""
        return ~self.objective.isfinite()


def _table(value: object, trials: int, columns: int, name: str) -> Tensor:
    """A number, (T,) or (T, L) as (T, L)."""
    table = torch.as_tensor(value, dtype=torch.float64)
    if table.ndim == 1:
        table = table[:, None]
    try:
        table = table.expand(trials, columns)
    except RuntimeError:
        raise ValueError(
            f"{name} must be a number, ({trials},) or ({trials}, {columns}); "
            f"its shape is {tuple(torch.as_tensor(value).shape)}."
        ) from None
    if not bool((table >= 0).all()) or not bool(table.isfinite().all()):
        raise ValueError(f"{name} must be finite and not negative.")
    return table


def _loss(F: Tensor, Y: Tensor, kind: str) -> tuple[Tensor, Tensor]:
    """Mean loss (T,) and its gradient (T, c, n) with respect to the outputs."""
    n = F.shape[2]
    if kind == "square":
        off = F - Y
        return off.square().sum((1, 2)) / n, off.mul_(2 / n)
    logs = F.log_softmax(1)
    return -(Y * logs).sum((1, 2)) / n, (logs.exp() * Y.sum(1, keepdim=True) - Y) / n


def _backward(net: Dense, weights: Weights, X: Tensor, Y: Tensor, kind: str):
    """Mean loss (T,) and its gradients, in the order of ``flat``."""
    pre, post = [], [X]
    for (W, b), act in zip(weights, net.activations, strict=True):
        Z = torch.bmm(W, post[-1]) if b is None else torch.baddbmm(b, W, post[-1])
        pre.append(Z)
        post.append(act(Z))
    value, D = _loss(post[-1], Y, kind)
    parts: list[Tensor] = []
    for k in range(net.depth - 1, -1, -1):
        W, b = weights[k]
        net.activations[k].chain(D, pre[k], post[k + 1])
        if b is not None:
            parts.append(D.sum(2, keepdim=True))
        parts.append(torch.bmm(D, post[k].mT))
        if k:
            D = torch.bmm(W.mT, D)
    return value, parts[::-1]


def losses(net: Dense, weights: Weights, X: Tensor, Y: Tensor, *, loss: str = "square") -> Tensor:
    """Mean loss (T,) over the samples, without penalty: ‖f(x) - y‖², or cross-entropy.

    X is (T, m, n) or (m, n), Y (T, c, n) or (c, n); for the cross-entropy the columns of Y are
    probabilities.

    Raises
    ------
    ValueError
        If shapes or dtypes do not fit together, or ``loss`` is unknown.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> losses(net, [(torch.zeros(1, 1, 1), None)], torch.ones(1, 4), torch.ones(1, 4)).item()
    1.0
    """
    checks.choice(loss, LOSSES, "loss")
    X = net.check(weights, X)
    Y = spread(Y, len(X), net.widths[-1], "Y")
    return _loss(net.forward(weights, X)[1][-1], Y, loss)[0]


def forgetting(steps: int, *, decay: float, rate: float, momentum: float = 0.0) -> float:
    """The factor by which descent shrinks a weight that no sample touches.

    Without momentum it is (1 - 2 rate decay)^steps.

    Raises
    ------
    ValueError
        If ``steps`` is not a whole number of 0 or more.

    Examples
    --------
    >>> forgetting(3, decay=0.25, rate=1.0)
    0.125
    """
    checks.whole(steps, "steps", 0)
    w, v = 1.0, 0.0
    for _ in range(steps):
        v = momentum * v + 2 * decay * w
        w -= rate * v
    return w


def flops(net: Dense, samples: int) -> int:
    """Floating-point operations of one step on ``samples`` samples.

    Counted are the products, two operations for each weight and sample forward and four backward
    (two in the first layer, whose inputs need no gradient), and six for each weight in the update
    (decay, momentum, step).

    Examples
    --------
    >>> flops(Dense((3, 2), bias=False), 10)
    276
    """
    sizes = [a * b for a, b in zip(net.widths[:-1], net.widths[1:], strict=True)]
    return samples * (6 * sum(sizes) - 2 * sizes[0]) + 6 * net.parameters


@torch.no_grad()
def descend(
    net: Dense,
    weights: Weights,
    X: Tensor,
    Y: Tensor,
    *,
    decay: object,
    rate: object,
    steps: int,
    momentum: float = 0.9,
    loss: str = "square",
    pick: Picker | None = None,
    measure: Mapping[str, Callable[[Weights], Tensor]] | None = None,
    schedule: Sequence[int] = (),
) -> Path:
    """Descend from ``weights`` (which are kept) for ``steps`` steps.

    Parameters
    ----------
    X, Y
        (T, m, n) and (T, c, n), or without T if all trials share them.
    decay
        λ: a number, (T,) for each trial, or (T, L) for each trial and layer. The penalty is
        λ‖θ‖², its gradient 2λθ.
    rate
        A number or (T,).
    pick
        Given a step's number, the columns (T, k) or (k,) that its gradient is taken over, all
        unless given.
    measure, schedule
        Names and functions of the weights, each (T, ...), and the steps before which they are
        taken; ``steps`` itself means the end.

    Raises
    ------
    ValueError
        If an argument is not as above.

    Examples
    --------
    >>> net = Dense((1, 1), bias=False)
    >>> one, start = torch.ones(1, 1), net.init(trials=2)
    >>> end = descend(net, start, one, one, decay=[0.0, 1.0], rate=0.1, steps=200)
    >>> [round(w, 3) for w in end.weights[0][0].flatten().tolist()]
    [1.0, 0.5]
    """
    checks.choice(loss, LOSSES, "loss")
    checks.whole(steps, "steps", 0)
    X = net.check(weights, X)
    trials, dtype = len(X), X.dtype
    Y = spread(Y, trials, net.widths[-1], "Y")
    if Y.shape[2] != X.shape[2] or Y.dtype != dtype:
        raise ValueError(
            "X and Y need as many samples and one dtype; they have "
            f"{X.shape[2]} and {Y.shape[2]}, {dtype} and {Y.dtype}."
        )
    strength = _table(decay, trials, net.depth, "decay").to(dtype)
    pace = _table(rate, trials, 1, "rate").to(dtype)[..., None]
    moving = [(W.detach().clone(), None if b is None else b.detach().clone()) for W, b in weights]
    layer = [k for k, pair in enumerate(moving) for t in pair if t is not None]
    leaves = [(t, strength[:, k, None, None]) for t, k in zip(flat(moving), layer, strict=True)]
    speed = [torch.zeros_like(t) for t, _ in leaves]
    kept: dict[str, list[Tensor]] = {name: [] for name in (measure or {})}
    wanted, taken = sorted(set(schedule)), []

    def look(step: int) -> None:
        if step in wanted:
            taken.append(step)
            for name, function in (measure or {}).items():
                kept[name].append(function(moving).clone())

    for step in range(steps):
        look(step)
        A, B = X, Y
        if pick is not None:
            columns = pick(step).expand(trials, -1)[:, None]
            A, B = (M.gather(2, columns.expand(-1, M.shape[1], -1)) for M in (X, Y))
        _, parts = _backward(net, moving, A, B, loss)
        for (t, lam), v, g in zip(leaves, speed, parts, strict=True):
            v.mul_(momentum).add_(g).addcmul_(lam, t, value=2)
            t.sub_(pace * v)
    look(steps)
    value, parts = _backward(net, moving, X, Y, loss)
    squares = [
        (g + 2 * lam * t).square().sum((1, 2)) for (t, lam), g in zip(leaves, parts, strict=True)
    ]
    return Path(
        weights=moving,
        loss=value,
        objective=value + sum((lam * t.square()).sum((1, 2)) for t, lam in leaves),
        gradient_norm=torch.stack(squares).sum(0).sqrt(),
        steps=tuple(taken),
        trace={name: torch.stack(values) for name, values in kept.items() if values},
    )
