"""Checkers of Part III."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from torch import Tensor

from lowdim.embedded import balance, flows
from lowdim.embedded.noise import Blurred
from lowdim.exercises.checking import checker, matrix, number, outcome, wants
from lowdim.seeds import generator

Array = np.ndarray


def _factors(given: Any, like: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Factors of these shapes as tensors of doubles, or :class:`Wrong`."""
    try:
        parts = list(given)
    except TypeError:
        outcome("what is returned is no list of matrices")
    wants(len(parts) == len(like), f"there are {len(parts)} factors, not {len(like)}")
    return [
        matrix(W, shape, f"factor {place}")
        for place, (W, shape) in enumerate(zip(parts, like, strict=True), start=1)
    ]


@checker
def check_constant(constant_factors: Callable[[float, int, int, int], Any]) -> None:
    """Exercise 2 of the gradient flow: balanced factors, each with one constant in all its entries.

    Examples
    --------
    >>> check_constant(lambda size, d, n, L: [])
    'Not yet: there are 0 factors, not 6.'
    """
    for size, d, n, L in ((2.0**-6, 5, 10, 6), (0.7, 3, 4, 2), (3.0, 2, 7, 3), (0.2, 4, 1, 4)):
        shapes = [(b, a) for a, b in pairwise([d, *[n] * (L - 1), 1])]
        W = _factors(constant_factors(size, d, n, L), shapes)
        for V in W:
            wants(V.max() - V.min() < 1e-12, "a factor has two different entries")
        found = float(np.linalg.norm(balance.end_to_end(W)))
        wants(abs(found - size) < 1e-9 * size, "the product does not have the norm that was asked")
        wants(
            balance.imbalance(W) < 1e-9 * size ** (2 / L),
            "the factors are not balanced",
        )


@checker
def check_best(best: Callable[[float], Any]) -> None:
    """Exercise 2 of Lemma 3.1: the smallest and the largest a at which momentum decays fastest.

    Examples
    --------
    >>> check_best(lambda mu: (1.0, 1.0))
    'Not yet: for some μ a little more than the largest a decays as fast.'
    """

    def rate(a: float, mu: float) -> float:
        return max(abs(np.roots([1, -(1 + mu - a), mu])))

    for mu in (0.1, 0.37, 0.81, 0.98):
        try:
            low, high = best(mu)
        except (TypeError, ValueError):
            outcome("best(mu) is no pair of numbers")
        low, high = number(low, "the smallest a"), number(high, "the largest a")
        wants(0 < low <= high, "the smallest a is not above 0, or above the largest")
        least = min(rate(a, mu) for a in np.linspace(1e-3, 2 * (1 + mu), 201))
        inside = (low + share * (high - low) for share in (0.0, 0.3, 0.7, 1.0))
        # at a double root an error δ in a moves the modulus by its root, here 1e-8
        slowest = max(rate(a, mu) for a in inside)
        wants(slowest < least + 1e-6, "for some μ an a between the two decays slower than another")
        step = 0.01 * (1 - mu) ** 2
        wants(
            rate(high + step, mu) > least + 1e-6,
            "for some μ a little more than the largest a decays as fast",
        )
        wants(
            rate(low - step, mu) > least + 1e-6,
            "for some μ a little less than the smallest a decays as fast",
        )


@checker
def check_same(same_normal_weight: Callable[[Callable], Callable]) -> None:
    """Exercise 2 of linear regression: another target with the same normal weight on all data.

    Examples
    --------
    >>> check_same(lambda g: g)
    'Not yet: the two functions are the same.'
    """
    at = np.linspace(-2, 2, 41)
    targets: list[Callable[[Array], Any]] = [np.cos, np.exp, lambda x: np.abs(x) ** 3]
    for trial, g in enumerate(targets):
        other = same_normal_weight(g)
        values = matrix(other(at), (len(at),), "the new function of 41 numbers")
        wants(np.abs(g(at) - values.numpy()).max() > 1e-3, "the two functions are the same")
        alone = matrix(other(at[3:11]), (8,), "the new function of 8 numbers")
        wants(
            np.abs(alone.numpy() - values.numpy()[3:11]).max() < 1e-9,
            "its value at a point depends on the other points: this is no function of x",
        )
        draw = generator(0, trial, "exercise: same weight")
        for N in (4, 9, 60):
            x, y = 2 * draw.uniform(-1, 1, N) + 0.3 * trial, draw.standard_normal(N)
            found = [
                np.linalg.lstsq(np.stack([x, y], 1), np.array(h(x), dtype=np.float64), rcond=None)[
                    0
                ][1]
                for h in (g, other)
            ]
            wants(
                abs(found[0] - found[1]) < 1e-7 * (1 + abs(found[0])),
                f"on some {N} points the normal weights differ",
            )


