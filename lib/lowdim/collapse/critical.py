r"""Critical points of regression by matrices of fixed rank: all of them, and their Hessians.

With :math:`Q=YX^\top(XX^\top)^{-1/2}=\sum\sigma_iu_iv_i^\top` the critical points of
:math:`\frac1N\|Y-\Theta X\|^2` on the matrices of rank r keep r of the singular triples of Q. In
the coordinates :math:`Z=\Theta(XX^\top)^{1/2}` the loss is :math:`\frac12\|Q-Z\|^2` up to scale and
a constant, and the Hessian at a critical point has the eigenvalues :math:`1\pm\sigma_i/\sigma_j`
(j kept, i dropped) and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import torch
from scipy.optimize import least_squares, minimize
from torch import Tensor

from lowdim.collapse import linear
from lowdim.linalg import fixedrank

__all__ = [
    "Critical", "minimized", "on_diagonal", "points", "problem", "second_difference", "selection",
    "white", "zero_of_gradient",
]  # fmt: skip


@dataclass(frozen=True)
class Critical:
    """A point Theta (c, d) that keeps the singular triples ``J`` of Q; sigma (min(c, d),) are all.

    X is (d, N), Y (c, N), lam the weight of ‖Theta‖² in the loss.
    """

    X: Tensor
    Y: Tensor
    J: tuple[int, ...]
    Theta: Tensor
    sigma: Tensor
    lam: float = 0.0

    @property
    def dropped(self) -> list[int]:
        """The triples that it does not keep."""
        return [i for i in range(len(self.sigma)) if i not in self.J]

    @property
    def loss(self) -> float:
        """‖Y - Theta X‖²/N + lam ‖Theta‖²."""
        off = (self.Y - self.Theta @ self.X).square().sum() / self.X.shape[1]
        return (off + self.lam * self.Theta.square().sum()).item()

    @property
    def slope(self) -> float:
        """The norm of the gradient along the manifold; zero where the point is critical."""
        return fixedrank.slope(self.X, self.Y, self.Theta, len(self.J), lam=self.lam)

    @property
    def hessian(self) -> Tensor:
        """The Hessian (k, k) along the manifold, k = r(c + d - r)."""
        return fixedrank.hessian(self.X, self.Y, self.Theta, len(self.J), lam=self.lam)

    @property
    def eigenvalues(self) -> Tensor:
        """(k,) of the Hessian, rising."""
        return torch.linalg.eigvalsh(self.hessian)

    @property
    def predicted(self) -> Tensor:
        """(k,) the eigenvalues that the formula gives in the coordinates Z, rising."""
        r, (c, d) = len(self.J), self.Theta.shape
        each = [self.sigma[i] / self.sigma[j] for j in self.J for i in self.dropped]
        ratio = torch.stack(each) if each else torch.zeros(0, dtype=torch.float64)
        ones = torch.ones(r * r + r * abs(c - d), dtype=torch.float64)
        return torch.cat([1 - ratio, 1 + ratio, ones]).sort().values

    @property
    def downward(self) -> int:
        """How many pairs keep a value and drop a larger one: so many ways lead down."""
        return sum(bool(self.sigma[i] > self.sigma[j]) for j in self.J for i in self.dropped)

    def whitened(self) -> Critical:
        """The same point in the coordinates Z."""
        return white(linear.whitened(self.X, self.Y, self.lam)[0], self.J)


def problem(rng: np.random.Generator, c: int, d: int, n: int) -> tuple[Tensor, Tensor]:
    """Normal X (d, N) and Y (c, N), N at least d so that XXᵀ has full rank.

    Examples
    --------
    >>> [tuple(A.shape) for A in problem(np.random.default_rng(0), 3, 5, 2)]
    [(5, 5), (3, 5)]
    """
    columns = max(n, d)
    X = torch.from_numpy(rng.standard_normal((d, columns)))
    return X, torch.from_numpy(rng.standard_normal((c, columns)))


def points(X: Tensor, Y: Tensor, r: int, *, lam: float = 0.0) -> list[Critical]:
    """Every critical point of rank ``r`` that one singular value decomposition of Q offers.

    Examples
    --------
    >>> X, Y = problem(np.random.default_rng(0), 3, 5, 9)
    >>> [p.J for p in points(X, Y, 2)], max(p.slope for p in points(X, Y, 2)) < 1e-12
    ([(0, 1), (0, 2), (1, 2)], True)
    """
    Q, half = linear.whitened(X, Y, lam)
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    return [
        Critical(X, Y, J, (U[:, J] * s[list(J)]) @ Vh[list(J)] @ half, s, lam)
        for J in combinations(range(len(s)), r)
    ]


def white(Q: Tensor, J: tuple[int, ...]) -> Critical:
    """The critical point of ½‖Q - Z‖² that keeps the triples ``J`` of Q (c, d).

    X and Y are multiples of I and Q for which the loss is just that.

    Examples
    --------
    >>> white(torch.diag(torch.tensor([2.0, 1.0]).double()), (0,)).loss
    0.5
    """
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    d = Q.shape[1]
    scale = (d / 2) ** 0.5  # (1/N)‖·‖² with N = d columns becomes ½‖·‖²
    X = scale * torch.eye(d, dtype=torch.float64)
    return Critical(X, scale * Q, J, (U[:, J] * s[list(J)]) @ Vh[list(J)], s)


def on_diagonal(values: Sequence[float], r: int, *, turn: Tensor | None = None) -> list[Critical]:
    """The critical points of rank ``r`` on the diagonal of Q = diag(values), values falling.

    ``turn`` (k, k) is an orthogonal matrix that commutes with Q: each point is turned by it.

    Examples
    --------
    >>> [round(p.loss, 9) for p in on_diagonal((2.0, 1.0, 0.0), 1)]
    [0.5, 2.0]
    """
    sigma = torch.tensor(values, dtype=torch.float64)
    found = []
    for J in combinations([i for i, value in enumerate(values) if value > 0], r):
        kept = [value if i in J else 0.0 for i, value in enumerate(values)]
        Z = torch.diag(torch.tensor(kept, dtype=torch.float64))
        Z = Z if turn is None else turn @ Z @ turn.mT
        found.append(replace(white(torch.diag(sigma), J), Theta=Z, sigma=sigma))
    return found


def second_difference(point: Critical, direction: Tensor, *, h: float = 1e-3) -> float:
    """Second difference of the loss along Theta + t direction, projected back to the manifold.

    Examples
    --------
    >>> point = white(torch.diag(torch.tensor([2.0, 1.0]).double()), (1,))
    >>> down = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double()
    >>> second_difference(point, down) < 0
    True
    """
    r = len(point.J)

    def at(t: float) -> float:
        U, s, Vh = torch.linalg.svd(point.Theta + t * direction, full_matrices=False)
        return replace(point, Theta=(U[:, :r] * s[:r]) @ Vh[:r]).loss

    return (at(h) - 2 * at(0) + at(-h)) / h**2


def _factors(z: np.ndarray, Q: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    c, d = Q.shape
    return z[: c * r].reshape(c, r), z[c * r :].reshape(d, r)


def _gradient(z: np.ndarray, Q: np.ndarray, r: int) -> np.ndarray:
    """Of ½‖Q - ABᵀ‖² in the factors."""
    A, B = _factors(z, Q, r)
    R = A @ B.T - Q
    return np.concatenate([(R @ B).ravel(), (R.T @ A).ravel()])


def zero_of_gradient(Q: np.ndarray, r: int, rng: np.random.Generator) -> np.ndarray | None:
    """A zero (c, d) of the gradient of ½‖Q - ABᵀ‖² in the factors, found from a random start.

    None where the search found no zero, or one of rank below ``r``.

    Examples
    --------
    >>> Z = zero_of_gradient(np.diag([2.0, 1.0]), 1, np.random.default_rng(0))
    >>> Z is None or selection(np.diag([2.0, 1.0]), Z, 1)[1]
    True
    """
    start = rng.standard_normal(sum(Q.shape) * r)
    exact = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    z = least_squares(_gradient, start, args=(Q, r), **exact).x
    A, B = _factors(z, Q, r)
    Z = A @ B.T
    full = np.linalg.svd(Z, compute_uv=False)[r - 1] > 1e-3
    return Z if full and np.linalg.norm(_gradient(z, Q, r)) < 1e-8 else None


def selection(Q: np.ndarray, Z: np.ndarray, r: int) -> tuple[tuple[int, ...], bool]:
    """Which of the diagonal entries of Q the matrix Z keeps, and whether it is Q without the rest.

    Examples
    --------
    >>> selection(np.diag([3.0, 2.0, 1.0]), np.diag([3.0, 0.0, 1.0]), 2)
    ((0, 2), True)
    """
    s = np.linalg.svd(Z, compute_uv=False)[:r]
    J = tuple(int(np.argmin(abs(np.diag(Q) - value))) for value in s)
    model = np.zeros_like(Q)
    model[J, J] = Q[J, J]
    return J, bool(np.abs(Z - model).max() <= 1e-4 and len(set(J)) == r)


def minimized(Q: np.ndarray, r: int, rng: np.random.Generator) -> float:
    """By how much minimizing ½‖Q - ABᵀ‖² from a random start ends above the least possible.

    Examples
    --------
    >>> abs(minimized(np.diag([2.0, 1.0]), 1, np.random.default_rng(0))) < 1e-9
    True
    """

    def value(z: np.ndarray) -> float:
        A, B = _factors(z, Q, r)
        return ((A @ B.T - Q) ** 2).sum() / 2

    start = rng.standard_normal(sum(Q.shape) * r)

    def slope(z: np.ndarray) -> np.ndarray:
        return _gradient(z, Q, r)

    end = minimize(value, start, jac=slope, method="BFGS", options={"gtol": 1e-9})
    return float(end.fun) - (np.linalg.svd(Q, compute_uv=False)[r:] ** 2).sum().item() / 2
