r"""The slow manifold: eigenvalues of the flow at its minimum when the noise is small, and times.

Data :math:`(x_i,\sigma y_i)` have the moments :math:`A_\sigma=D\langle A\rangle_ND` with
:math:`D=\operatorname{diag}(I,\sigma I)`, so that one draw of points serves every σ:
:func:`scaled` makes the flow, :func:`eigenvalues` its rates at the minimum, :func:`settling` the
times at which a trajectory comes close and stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lowdim import checks
from lowdim.embedded import flows
from lowdim.embedded.flows import Flow
from lowdim.seeds import generator

__all__ = [
    "draws", "eigenvalues", "kernel_is_normal", "knee", "scaled", "settling", "sine_moments",
    "spectra",
]  # fmt: skip

Moments = tuple[np.ndarray, np.ndarray]


def sine_moments(N: int, *, draw: int, seed: int) -> Moments:
    """⟨A⟩ (3, 3) and ⟨g(x, y)⟩ (3,) for x on the square, one noise direction, g = π(sin πx₁ + …).

    Examples
    --------
    >>> A, c = sine_moments(50000, draw=0, seed=0)
    >>> bool(abs(A[0, 0] - 1 / 3) < 0.01 and abs(c[0] - 1) < 0.02)
    True
    """
    rng = generator(seed, draw, "figure", checks.whole(N, "N", 1))
    x, y = rng.uniform(-1, 1, (N, 2)), rng.standard_normal((N, 1))
    z, g = np.hstack([x, y]), np.pi * np.sin(np.pi * x).sum(1)
    return z.T @ z / N, z.T @ g / N


def draws(sizes: Sequence[int], *, count: int, seed: int) -> dict[int, list[Moments]]:
    """``count`` draws of :func:`sine_moments` for every number of points.

    Examples
    --------
    >>> {N: len(made) for N, made in draws([20, 40], count=3, seed=0).items()}
    {20: 3, 40: 3}
    """
    return {N: [sine_moments(N, draw=k, seed=seed) for k in range(count)] for N in sizes}


def knee(N: int) -> float:
    """The σ at which σ√N = τ/‖w_x*‖ for the data of :func:`sine_moments`.

    For smaller σ the normal weights of the minimum are larger than the others.

    Examples
    --------
    >>> round(knee(10000), 5)
    0.00464
    """
    return float(np.sqrt(np.pi**2 - 6) / (18 * N) ** 0.5)


def scaled(A: np.ndarray, c: np.ndarray, sigma: float, depth: int, *, tangent: int = 2) -> Flow:
    """The flow with noise σ in all but the first ``tangent`` directions.

    ``A`` (d, d) and ``c`` (d,) are the moments with σ = 1.

    Examples
    --------
    >>> flow = scaled(np.eye(3), np.ones(3), 0.1, 2)
    >>> np.diag(flow.moments).round(4).tolist(), flow.target.tolist()
    ([1.0, 1.0, 0.01], [1.0, 1.0, 0.1])
    """
    D = np.r_[np.ones(tangent), np.full(len(c) - tangent, sigma)]
    return Flow(A * np.outer(D, D), D * c, depth)


def eigenvalues(flow: Flow) -> np.ndarray:
    """Sizes (d,) of the eigenvalues of the flow's Jacobian at the minimum, increasing.

    Through the symmetric matrix that the Jacobian is similar to there.

    Examples
    --------
    >>> eigenvalues(scaled(np.eye(3), np.array([1.0, 0, 0]), 0.1, 5)).round(6).tolist()
    [0.01, 1.0, 5.0]
    """
    w = np.linalg.solve(flow.moments, flow.target)
    unit = w / np.linalg.norm(w)
    root = np.eye(len(w)) + (np.sqrt(flow.depth) - 1) * np.outer(unit, unit)
    scale = np.linalg.norm(w) ** (2 - 2 / flow.depth)
    return scale * np.linalg.eigvalsh(root @ flow.moments @ root)


def spectra(moments: Sequence[Moments], sigma: Sequence[float], depth: int) -> np.ndarray:
    """:func:`eigenvalues` for every draw and every σ: (draws, len(sigma), d).

    Examples
    --------
    >>> spectra(draws([30], count=2, seed=0)[30], [0.1, 0.2], 3).shape
    (2, 2, 3)
    """
    return np.array([[eigenvalues(scaled(A, c, s, depth)) for s in sigma] for A, c in moments])


def kernel_is_normal(flow: Flow, w: np.ndarray, tangent: int) -> bool:
    """Whether the Jacobian at ``w`` (d,) has the kernel {(0, w_y)}, and else negative eigenvalues.

    ``tangent`` is the number of directions in which the data lie.

    Examples
    --------
    >>> flow = Flow(np.diag([1.0, 0.0]), np.array([1.0, 0.0]), 3)
    >>> kernel_is_normal(flow, np.array([1.0, 2.0]), 1), kernel_is_normal(flow, np.ones(2), 2)
    (True, False)
    """
    B = flow.jacobian(w)
    B = B / np.linalg.norm(B)
    values, (_, s, Vt) = np.linalg.eigvals(B), np.linalg.svd(B)
    ok = s[tangent - 1] > 1e-9 and (s[tangent:] < 1e-12).all()
    ok = ok and np.abs(Vt[tangent:, :tangent]).max(initial=0.0) < 1e-9
    return bool(ok and values.real.max() < 1e-9 and np.abs(values.imag).max() < 1e-6)


def settling(
    flow: Flow,
    start: np.ndarray,
    until: float,
    *,
    tolerance: float = 1e-6,
    each: bool = False,
    patience: int = 0,
) -> np.ndarray:
    """First and last time (2,) at which ‖w - w*‖ passes ``tolerance``; infinite if it does not.

    With ``each`` the times (d, 2) of every component. A component that crosses its limit between
    two points in time counts as close there. A flow that has to pass the origin waits there: what
    is not close by ``until`` is followed ten times as long, ``patience`` times.

    Examples
    --------
    >>> flow = Flow(np.eye(1), np.array([1.0]), depth=1)  # w' = 1 - w
    >>> settling(flow, np.zeros(1), 30.0, tolerance=0.1).round(1).tolist()
    [2.3, 2.3]
    """
    run = flows.follow(flow, start, until, rtol=1e-9, atol=1e-12)
    t = np.unique(np.r_[0, np.geomspace(1e-3, until, 6000), run.times])
    off = run.at(t) - flow.minimizer()
    if each:
        found = np.array([_passes(t, column, tolerance, signed=True) for column in off.T])
    else:
        found = np.array(_passes(t, np.linalg.norm(off, axis=1), tolerance, signed=False))
    if patience and not np.isfinite(found).all():
        return settling(
            flow, start, 10 * until, tolerance=tolerance, each=each, patience=patience - 1
        )
    return found


def _passes(
    t: np.ndarray, off: np.ndarray, tolerance: float, *, signed: bool
) -> tuple[float, float]:
    inside = np.abs(off) <= tolerance
    close = inside | np.r_[False, off[1:] * off[:-1] < 0] if signed else inside
    first = t[np.argmax(close)] if close.any() else np.inf
    outside = np.flatnonzero(~inside)
    last = (t[outside[-1] + 1] if len(outside) else 0.0) if inside[-1] else np.inf
    return float(first), float(last)
