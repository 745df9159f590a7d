r"""Two linear layers on data of one signal direction: where the normal weights end, from any start.

The data lie on one axis: :math:`\langle x^2\rangle=a`, :math:`\langle gx\rangle=b`. With
:math:`r=(W^2)^\top` and :math:`p=W^1_x` the gradient flow is :math:`\dot r=-Gp,\ \dot p=-Gr` with
the number :math:`G=a\,r\cdot p-b`, and the columns :math:`W^1_y` do not move. So r + p and r - p
keep their directions, and one number, :math:`X`, says how far they have gone.
:func:`stretch` is its limit, :func:`normal_limit` the normal weights there, and :func:`settle`
solves the flow of all weights, to compare.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

__all__ = ["normal_limit", "settle", "stretch"]


def stretch(p: object, r: object, target: object) -> np.ndarray:
    r"""The factor X (...) by which ‖r + p‖² has grown when r·p has reached ``target`` (...).

    ``p`` and ``r`` (..., n) are the weights at some time. It is the positive root of
    :math:`\|r+p\|^2X-\|r-p\|^2/X=4\,\mathrm{target}`.

    Raises
    ------
    ValueError
        If r = -p and the target is not negative, or r = p and it is not positive: such a network
        cannot reach it.

    Examples
    --------
    >>> float(stretch([1.0], [1.0], 4.0))  # r = p = 1 doubles to reach 4
    4.0
    """
    p, r = np.asarray(p, float), np.asarray(r, float)
    up, down = ((r + p) ** 2).sum(-1), ((r - p) ** 2).sum(-1)
    goal = np.broadcast_to(np.asarray(target, float), up.shape)
    if ((up == 0) & (goal >= 0)).any() or ((down == 0) & (goal <= 0)).any():
        raise ValueError(
            "the target cannot be reached: it must be negative if r = -p, positive if r = p."
        )
    root = np.sqrt(4 * goal**2 + up * down)
    # Two forms of one root: the first cancels where the target is negative.
    safe = np.where(up > 0, up, 1.0)
    return np.where(goal >= 0, (2 * goal + root) / safe, down / np.maximum(root - 2 * goal, 1e-300))


def normal_limit(p: object, r: object, normal: object, target: object) -> np.ndarray:
    r"""The normal weights (..., k) when the weight along the data is ``target`` (...).

    ``p`` and ``r`` (..., n) are :math:`W^1_x` and :math:`(W^2)^\top` at the start, ``normal``
    (..., n, k) is :math:`W^1_y`, which does not move.

    Examples
    --------
    >>> p, r = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    >>> normal_limit(p, r, np.eye(2), 1.0).tolist()  # it is there already: r itself
    [1.0, 1.0]
    """
    p, r, Y = (np.asarray(v, float) for v in (p, r, normal))
    root = np.sqrt(stretch(p, r, target))[..., None]
    last = (root * (r + p) + (r - p) / root) / 2
    return (last[..., None, :] @ Y)[..., 0, :]


def settle(
    p: object, r: object, normal: object, *, moment: float = 1.0, target: float = 1.0,
    until: float = 60.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """All weights at time ``until`` of the gradient flow: p (n,), r (n,) and the columns (n, k).

    ``moment`` is the mean of x², ``target`` that of gx; the loss is that of the whole network, and
    nothing is assumed about which weights move.

    Raises
    ------
    ValueError
        If shapes disagree or ``moment`` is not positive.

    Examples
    --------
    >>> p, r, Y = settle([1.0], [0.5], [[2.0]], target=1.0)
    >>> round(float(p @ r), 6), Y.tolist()
    (1.0, [[2.0]])
    """
    p, r, Y = (np.asarray(v, float) for v in (p, r, normal))
    if p.ndim != 1 or r.shape != p.shape or Y.ndim != 2 or len(Y) != len(p):
        raise ValueError(
            f"p and r must be (n,), the normal columns (n, k); you gave {p.shape}, {r.shape} and "
            f"{Y.shape}."
        )
    if not moment > 0:
        raise ValueError(f"moment must be above 0; you gave {moment}.")
    n, k = Y.shape
    A = np.zeros((1 + k, 1 + k))
    A[0, 0] = moment
    b = np.r_[target, np.zeros(k)]

    def velocity(_: float, flat: np.ndarray) -> np.ndarray:
        first, last = flat[: n * (1 + k)].reshape(n, 1 + k), flat[n * (1 + k) :]
        slope = A @ (last @ first) - b
        return np.r_[-np.outer(last, slope).ravel(), -first @ slope]

    start = np.r_[np.column_stack([p, Y]).ravel(), r]
    run = solve_ivp(velocity, (0.0, until), start, "LSODA", rtol=1e-10, atol=1e-12)
    first, last = run.y[: n * (1 + k), -1].reshape(n, 1 + k), run.y[n * (1 + k) :, -1]
    return first[:, 0], last, first[:, 1:]
