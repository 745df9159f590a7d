r"""Adam on a penalty alone, one step at a time: the rungs of the proof that it comes back.

A state is the weight w and the average m of its past; a step is m' = β₁m + (1 - β₁)w' with
w' = w - αm. Where α exceeds :math:`(3+\beta_1)/(1-\beta_1)`, states in the cone
:math:`|w|\le\frac2{1-\beta_1}|m|` stay there and m grows (:func:`inside`), and from outside a state
enters it or w shrinks (:func:`outside`). :func:`averages` are the averages along real paths,
:func:`returns` how far these come back, :func:`radii` what happens near zero with ε > 0.
"""

from __future__ import annotations

import numpy as np

from lowdim.embedded import decay
from lowdim.seeds import generator

__all__ = ["averages", "inside", "outside", "radii", "returns"]

PATHS = (  # β₁, β₂, ε over 2λη, the start over η
    (0.9, 0.999, 0.0, 100.0),
    (0.9, 0.999, 0.0, 0.3),
    (0.9, 0.999, 0.01, 100.0),
    (0.0, 0.99, 0.0, 5.5),
    (0.5, 0.9, 0.0, 20.0),
    (0.5, 0.9, 0.05, 3.0),
    (0.9, 0.8, 0.0, 50.0),
    (0.95, 0.95, 0.0, 1e-3),
)


def _states(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """β₁ (count,), with the ends of its range, and δ = α - (3 + β₁)/(1 - β₁), tiny to large."""
    beta = rng.choice([0.0, 0.5, 0.9, 0.999, np.nan], count)
    beta = np.where(np.isnan(beta), rng.uniform(0, 1, count), beta)
    return beta, 10.0 ** rng.uniform(-9, 4, count)


def inside(count: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rungs (3, count) each, from states in the cone, its edges among them.

    The first: the growth of |m| that is claimed; (z - β₁)|m|; |m'| by Adam's own step. The second:
    |w'| by that step; z/((1 - β₁)(z - β₁))·|m'|; the edge of the cone, 2|m'|/(1 - β₁).

    Examples
    --------
    >>> growth, cone = inside(1000, seed=0)
    >>> bool((np.diff(growth, axis=0) > -1e-9 * growth[:-1]).all())
    True
    """
    rng = generator(seed, 0, "inside the cone")
    beta, delta = _states(count, rng)
    alpha = (3 + beta) / (1 - beta) + delta
    edge = 2 / (1 - beta)
    rho = edge * np.clip(rng.uniform(-1.5, 1.5, count), -1, 1)  # a third lies on the edges
    m = rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(-3, 3, count)
    w = rho * m
    after = w - alpha * m
    next_m = beta * m + (1 - beta) * after
    z = (1 - beta) * (alpha - rho)
    growth = np.stack(
        [(1 + (1 - beta) * delta) * np.abs(m), (z - beta) * np.abs(m), np.abs(next_m)]
    )
    cone = np.stack([
        np.abs(after), z / ((1 - beta) * (z - beta)) * np.abs(next_m), edge * np.abs(next_m)
    ])  # fmt: skip
    return growth, cone


def outside(count: int, *, seed: int) -> tuple[np.ndarray, float]:
    """Rungs (4, kept) from states outside the cone whose next state is outside too; and least m/w.

    |w'/w| by Adam's own step; (m/w)/γ with γ = (1 - β₁)/2β₁; 1/(γα - 1); 2β₁/(3 - β₁). Half of the
    states are drawn near m/w = 1/α, for there alone some stay outside.

    Examples
    --------
    >>> rungs, least = outside(1000, seed=0)
    >>> bool((np.diff(rungs, axis=0) >= -1e-9).all()), least > 0
    (True, True)
    """
    rng = generator(seed, 0, "outside the cone")
    beta, delta = _states(count, rng)
    beta = np.maximum(beta, 1e-3)  # with β₁ = 0 all next states are in the cone
    alpha, gamma = (3 + beta) / (1 - beta) + delta, (1 - beta) / (2 * beta)
    y = (1 - beta) / 2 * rng.uniform(-1, 1, count)
    near = (1 + rng.uniform(-0.2, 1.2, count) / (gamma * alpha - 1)) / alpha
    y = np.where(rng.uniform(size=count) < 0.5, y, near)
    w = rng.choice([-1.0, 1.0], count)
    after = w - alpha * y * w
    next_m = beta * y * w + (1 - beta) * after
    stays = (np.abs(y) < (1 - beta) / 2) & (np.abs(after) > 2 / (1 - beta) * np.abs(next_m))
    beta, alpha, gamma, y, after = (v[stays] for v in (beta, alpha, gamma, y, after))
    rungs = [np.abs(after), y / gamma, 1 / (gamma * alpha - 1), 2 * beta / (3 - beta)]
    return np.stack(rungs), float(y.min())


def averages(steps: int = 2000) -> np.ndarray:
    """Rungs (2, k) along the :data:`PATHS`: |m̂| and √v̂; the largest |w| so far.

    Examples
    --------
    >>> average, most = averages(200)
    >>> bool((average <= most * (1 + 1e-12)).all())
    True
    """
    found = []
    for first, second, floor, start in PATHS:
        path = decay.adam_long(start, steps, rate=1.0, beta=(first, second), floor=floor)
        m = v = 0.0
        most = np.maximum.accumulate(np.abs(path))
        for t in range(1, steps + 1):
            w = path[t - 1]
            m, v = first * m + (1 - first) * w, second * v + (1 - second) * w * w
            if t % 10 == 1:
                now = (abs(m) / (1 - first**t), (v / (1 - second**t)) ** 0.5)
                found += [(each, most[t - 1]) for each in now]
    return np.array(found).T


def returns(steps: int = 60_000) -> np.ndarray:
    """Rungs (2, k): the floor of the theorem, and the largest |w|/η in the last half of each path.

    Examples
    --------
    >>> floor, back = returns(20000)
    >>> bool((floor <= back).all())
    True
    """
    found = []
    for first, second, floor, start in PATHS:
        path = decay.adam_long(start, steps, rate=1.0, beta=(first, second), floor=floor)
        found.append((decay.adam_floor(first) - floor, np.abs(path[steps // 2 :]).max()))
    return np.array(found).T


def radii(count: int, *, seed: int) -> np.ndarray:
    """Rungs (3, count): spectral radii near zero for 2λη/ε below the critical value, 1, above it.

    Of the matrix that takes (w, m) to the next state, by its eigenvalues.

    Examples
    --------
    >>> below, one, above = radii(100, seed=0)
    >>> bool((below < one).all() and (one < above).all())
    True
    """
    rng = generator(seed, 0, "near zero")
    beta = rng.uniform(0, 0.99, count)
    critical = 2 * (1 + beta) / (1 - beta)
    part = 10.0 ** rng.uniform(-4, -0.01, count)
    rungs = []
    for alpha in (critical * (1 - part), critical * (1 + part)):
        # (w, m) -> (w - αm, β₁m + (1 - β₁)(w - αm))
        rows = [[np.ones(count), -alpha], [1 - beta, beta - (1 - beta) * alpha]]
        rungs.append(np.abs(np.linalg.eigvals(np.moveaxis(np.array(rows), -1, 0))).max(1))
    return np.stack([rungs[0], np.ones(count), rungs[1]])
