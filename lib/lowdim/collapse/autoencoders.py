r"""Linear autoencoders on Gaussian blobs: how far points and their centroids drive the minimizers.

One matrix with a squared penalty, or four layers with weight decay on each. Both have global
minimizers in closed form, which see the data through the second moment :math:`\frac1NXX^\top`
alone; trained networks may stop elsewhere. The experiment of Part II's Figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from lowdim.collapse import linear
from lowdim.linalg import ranks
from lowdim.nets import networks, training
from lowdim.seeds import generator

__all__ = [
    "DEPTH", "Blobs", "Grid", "Minima", "Pairs", "least_objective", "random_factors", "train_pairs",
    "widths",
]  # fmt: skip

DEPTH = 4
SIGMAS, LAMBDAS = (0.05, 0.1, 0.2, 0.4, 0.8), (0.01, 0.03, 0.1, 0.3, 1.0)  # of trained networks
SAME = 1e-6  # an objective is at the least value if it exceeds it by less than this share
FINISH = 1500  # steps of L-BFGS


def widths(dim: int) -> tuple[int, int, int]:
    """Hidden widths in the paper's proportions, 400 : 300 : 400 to 784.

    Examples
    --------
    >>> widths(784), widths(16)
    ((400, 300, 400), (8, 6, 8))
    """
    first, second, third = (max(2, round(dim * k / 784)) for k in (400, 300, 400))
    return first, second, third


@dataclass(frozen=True)
class Blobs:
    """Means (d, K), the blob of each point (N,) and unit noise (d, N)."""

    means: Tensor
    labels: np.ndarray
    noise: Tensor

    @classmethod
    def draw(cls, rng: np.random.Generator, dim: int, clusters: int, points: int) -> Blobs:
        """Normal means and noise; as many points in each blob, ``points`` in all at most.

        Examples
        --------
        >>> Blobs.draw(np.random.default_rng(0), 3, 2, 5).labels.tolist()
        [0, 0, 1, 1]
        """
        labels = np.repeat(np.arange(clusters), points // clusters)
        means = torch.from_numpy(rng.standard_normal((dim, clusters)))
        noise = torch.from_numpy(rng.standard_normal((dim, len(labels))))
        return cls(means, labels, noise)

    def moments(self, sigma: float) -> tuple[Tensor, Tensor, Tensor]:
        """XXᵀ/N (d, d) of the points mean + sigma·noise, of their centroids, and of the means.

        Examples
        --------
        >>> blobs = Blobs.draw(np.random.default_rng(0), 3, 2, 8)
        >>> [bool(torch.allclose(S, blobs.moments(0.0)[2])) for S in blobs.moments(0.0)]
        [True, True, True]
        """
        M = self.means[:, torch.from_numpy(self.labels)]
        X = M + sigma * self.noise
        kinds = (X, ranks.spread_centroids(X, self.labels), M)
        points, centroids, means = (A @ A.mT / A.shape[-1] for A in kinds)
        return points, centroids, means


def random_factors(
    count: int, rng: np.random.Generator, *, dim: int = 6, hidden: tuple[int, ...] = (4, 3, 4)
) -> tuple[list[Tensor], Tensor]:
    """Four factors whose product has any size, and a moment (count, dim, dim) of any shape.

    Examples
    --------
    >>> W, S = random_factors(2, np.random.default_rng(0))
    >>> [tuple(w.shape) for w in W], tuple(S.shape)
    ([(2, 4, 6), (2, 3, 4), (2, 4, 3), (2, 6, 4)], (2, 6, 6))
    """
    shapes = list(zip((*hidden, dim), (dim, *hidden), strict=True))
    scale = torch.from_numpy(10 ** rng.uniform(-1, 0.3, (count, 1, 1)))
    W = [scale * torch.from_numpy(rng.standard_normal((count, *s))) for s in shapes]
    R = torch.from_numpy(rng.standard_normal((count, dim, dim)) * 10 ** rng.uniform(-1, 1, dim))
    return W, R @ R.mT / dim


@dataclass(frozen=True)
class Minima:
    """Global minima of a :class:`Grid`: arrays (draws, λ, σ), unless said otherwise.

    distance: by a name, of the minimizers on points and on centroids for "one layer" and "deep",
    and of those on points and on the blobs' true means; norm, top: Frobenius norm of the one-layer
    minimizer on points, spectral norm of that on centroids; within, between: (draws, 1, σ) mean
    squares of the points about their centroids and of the centroids.
    """

    distance: dict[str, np.ndarray]
    norm: np.ndarray
    top: np.ndarray
    within: np.ndarray
    between: np.ndarray


@dataclass(frozen=True)
class Grid:
    """Blobs and a grid of λ and σ, each of 9 values.

    Examples
    --------
    >>> found = Grid(dim=8, clusters=2, points=20, draws=2).minima()
    >>> list(found.distance), found.norm.shape
    (['one layer', 'deep', 'one layer, means', 'deep, means'], (2, 9, 9))
    """

    dim: int = 60
    clusters: int = 10
    points: int = 600
    draws: int = 4
    seed: int = 0

    @property
    def sigmas(self) -> np.ndarray:
        """The spreads σ of the blobs, a hundredth to one."""
        return np.logspace(-2, 0, 9)

    @property
    def lambdas(self) -> np.ndarray:
        """The weights λ of the penalty, a thousandth to ten."""
        return np.logspace(-3, 1, 9)

    def minima(self) -> Minima:
        """All global minima; kept, because a picture and a table ask for the same ones."""
        return _minima(self)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Two bounds (draws, λ, σ) on the distance of "one layer": the printed one, and a sharper.

        Examples
        --------
        >>> grid = Grid(dim=8, clusters=2, points=20, draws=2)
        >>> printed, ours = grid.bounds()
        >>> bool((grid.minima().distance["one layer"] <= ours).all()), bool((ours <= printed).all())
        (True, True)
        """
        found, lam = self.minima(), self.lambdas[:, None]
        w = found.within  # y = x, so TCV is twice this
        printed = 2 * w / lam * (self.dim * found.between / lam + self.dim**0.5)
        ours = np.minimum(w**0.5 / lam, 0.5 / lam**0.5) * w**0.5 * (1 + found.top)
        return printed, ours


