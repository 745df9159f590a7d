"""The smallest noisy data: one direction of signal and one of noise, with g(x) = x + 0.1 sin πx."""

from __future__ import annotations

import numpy as np

from lowdim import checks
from lowdim.embedded import flows
from lowdim.embedded.flows import Flow
from lowdim.seeds import generator

__all__ = ["data", "minima", "noisy_flow", "settled"]


def data(rng: np.random.Generator, sigma: float, N: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, 2), x uniform on [-1, 1] and σ times a normal y, and values (N,).

    Examples
    --------
    >>> X, g = data(np.random.default_rng(0), 0.1, 50)
    >>> X.shape, g.shape, bool(np.abs(X[:, 0]).max() <= 1)
    ((50, 2), (50,), True)
    """
    x, y = rng.uniform(-1, 1, checks.whole(N, "N", 1)), rng.standard_normal(N)
    return np.stack([x, sigma * y], 1), x + 0.1 * np.sin(np.pi * x)


def noisy_flow(sigma: float, *, depth: int = 5, seed: int) -> Flow:
    """The flow on one draw of 10 000 points; for one seed the same x and y for every σ.

    Examples
    --------
    >>> flow = noisy_flow(0.1, seed=0)
    >>> bool(abs(flow.minimizer()[0] - 1 - 0.3 / np.pi) < 0.01), flow.depth
    (True, 5)
    """
    return Flow.from_data(*data(generator(seed, 0, "figure"), sigma), depth=depth)


def minima(count: int, *, sigma: float = 0.1, seed: int) -> np.ndarray:
    """Minima (count, 2) of the loss over draws of 10 000 points.

    Examples
    --------
    >>> minima(3, seed=0).shape
    (3, 2)
    """
    found = []
    for k in range(checks.whole(count, "count", 1)):
        X, g = data(generator(seed, k, "draws"), sigma)
        found.append(np.linalg.solve(X.T @ X, X.T @ g))
    return np.array(found)


def settled(
    flow: Flow, start: object, *, within: float = 0.05, until: float = 4000.0
) -> np.ndarray:
    """Times (d,) after which each component stays ``within`` reach of the minimum.

    They are points in time of the solver. A component that is never far has 0, one that is far in
    the end has the last time.

    Examples
    --------
    >>> flow = Flow(np.diag([1.0, 0.01]), np.array([1.0, 0.0]), depth=1)
    >>> fast, slow = settled(flow, [0.0, 1.0])  # log 20 and 100 log 20
    >>> bool(2.9 < fast < 3.6), bool(290 < slow < 340)
    (True, True)
    """
    run = flows.follow(flow, start, until, rtol=1e-8, atol=1e-11)
    far = np.abs(run.points - flow.minimizer()) > within
    last = [np.flatnonzero(column) for column in far.T]
    end = len(run.times) - 1
    return np.array([run.times[min(k[-1] + 1, end)] if k.size else 0.0 for k in last])
