r"""Reading γ back from a representation: the model of Lemma 55, solved, and decoders of networks.

With :math:`V_\theta(r)=0` on the training points the lemma's problem is finite. K is the
infinite-width Gram matrix of the mn points, S (mn, m) says whose they are,
:math:`\tilde K=(S^\top K^{-1}S)^{-1}` and :math:`c(x)=S^\top K^{-1}k(x)`. A representation of width
T keeps the T leading eigenvectors of :math:`\tilde K`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from lowdim.data import manifolds
from lowdim.data.manifolds import Manifolds
from lowdim.hashing import kernels, perceptrons, separation
from lowdim.seeds import generator

__all__ = [
    "DECODERS", "Solved", "decoders", "lotteries", "narrow_minimum", "random_partial", "share_left",
    "solved", "solved_linear",
]  # fmt: skip

DECODERS = ("inputs", "untrained", "trained", "trained, kernel", "trained, averaged")


def share_left(G: Tensor, U: Tensor, T: int) -> float:
    """Share of the squares of targets G (m, q) that the first T columns of U (m, m) miss.

    Examples
    --------
    >>> G = torch.tensor([[3.0], [4.0]])
    >>> round(share_left(G, torch.eye(2), 1), 2), share_left(G, torch.eye(2), 2)
    (0.64, 0.0)
    """
    rest = G - U[:, :T] @ (U[:, :T].T @ G)
    return float(rest.square().sum() / G.square().sum())


@dataclass(frozen=True)
class Solved:
    """The model of Lemma 55 on training manifolds, and its values at points of new ones.

    kappa: (m,) eigenvalues of K̃, largest first; U: (m, m) their eigenvectors; c: (m, q) at q new
    points; gamma: (m, s) and new_gamma: (q, s).
    """

    kappa: Tensor
    U: Tensor
    c: Tensor
    gamma: Tensor
    new_gamma: Tensor

    def left(self, G: Tensor, widths: Sequence[int]) -> list[float]:
        """Shares of targets G (m, q) that no linear map of r gives, for widths T, as λ → 0."""
        return [share_left(G, self.U, T) for T in widths]

    def unseen(self, widths: Sequence[int]) -> list[float]:
        """Shares of the variance of γ that r does not explain on the new manifolds."""
        spread = (self.new_gamma - self.new_gamma.mean(0)).square().sum()
        shares = []
        for T in widths:
            kept = self.U[:, :T]
            guess = (self.gamma.T @ kept @ (kept.T @ self.c)).T
            shares.append(float((guess - self.new_gamma).square().sum() / spread))
        return shares


def solved(train: Manifolds, new: Manifolds) -> Solved:
    """Solve the model on the manifolds ``train``; ``new`` has one point on each of its manifolds.

    Examples
    --------
    >>> model = solved_linear(8, 2, 2)
    >>> max(model.left(model.gamma, [8])) < 1e-12
    True
    """
    X, Xn = (A.flatten(0, 1).T.double() for A in (train.X, new.X))
    K = kernels.gram(X, bias=True)
    S = torch.eye(len(train.X), dtype=torch.float64).repeat_interleave(train.X.shape[1], 0)
    inverse = torch.linalg.solve(K, S)
    values, U = torch.linalg.eigh(torch.linalg.inv(S.T @ inverse))
    c = inverse.T @ kernels.gram(X, Xn, bias=True)
    return Solved(values.flip(0), U.flip(1), c, train.gamma, new.gamma)


def solved_linear(m: int = 30, n: int = 4, s: int = 3, *, seed: int = 0) -> Solved:
    """The model on m linear manifolds in s + 4 dimensions, n points each, and 200 new ones.

    Examples
    --------
    >>> tuple(solved_linear(8, 2, 2).c.shape)
    (8, 200)
    """
    family = manifolds.LinearFamily(ambient=s + 4, s=s, k=2, spread=0.7, seed=seed)
    return solved(family.draw(m=m, n=n), family.draw(m=200, n=1, first_manifold=m))


def lotteries(gamma: Tensor, *, seed: int = 0) -> dict[str, Tensor]:
    """γ (m, s) as a target, the same in another order, and as many random numbers.

    Examples
    --------
    >>> list(lotteries(torch.eye(3)))
    ['γ', 'γ, shuffled', 'lottery']
    """
    tickets = generator(seed, 0, "lottery").standard_normal(tuple(gamma.shape))
    order = torch.from_numpy(generator(seed, 1, "lottery").permutation(len(gamma)))
    return {"γ": gamma, "γ, shuffled": gamma[order], "lottery": torch.from_numpy(tickets)}


def random_partial(
    count: int, rng: np.random.Generator, *, m: int = 8, s: int = 2
) -> tuple[Tensor, Tensor]:
    """Representations (count, m-1, m) of rank 1 … m-1, and a coordinate (count, m) of unit γ.

    Examples
    --------
    >>> R, g = random_partial(50, np.random.default_rng(0))
    >>> sorted(set(torch.linalg.matrix_rank(R).tolist()))
    [1, 2, 3, 4, 5, 6, 7]
    """
    R = torch.from_numpy(rng.standard_normal((count, m - 1, m)))
    rank = torch.from_numpy(rng.integers(1, m, count))
    R = R * (torch.arange(m - 1) < rank[:, None])[..., None]
    g = rng.standard_normal((count, s, m))
    return R, torch.from_numpy(g / np.linalg.norm(g, axis=1, keepdims=True))[:, 0]


def narrow_minimum(
    K: np.ndarray, G: np.ndarray, T: int, *, lam: float, tries: int = 12, seed: int = 0
) -> tuple[float, float]:
    """The least objective at width T, and the share of G (q, m) that no affine map of r gives.

    The objective is that of Lemma 55 with K̃ = K (m, m) and λ₁ = λ₂ = ``lam``, by several descents
    in A (m, T) and Q (T, m).

    Examples
    --------
    >>> K, G = np.diag([3.0, 2.0, 1.0]), np.eye(3)
    >>> [round(narrow_minimum(K, G, T, lam=1e-3)[1], 2) for T in (1, 3)]
    [0.33, 0.0]
    """
    m = len(K)
    values, U = np.linalg.eigh(K)
    half = U @ np.diag(values**0.5) @ U.T
    rng = generator(seed, T, "narrow")

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        A, Q = v[: m * T].reshape(m, T), v[m * T :].reshape(T, m)
        rest = np.eye(m) - A @ Q @ half
        slope = -2 / m * rest
        along_A = slope @ half @ Q.T + 2 * lam * A
        along_Q = A.T @ slope @ half + 2 * lam * Q
        grad = np.concatenate([along_A.ravel(), along_Q.ravel()])
        return (rest**2).sum() / m + lam * (v**2).sum(), grad

    options = {"gtol": 1e-10}
    starts = (rng.standard_normal(2 * m * T) for _ in range(tries))
    ends = [minimize(objective, start, jac=True, options=options) for start in starts]
    best = min(ends, key=lambda end: end.fun)
    rows = np.vstack([best.x[m * T :].reshape(T, m) @ half, np.ones(m)])
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    V = basis[sizes > 1e-3 * sizes[0]]
    return float(best.fun), float(((G - G @ V.T @ V) ** 2).sum() / (G**2).sum())


def decoders(
    family: str,
    ratio: float,
    *,
    classes: int,
    points: int,
    ambient: int,
    width: int,
    epochs: int,
    rate: float,
    few: int,
    seed: int = 0,
) -> dict[str, float]:
    """Train a perceptron on a family with ‖θ‖/‖γ‖ = ``ratio`` and recover γ on new manifolds.

    Recovery distances by the names of ``DECODERS``: linear maps of the inputs and of the network
    before and after training, a kernel map of the trained representation (the best of three ridges
    on the held-out points, in its favour), and a linear map after averaging over thirty θ. Maps are
    fitted on ``few`` new manifolds and held out on a hundred more. Then ``rho`` on those and
    ``accuracy`` on test points of the training manifolds.

    Examples
    --------
    >>> sizes = {"classes": 3, "points": 10, "ambient": 12, "width": 10, "epochs": 2, "few": 20}
    >>> list(decoders("sine", 0.5, rate=0.05, **sizes))[-2:]
    ['rho', 'accuracy']
    """

    world = manifolds.AnalyticFamily(family, ambient=ambient, theta_scale=ratio, seed=seed)
    draw = partial(world.draw, dtype=torch.float32)

    fit = perceptrons.classify(
        draw(m=classes, n=points).X, width=width, epochs=epochs, rate=rate, seed=seed
    )
    shots = draw(m=few, n=30, first_manifold=classes)
    held = draw(m=100, n=30, first_manifold=classes + few)

    def linear(change: Callable[[Tensor], Tensor], *, mean: bool = False) -> float:
        A, B = change(shots.X), change(held.X)
        if mean:
            A, B = A.mean(1, keepdim=True), B.mean(1, keepdim=True)
        else:
            A, B = A[:, :5], B[:, :1]
        ridge = 1e-4 * float((A - A.mean((0, 1))).square().mean())
        held_out = (B, held.gamma)
        return separation.recover(A, shots.gamma, held_out=held_out, ridge=ridge).distance

    return {
        "inputs": linear(lambda X: X.double()),
        "untrained": linear(lambda X: fit.represent(X, trained=False)),
        "trained": linear(fit.represent),
        "trained, kernel": _by_kernel(fit, shots, held),
        "trained, averaged": linear(fit.represent, mean=True),
        "rho": float(separation.rho(fit.represent(held.X[:, :10]), over="mean", unbiased=True)),
        "accuracy": fit.accuracy(draw(m=classes, n=20, first_point=points).X),
    }


def _by_kernel(fit: perceptrons.Perceptron, shots: Manifolds, held: Manifolds) -> float:
    """Recovery distance of kernel regression from the representation, best of three ridges."""
    R, Rt = fit.represent(shots.X[:, :3]), fit.represent(held.X[:, :1])
    scale = R.norm(dim=-1).mean()
    flat = [(A / scale).flatten(0, 1).T for A in (R, Rt)]
    K, k = kernels.gram(flat[0], bias=True), kernels.gram(*flat, bias=True)
    Y = shots.gamma.double().repeat_interleave(3, 0)
    apart = torch.pdist(held.gamma.double()).mean()
    distances = []
    for ridge in (1e-3, 1e-2, 1e-1):
        guess = (torch.linalg.solve(K + ridge * torch.eye(len(K)), Y).T @ k).T
        distances.append(float((guess - held.gamma).norm(dim=1).mean() / apart))
    return min(distances)