@lru_cache(maxsize=4)
def _minima(grid: Grid) -> Minima:
    rows = []
    for draw in range(grid.draws):
        rng = generator(grid.seed, draw, "figure")
        blobs = Blobs.draw(rng, grid.dim, grid.clusters, grid.points)
        rows += [_cell(grid, blobs, sigma) for sigma in grid.sigmas]
    # (draws · σ, quantities, λ) to (quantities, draws, λ, σ)
    table = np.array(rows).reshape(grid.draws, len(grid.sigmas), 8, -1).transpose(2, 0, 3, 1)
    names = ("one layer", "deep", "one layer, means", "deep, means")
    distance = dict(zip(names, table[:4], strict=True))
    return Minima(distance, table[4], table[5], table[6][:, :1], table[7][:, :1])


def _cell(grid: Grid, blobs: Blobs, sigma: float) -> list[np.ndarray]:
    """The quantities of :class:`Minima`, in the order of its fields, for every λ (9,)."""

    def products(S: Tensor, depth: int) -> Tensor:
        """The minimizing product for every λ, (9, d, d)."""
        m, V = torch.linalg.eigh(S)
        lam = torch.from_numpy(grid.lambdas)[:, None]
        t = linear.shrinkage(m.clamp_min(0), lam, depth)
        if depth > 1:
            t[:, : len(m) - min(widths(grid.dim))] = 0
        return (V * t[:, None]) @ V.mT

    norm = torch.linalg.matrix_norm
    S, C, M = blobs.moments(sigma)
    single, deep = ([products(A, depth) for A in (S, C, M)] for depth in (1, DEPTH))
    pairs = ((single, 1), (deep, 1), (single, 2), (deep, 2))
    found = [norm(T[0] - T[k]).numpy() for T, k in pairs]
    squares = [np.full(len(grid.lambdas), float(A.diagonal().sum())) for A in (S - C, C)]
    return [*found, norm(single[0]).numpy(), norm(single[1], 2).numpy(), *squares]