@checker
def check_unshrunk(unshrunk: Callable[[Array, float, Array], Any]) -> None:
    """Exercise 2 of noise as a regularizer: undo what noise everywhere does to the weights.

    Examples
    --------
    >>> check_unshrunk(lambda w, sigma, Sigma: w)
    'Not yet: for some moments the result is not the ν that the weights came from.'
    """
    for trial, (d, sigma) in enumerate(((1, 0.5), (2, 0.1), (3, 1.0), (5, 2.0), (4, 0.0))):
        draw = generator(0, trial, "exercise: unshrunk")
        root, nu = draw.standard_normal((d, d)), draw.standard_normal(d)
        Sigma = root @ root.T + 0.1 * np.eye(d)
        w = Blurred(Sigma, Sigma @ nu, 1e3).weights(sigma) if sigma else nu
        found = matrix(unshrunk(w.copy(), sigma, Sigma.copy()), (d,), "what unshrunk returns")
        wants(
            np.abs(found.numpy() - nu).max() < 1e-8 * np.linalg.cond(Sigma),
            "for some moments the result is not the ν that the weights came from",
        )


@checker
def check_features(features: Callable[[Array], Any]) -> None:
    """Exercise 2 of Theorem 2.1: functions of x that leave less for the noise to explain.

    Examples
    --------
    >>> check_features(lambda x: x[:, 0])
    'Not yet: features(x) for 300 points has shape (300,), not (300, any).'
    """
    plain: list[float] = []
    better: list[float] = []
    for trial in range(30):
        draw = generator(0, trial, "exercise: features")
        N = (300, 120)[trial % 2]
        x, y = draw.uniform(-1, 1, (N, 2)), draw.standard_normal((N, 1))
        F = matrix(features(x.copy()), (N, None), f"features(x) for {N} points").numpy()
        wants(1 <= F.shape[1] <= 6, "there are more than 6 functions, or none")
        if trial < 2:
            order = draw.permutation(N)[: N // 2]
            again = matrix(features(x[order]), (N // 2, None), "features of half of the points")
            wants(
                again.shape[1] == F.shape[1] and np.allclose(again.numpy(), F[order]),
                "a point's row depends on the other points: these are no functions of x",
            )
        g = np.pi * np.sin(np.pi * x).sum(1)
        for B, kept in ((x, plain), (F, better)):
            kept.append(N * np.linalg.lstsq(np.hstack([B, y]), g, rcond=None)[0][-1] ** 2)
    wants(
        np.mean(better) < np.mean(plain) / 100,
        "the normal weight is not ten times smaller than with x alone",
    )


@checker
def check_scale(best_scale: Callable[[Array, float], Any]) -> None:
    """Exercise 2 of Theorem 2.2: the scale of the normal part that makes the descent fastest.

    Examples
    --------
    >>> check_scale(lambda A, sigma: 1.0)
    'Not yet: for some A another c has a smaller condition number.'
    """
    for trial in range(12):
        draw = generator(0, trial, "exercise: scale")
        z = draw.standard_normal((6, 2)) * 10 ** draw.uniform(-1, 1, 2)
        A, sigma = z.T @ z / 6, 2.0 ** -draw.uniform(0, 6)
        c = number(best_scale(A.copy(), sigma), "the scale")
        wants(c > 0, "the scale is not above 0")

        def worst(log_c: float, A: Array = A, sigma: float = sigma) -> float:
            D = np.array([1.0, sigma * math.exp(log_c)])
            return float(np.linalg.cond(D[:, None] * A * D))

        least = minimize_scalar(worst, bounds=(-12, 15), method="bounded").fun
        # the condition number is flat at its minimum: c right to 1 % has it right to 1e-4
        wants(
            worst(math.log(c)) < least * (1 + 1e-4),
            "for some A another c has a smaller condition number",
        )


@checker
def check_depth(worst_depth: Callable[[float], Any]) -> None:
    """Exercise 2 of Theorem 2.3: the depth that waits longest at the origin.

    Examples
    --------
    >>> check_depth(lambda eps: 2)
    'Not yet: for some ε another depth waits longer.'
    """

    def wait(L: float, eps: float) -> float:
        # ∫ of 1/(L r^(2-2/L)) from ε to 3ε/2, by hand: the antiderivative is r^(2/L-1)/(2-L)
        if L == 2:
            return math.log(1.5) / 2
        return ((1.5 * eps) ** (2 / L - 1) - eps ** (2 / L - 1)) / (2 - L)

    for eps in (0.45, 0.2, 0.03, 2e-3, 1e-5, 3e-9):
        L = number(worst_depth(eps), "the depth")
        wants(L == int(L) and L >= 1, "the depth is no whole number of 1 or more")
        longest = max(wait(k, eps) for k in range(1, 600))
        wants(wait(L, eps) >= longest * (1 - 1e-12), "for some ε another depth waits longer")


@checker
def check_quieter(quieter: Callable[[list[Tensor]], Any]) -> None:
    """Exercise 2 of Theorem 2.4: factors of the same product that end with a smaller normal weight.

    Examples
    --------
    >>> check_quieter(lambda factors: factors)
    'Not yet: from some start the normal weight ends hardly smaller than from the balanced factors.'
    """

    def end(W: Sequence[Tensor], target: float) -> float:
        # r + p and r − p keep their directions (r = W², p = W¹ e_x): one shrinks as the other
        # grows, by the root of X, until r·p is the target
        r, p, across = W[1][0], W[0][:, 0], W[0][:, 1]
        a, c = (r + p).square().sum(), (r - p).square().sum()
        X = (4 * target + (16 * target**2 + 4 * a * c).sqrt()) / (2 * a)
        return float(across @ (X.sqrt() * (r + p) + (r - p) / X.sqrt()) / 2)

    cases = ([0.5, 0.5], 1.0, 3), ([0.2, -0.7], 1.5, 1), ([0.1, 0.3], 1.0, 5), ([-0.2, 0.4], 2.0, 2)
    for seed, (w, target, width) in enumerate(cases):
        plain = flows.balanced_factors(w, 2, width, seed=seed)
        shapes = [tuple(W.shape) for W in plain]
        other = _factors(quieter([W.clone() for W in plain]), shapes)
        apart = (other[1] @ other[0] - plain[1] @ plain[0]).abs().max()
        wants(apart < 1e-9, "the product of the factors has changed")
        wants(
            abs(end(other, target)) < 0.9 * abs(end(plain, target)),
            "from some start the normal weight ends hardly smaller than from the balanced factors",
        )


@checker
def check_ball_slice(ball_slice: Callable[[int], Any]) -> None:
    """Exercise 2 of Theorem 3.1: the largest slice of the unit ball, judged by volumes.

    Examples
    --------
    >>> check_ball_slice(lambda d: 2.0)
    'Not yet: in 1 dimension the slices do not add up to the volume of the ball.'
    """
    turn = np.linspace(-np.pi / 2, np.pi / 2, 2001)
    for d in range(1, 10):
        central = number(ball_slice(d), "the slice")
        # a slice at height sin t is the central one times cos t to the power d - 1
        volume = central * float(np.trapezoid(np.cos(turn) ** d, turn))
        ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
        wants(
            abs(volume / ball - 1) < 1e-5,
            f"in {d} dimension{'s' * (d > 1)} the slices do not add up to the volume of the ball",
        )


@checker
def check_far(far: Callable[[Array, float], Any]) -> None:
    """Exercise 2 of Theorem 3.2: the limit of S/γ² for a network of one hidden layer.

    Examples
    --------
    >>> check_far(lambda v, eta: 0.0)
    'Not yet: for some weights S/γ² at a large γ is something else.'
    """
    g = np.linspace(-9, 9, 1801)
    density = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi) * (g[1] - g[0])
    gamma = 1e5
    for trial, (n, eta) in enumerate(((6, 0.5), (3, 2.0), (1, 1.0), (8, 0.1), (4, 1.5))):
        draw = generator(0, trial, "exercise: far")
        v, t = draw.standard_normal(n), draw.standard_normal((n, 20))
        v = v - v.mean() * (trial == 4)  # one whose weights add to zero
        c = number(far(v.copy(), eta), "the limit")
        moved = t[..., None] + gamma * eta * math.sqrt(2) * g  # (n, x, g)
        change = np.einsum("i,ixg->xg", v, np.maximum(moved, 0) - np.maximum(t, 0)[..., None])
        there = float((change**2 @ density).mean()) / gamma**2
        wants(
            abs(there - c) < 1e-3 * eta**2 * float(v @ v),
            "for some weights S/γ² at a large γ is something else",
        )
