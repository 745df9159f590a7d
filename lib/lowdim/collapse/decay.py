r"""What weight decay alone does along gradient descent, and what a step costs.

Part II compares networks that differ in weight decay only: trials of one
:class:`lowdim.nets.training.Objective` whose penalty is an axis, a λ for each trial and layer. Here
is what such runs are measured against: the part of the start that no gradient touches is forgotten
at a known rate, and two methods are compared at equal cost.
"""

from __future__ import annotations

from lowdim import checks
from lowdim.nets.networks import Dense

__all__ = ["flops", "forgetting"]


def forgetting(steps: int, *, decay: float, rate: float, momentum: float = 0.0) -> float:
    """The factor by which descent shrinks a weight that no sample touches.

    ``decay`` is the λ of a penalty λ‖θ‖². Without momentum it is (1 - 2 rate λ)^steps.

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