def least_objective(moment: Tensor, lam: float, *, width: int) -> Tensor:
    """The least value (T,) of ``‖X - W₄⋯W₁X‖²/N + lam Σ‖W_l‖²``, from moments XXᵀ/N (T, d, d).

    ``width`` is the narrowest layer, which bounds the rank.

    Examples
    --------
    >>> least_objective(torch.eye(2).double()[None], 1.0, width=2).tolist()  # all is dropped
    [2.0]
    """
    m = torch.linalg.eigvalsh(moment).clamp_min(0).flip(-1)
    t = linear.shrinkage(m, lam, DEPTH)
    t[:, width:] = 0
    return (m * (1 - t) ** 2).sum(1) + lam * linear.depth_penalty(t, DEPTH)


@dataclass(frozen=True)
class Pairs:
    """Networks trained on points and on centroids, in pairs: arrays (λ, draws, σ).

    distance: of the products of the two; best: of the two global minima; excess: by which share of
    the least value the worse of the two exceeds it; gradient: the larger norm of a gradient. below:
    how many networks are below the least value by more than rounding; misses: of each network that
    reaches it, the distance of its product from the formula.
    """

    lambdas: tuple[float, ...]
    sigmas: tuple[float, ...]
    distance: np.ndarray
    best: np.ndarray
    excess: np.ndarray
    gradient: np.ndarray
    below: int
    misses: tuple[float, ...]

    @property
    def reached(self) -> np.ndarray:
        """Whether both networks of a pair are at the least value."""
        return self.excess < SAME


def train_pairs(
    dim: int,
    clusters: int,
    *,
    draws: int,
    steps: int,
    seed: int,
    lambdas: tuple[float, ...] = LAMBDAS,
    sigmas: tuple[float, ...] = SIGMAS,
) -> Pairs:
    """Train four linear layers on blobs of 50 points each, and on their centroids.

    Gradient descent from PyTorch's default start for ``steps`` steps, then L-BFGS to a gradient of
    norm 1e-6. Networks see the data through its second moment, which is exact for this loss.

    Examples
    --------
    >>> pairs = train_pairs(8, 2, draws=1, steps=10, seed=0, lambdas=(1.0,), sigmas=(0.1, 0.2))
    >>> pairs.distance.shape, pairs.below
    ((1, 1, 2), 0)
    """
    norm, n = torch.linalg.matrix_norm, len(sigmas)
    rows: list[np.ndarray] = []
    below, misses = 0, []
    for lam in lambdas:
        for draw in range(draws):
            rng = generator(seed, draw, "networks")
            blobs = Blobs.draw(rng, dim, clusters, 50 * clusters)
            points, centroids = zip(*(blobs.moments(s)[:2] for s in sigmas), strict=True)
            S = torch.cat([torch.stack(points), torch.stack(centroids)])
            product, run = _train(S, lam, steps=steps, seed=seed + draw)
            width = min(widths(dim))
            best = linear.deep_autoencoder(S, lam, DEPTH, width=width)
            over = run.objective / least_objective(S, lam, width=width) - 1
            below += int((over < -1e-9).sum())
            misses += norm(product - best)[over < SAME].tolist()
            gaps = [norm(A[:n] - A[n:]) for A in (product, best)]
            worse = [torch.maximum(v[:n], v[n:]) for v in (over, run.gradient_norm)]
            rows.append(torch.stack([*gaps, *worse]).numpy())
    table = np.array(rows).reshape(len(lambdas), draws, 4, n)
    distance, least, excess, gradient = (table[:, :, k] for k in range(4))
    return Pairs(lambdas, sigmas, distance, least, excess, gradient, below, tuple(misses))


def _train(S: Tensor, lam: float, *, steps: int, seed: int) -> tuple[Tensor, training.Run]:
    """The products (T, d, d) of trained networks, S (T, d, d) all that they see, and the run."""
    dim = S.shape[-1]
    values, vectors = torch.linalg.eigh(S)
    root = (vectors * values.clamp_min(0).sqrt()[..., None, :]) @ vectors.mT
    net = networks.Dense((dim, *widths(dim), dim), activation="identity", bias=False)
    start = net.init(trials=len(S), seed=seed, dtype=torch.float64)
    # Dense is a Network whose attributes cannot be set, which the protocol does not say
    objective = training.Objective(net, root, penalty=lam)
    run = training.train(objective, start, training.GD(0.01), steps, schedule=steps)
    run = training.train(
        objective,
        run.weights,
        training.LBFGS(),
        FINISH,
        gradient_norm=1e-6,
        schedule=FINISH,
    )
    W = [w for w, _ in run.weights]
    return W[3] @ W[2] @ W[1] @ W[0], run
