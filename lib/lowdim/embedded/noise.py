r"""Noise added to the inputs: what it does to linear fits, to the best predictor, to networks.

Data are pairs of a noisy input and a clean value: :math:`(x+\sigma\varepsilon_x,
\sigma\varepsilon_y)` and g(x). The components y carry nothing but noise.

* :class:`Blurred` is least squares in the limit of many points, when x is noisy too: the weights
  shrink, and what they leave over grows.
* :func:`normal_square` is the exact mean square of the weights on the components y.
* :func:`conditional_mean` is the best predictor of g(x) from a noisy x on an interval, and
  :func:`smoothed_distance` the mean of ``|x - k|`` after smoothing.
* :func:`linear_sgd` trains many deep linear networks at once by mini-batches, and
  :func:`train_noisy` ReLU networks on :func:`noisy_inputs` with different noise and different
  numbers of normal directions, stacked as trials of one run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.embedded import offdata
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights, mapped
from lowdim.seeds import generator

__all__ = [
    "Blurred", "NoisyInputs", "Trained", "conditional_mean", "linear_sgd", "noisy_inputs",
    "normal_square", "smoothed_distance", "train_noisy",
]  # fmt: skip


@dataclass(frozen=True)
class Blurred:
    r"""Linear least squares on x + σε with infinitely many points.

    moments: E[x xᵀ] (d, d), positive definite; target: E[g x] (d,); square: E[g²].

    Examples
    --------
    >>> line = Blurred(np.array([[1.0]]), np.array([2.0]), 4.0)  # g = 2x, E x² = 1
    >>> line.weights(1.0).tolist(), line.clean_excess(1.0), line.residual(1.0)
    ([1.0], 1.0, 2.0)
    """

    moments: np.ndarray
    target: np.ndarray
    square: float

    def __post_init__(self) -> None:
        moments, target = np.asarray(self.moments, float), np.asarray(self.target, float)
        if target.ndim != 1 or moments.shape != (target.size, target.size):
            raise ValueError(
                "moments must be (d, d) and target (d,); "
                f"their shapes are {moments.shape} and {target.shape}."
            )
        if not np.linalg.eigvalsh(moments)[0] > 0:
            raise ValueError("moments must be positive definite; its least eigenvalue is not.")
        object.__setattr__(self, "moments", moments)
        object.__setattr__(self, "target", target)

    def weights(self, sigma: float) -> np.ndarray:
        """The minimizer (d,) of E (w·(x + σε) - g)²: that of ridge regression with σ²."""
        return np.linalg.solve(self.moments + sigma**2 * np.eye(self.target.size), self.target)

    def clean_excess(self, sigma: float) -> float:
        """E (w_σ·x - g)² - E (w_0·x - g)² on clean x: what the noise costs in accuracy."""
        off = self.weights(sigma) - self.weights(0.0)
        return float(off @ self.moments @ off)

    def residual(self, sigma: float) -> float:
        """τ²(σ) = E (w_σ·(x + σε) - g)², the training loss of infinitely many points."""
        return float(self.square - self.target @ self.weights(sigma))


def normal_square(N: int, dx: int, dy: int) -> float:
    """E‖σ w_y‖²/τ_N² of least squares with dy independent standard normal columns: exact.

    N dy/(m (m - dy - 1)) with m = N - dx, and infinite if m is at most dy + 1. τ_N² is the mean
    square of what dx other columns leave over.

    Examples
    --------
    >>> normal_square(13, 1, 1), normal_square(3, 1, 1)
    (0.10833333333333334, inf)
    """
    for value, name in ((N, "N"), (dx, "dx"), (dy, "dy")):
        checks.whole(value, name, 1)
    m = N - dx
    return N * dy / (m * (m - dy - 1)) if m > dy + 1 else math.inf


def conditional_mean(
    g: Callable[[Tensor], Tensor], at: object, sigma: object, *, nodes: int = 400
) -> Tensor:
    r"""E[g(X) | X + σε = at] for X uniform on (-1, 1) and a standard normal ε, (B, k).

    ``g`` maps (B, m) to (B, m) or (m,) to (m,); ``at`` is (B, k) or (k,), ``sigma`` a number or
    (B,). Gauss-Legendre quadrature; ``sigma`` should be no smaller than 5/nodes.

    Raises
    ------
    ValueError
        If a sigma is not positive.

    Examples
    --------
    >>> round(float(conditional_mean(lambda x: x, [1.0], 0.1)), 4)  # 1 - σ √(2/π)
    0.9202
    """
    where = torch.atleast_2d(torch.as_tensor(at, dtype=torch.float64))
    sigma = torch.as_tensor(sigma, dtype=torch.float64).reshape(-1, 1, 1)
    if not bool((sigma > 0).all()):
        raise ValueError(f"sigma must be above 0; the least given is {float(sigma.min()):g}.")
    x, by = (torch.from_numpy(v) for v in np.polynomial.legendre.leggauss(nodes))
    log = -((where[..., None] - x) ** 2) / (2 * sigma**2)
    weight = by * (log - log.amax(-1, keepdim=True)).exp()
    values = g(x.expand(len(weight), nodes))[:, None, :]
    return (weight * values).sum(-1) / weight.sum(-1)


def smoothed_distance(knot: object, sigma: object) -> Tensor:
    r"""E|X + σε - knot| for X uniform on (-1, 1), in closed form; tensors that broadcast.

    Examples
    --------
    >>> round(float(smoothed_distance(0.0, 0.1) - 0.5), 9)  # σ²/2, the kink's share
    0.005
    """
    k = torch.as_tensor(knot, dtype=torch.float64)
    s = torch.as_tensor(sigma, dtype=torch.float64)

    def integral(z: Tensor) -> Tensor:
        # of E|z + σε| = z(2Φ(z/σ) - 1) + 2σφ(z/σ)
        density = (-(z**2) / (2 * s**2)).exp() / math.sqrt(2 * math.pi)
        return (z**2 + s**2) / 2 * torch.erf(z / (s * math.sqrt(2))) + z * s * density

    return (integral(1 - k) - integral(-1 - k)) / 2


def linear_sgd(
    factors: Sequence[Tensor],
    X: Tensor,
    g: Tensor,
    *,
    rates: Sequence[float],
    batch: int,
    seed: int = 0,
) -> list[Tensor]:
    r"""Factors of deep linear networks after SGD on the mean of (w·x - g)²/2, one epoch per rate.

    Parameters
    ----------
    factors
        W_1 (T, n, d), …, W_L (T, 1, n), float64; they stay as they are.
    X, g
        Points (T, d, N) and values (T, N).
    batch
        Points in a mini-batch. Every epoch goes through all points once, in an order drawn from
        (seed, epoch) that all trials share.

    Raises
    ------
    ValueError
        If shapes do not fit, ``batch`` is not from 1 to N, or a trial diverges.

    Examples
    --------
    >>> one = torch.ones(1, 1, 1, dtype=torch.float64)
    >>> X, g = torch.tensor([[[1.0, -1.0]]]).double(), torch.tensor([[3.0, -3.0]]).double()
    >>> W = linear_sgd([one, one], X, g, rates=[0.1] * 100, batch=2)
    >>> round(float(W[1] @ W[0]), 6)
    3.0
    """
    weights = [(W.double(), None) for W in factors]
    widths = (factors[0].shape[2], *(W.shape[1] for W in factors))
    net = Dense(widths, activation="identity", bias=False)
    objective = training.Objective(net, X.double(), g.double()[:, None], normalization="half")
    batches = training.Shuffled(batch, seed=seed, shared=True)
    epoch = batches.epoch(X.shape[-1])
    optimizer = training.GD(training.held(rates, epoch))
    steps = epoch * len(rates)
    run = training.train(objective, weights, optimizer, steps, batches=batches, schedule=[steps])
    if bool(run.diverged.any()):
        at = int(run.diverged_at[run.diverged].min())
        raise ValueError(f"a trial diverged in epoch {at // epoch}; the rate was {rates[0]:g}.")
    return [W for W, _ in run.weights]


@dataclass(frozen=True)
class Trained:
    """ReLU networks after training, as trials of one run: settings by nets.

    settings: pairs (σ, d_y); loss: the mean of (f - g)² over each training set, (settings, nets).
    Of a network that diverged the weights and all that is measured are nan.
    """

    net: Dense
    weights: Weights
    settings: tuple[tuple[float, int], ...]
    nets: int
    tangent: int
    target: Callable[[Tensor], Tensor]
    loss: Tensor

    def parts(self, gamma: float, samples: int, *, seed: int = 0) -> tuple[Tensor, Tensor]:
        """f(x, 0) - g(x) and f(x, y) - f(x, 0) at random points, each (settings, nets, samples).

        x is uniform on the cube, y normal with standard deviation ``gamma`` in the d_y directions
        of each setting; all networks get the same x and the same first directions.
        """
        rng = generator(seed, 0, "stability")
        x = torch.from_numpy(rng.uniform(-1, 1, (self.tangent, samples))).float()
        widest = self.net.widths[0] - self.tangent
        y = gamma * torch.from_numpy(rng.standard_normal((widest, samples))).float()
        shape = (len(self.settings), self.nets, samples)
        used = torch.tensor([dy for _, dy in self.settings]).repeat_interleave(self.nets)
        mask = torch.arange(widest)[None, :, None] < used[:, None, None]
        change = offdata.normal_change(
            self.net, self.weights, x.expand(len(used), -1, -1), y * mask
        )
        flat = torch.cat([x, torch.zeros(widest, samples)])
        miss = self.net.forward(self.weights, flat)[1][-1] - self.target(x)
        return miss.double().reshape(shape), change.double().reshape(shape)

    def stability(self, gamma: float, samples: int, *, seed: int = 0) -> Tensor:
        """The mean of (f(x, y) - f(x, 0))², (settings, nets); see ``parts``."""
        return self.parts(gamma, samples, seed=seed)[1].square().mean(-1)


@dataclass(frozen=True)
class NoisyInputs:
    """Noisy inputs and clean values, as trials of one run: settings by nets.

    settings: pairs (σ, d_y); X: (settings · nets, tangent + the largest d_y, points) float32,
    settings with fewer directions being padded with zeros, which no gradient sees; values:
    (settings · nets, 1, points).
    """

    settings: tuple[tuple[float, int], ...]
    target: Callable[[Tensor], Tensor]
    nets: int
    tangent: int
    X: Tensor
    values: Tensor


def noisy_inputs(
    settings: Sequence[tuple[float, int]],
    target: Callable[[Tensor], Tensor],
    *,
    nets: int,
    points: int,
    everywhere: bool = False,
    tangent: int = 3,
    seed: int = 0,
) -> NoisyInputs:
    """Draw training sets for ``nets`` networks under each of ``settings``.

    Parameters
    ----------
    settings
        Pairs (σ, d_y). Network k of every setting has the same x and the same first noise
        directions.
    target
        g, from x (..., tangent, n) to (..., 1, n); x is uniform on the cube (-1, 1)^tangent.
    everywhere
        Whether x is noisy too.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> data = noisy_inputs([(0.0, 1), (0.5, 2)], lambda x: x.sum(-2, keepdim=True), nets=3,
    ...                     points=40)
    >>> data.X.shape, bool((data.X[:3, 3:] == 0).all())
    (torch.Size([6, 5, 40]), True)
    """
    for value, name in ((nets, "nets"), (points, "points"), (tangent, "tangent")):
        checks.whole(value, name, 1)
    settings = tuple((float(s), int(dy)) for s, dy in settings)
    if not settings or any(s < 0 or dy < 1 for s, dy in settings):
        raise ValueError(
            f"settings must be pairs of a noise of 0 or more and a number of directions of 1 or "
            f"more; you gave {settings}."
        )
    widest = max(dy for _, dy in settings)
    clean, off, inside = [], [], []
    for k in range(nets):
        rng = generator(seed, k, "noisy data", points)
        clean.append(rng.uniform(-1, 1, (tangent, points)))
        inside.append(rng.standard_normal((tangent, points)))
        off.append(rng.standard_normal((widest, points)))
    x, inner, outer = (torch.from_numpy(np.stack(v)).float() for v in (clean, inside, off))
    rows = [
        torch.cat([x + s * inner * everywhere, s * outer * (torch.arange(widest)[:, None] < dy)], 1)
        for s, dy in settings
    ]
    values = target(x).repeat(len(settings), 1, 1)
    return NoisyInputs(settings, target, nets, tangent, torch.cat(rows), values)


def train_noisy(
    data: NoisyInputs,
    depth: int,
    *,
    width: int,
    epochs: int,
    batch: int,
    rate: float,
    start: float = 1.0,
    seed: int = 0,
) -> Trained:
    """Train ReLU networks on noisy inputs by SGD, the rate falling to a hundredth by a cosine.

    Network k of every setting has Kaiming's initial weights from the same draw; the fan-in of its
    first layer is tangent + d_y. ``start`` is every entry of the weights on the normal directions.
    A network that diverges is given up: its weights and its loss are nan.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> data = noisy_inputs([(0.0, 1), (0.5, 2)], lambda x: x.sum(-2, keepdim=True), nets=2,
    ...                     points=40)
    >>> run = train_noisy(data, 2, width=6, epochs=3, batch=10, rate=0.05)
    >>> run.loss.shape, bool((run.weights[0][0][:2, :, 3] == 1).all())  # no noise, no motion
    (torch.Size([2, 2]), True)
    """
    for value, name, least in ((epochs, "epochs", 1), (width, "width", 1), (depth, "depth", 2)):
        checks.whole(value, name, least)
    nets, tangent, again = data.nets, data.tangent, len(data.settings)
    inside = Dense((tangent, *(width,) * (depth - 1), 1))
    drawn = inside.init(trials=nets, seed=seed, kind="kaiming")
    net = Dense((data.X.shape[1], *inside.widths[1:]))
    normal = torch.full((nets, width, net.widths[0] - tangent), float(start))
    first = [
        torch.cat([drawn[0][0] * (tangent / (tangent + dy)) ** 0.5, normal], 2)
        for _, dy in data.settings
    ]
    weights = mapped(drawn, lambda t: t.repeat(again, 1, 1))
    weights[0] = (torch.cat(first), weights[0][1])
    objective = training.Objective(net, data.X, data.values, normalization="half")
    rates = training.cosine_rates(rate, rate / 100, epochs)
    end = offdata.anneal(objective, weights, rates, batch=batch, seed=seed, give_up=True)
    miss = net.forward(end, data.X)[1][-1] - data.values
    loss = miss.double().square().mean((1, 2)).reshape(again, nets)
    return Trained(net, end, data.settings, nets, tangent, data.target, loss)
