r"""Figure 2 (right) before training: data, starts, and what a start leaves of the data.

Data are the paper's, which are signed, or the same model with absolute values of bases,
coefficients and noise. The network is the autoencoder :math:`\hat X=V\sigma(WX)` of Section 5
without biases; encoder and decoder are drawn apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lowdim import checks
from lowdim.data import unions
from lowdim.evidence.tables import Table, short
from lowdim.linalg import subspaces
from lowdim.nets import networks
from lowdim.preserve import drift, preservation
from lowdim.preserve.experiment import CLUSTERS, RANK

__all__ = ["KINDS", "PAPER", "POSITIVE", "Cut", "Passed", "Setting", "cut", "passed"]
__all__ += ["rows", "table"]

PAPER, POSITIVE = "paper's", "non-negative"
KINDS = (PAPER, POSITIVE)


@dataclass(frozen=True)
class Setting:
    """``size`` points in as many dimensions, ``hidden`` ReLU units, so many draws of everything."""

    size: int = 400
    hidden: int = 80
    draws: int = 2
    seed: int = 0

    @property
    def net(self) -> networks.Dense:
        """The autoencoder, without biases."""
        return networks.Dense((self.size, self.hidden, self.size), activation="relu", bias=False)

    @property
    def usual(self) -> float:
        """The usual range of weights, one over the root of the fan-in of the encoder."""
        return self.size**-0.5

    def data(self, kind: str, noise: float, *, draws: int | None = None) -> unions.UnionOfSubspaces:
        """Four clusters with noise of variance ``noise``; ``kind`` is one of ``KINDS``.

        Raises
        ------
        ValueError
            If the kind is unknown.

        Examples
        --------
        >>> D = Setting(size=80).data("non-negative", 0.5)
        >>> D.noisy.shape, bool((D.noisy >= 0).all())
        (torch.Size([2, 80, 80]), True)
        """
        checks.choice(kind, KINDS, "kind")
        D = unions.union_of_subspaces(
            trials=self.draws if draws is None else draws,
            ambient=self.size,
            dims=(RANK // CLUSTERS,) * CLUSTERS,
            sizes=(self.size // CLUSTERS,) * CLUSTERS,
            noise=noise,
            seed=self.seed,
            basis="orthonormal" if kind == PAPER else "nonnegative",
            coefficients="gaussian" if kind == PAPER else "nonnegative",
        )
        return (
            D if kind == PAPER else replace(D, noisy=D.clean + D.noise.abs(), noise=D.noise.abs())
        )

    def weights(
        self,
        encoder: str,
        scale: float,
        *,
        decoder: str = "uniform",
        decoder_scale: float | None = None,
        draws: int | None = None,
    ) -> networks.Weights:
        """Encoder and decoder, in double precision; kinds and scales as ``networks.Dense.init``.

        The decoder is within one over the root of ``hidden`` unless told.

        Examples
        --------
        >>> (W, _), (V, _) = Setting(size=80, hidden=20).weights("nonnegative", 1.0)
        >>> bool((W >= 0).all()), bool((V >= 0).all())
        (True, False)
        """
        count = self.draws if draws is None else draws
        width = self.hidden**-0.5 if decoder_scale is None else decoder_scale
        W, _ = self._drawn(encoder, scale, self.seed, count)
        _, V = self._drawn(decoder, width, self.seed + 1, count)
        return [W, V]

    def _drawn(self, kind: str, scale: float, seed: int, count: int) -> networks.Weights:
        double = torch.float64
        return self.net.init(kind=kind, scale=scale, seed=seed, trials=count, dtype=double)


def rows(M: Tensor) -> Tensor:
    """A basis (T, n, 16) of the principal row space of M (T, m, n), in double precision.

    Examples
    --------
    >>> rows(torch.eye(20)[None]).shape
    torch.Size([1, 20, 16])
    """
    return subspaces.principal_rows(M.double(), RANK)


@dataclass(frozen=True)
class Cut:
    """A ReLU layer's output (T, h, n), and what was cut.

    negative: share of the entries of WX below zero; lost: share of the points of which nothing is
    left.
    """

    output: Tensor
    negative: float
    lost: float


def cut(X: Tensor, W: Tensor) -> Cut:
    """What ReLU cuts of WX, for X (T, m, n) and W (T, h, m).

    Examples
    --------
    >>> found = cut(torch.tensor([[[1.0, -1.0]]]), torch.tensor([[[2.0], [1.0]]]))
    >>> found.negative, found.lost
    (0.5, 0.5)
    """
    H = W @ X
    Y = H.clamp_min(0)
    return Cut(Y, float((H < 0).double().mean()), float((Y == 0).all(1).double().mean()))


@dataclass(frozen=True)
class Passed:
    """What a layer leaves of the clean data's row space; means over draws but for ``ratio``.

    negative: share of the entries of WX below zero; ratio: q of the linear step (T,); linear,
    output: distances of P(WX) and P(Y) from P(X*); cut: of P(Y) from P(WX); accuracy: from P(Y).
    Without a layer ``linear`` and ``accuracy`` are those of P(X), and the rest is None.
    """

    linear: float
    accuracy: float
    negative: float | None = None
    ratio: Tensor | None = None
    output: float | None = None
    cut: float | None = None


def passed(data: unions.UnionOfSubspaces, weights: Mapping[str, Tensor]) -> dict[str, Passed]:
    """What each layer with weights (T, h, m) leaves of data; first, ``no layer``.

    Examples
    --------
    >>> setting = Setting(size=80, hidden=20, draws=1)
    >>> W = setting.weights("nonnegative", 1.0)[0][0]
    >>> found = passed(setting.data("non-negative", 0.01), {"W > 0": W})
    >>> list(found), found["W > 0"].negative, found["W > 0"].cut < 1e-9
    (['no layer', 'W > 0'], 0.0, True)
    """
    star, given = rows(data.clean), rows(data.noisy)

    def mean(a: Tensor, b: Tensor) -> float:
        return float(drift.apart(a, b).mean())

    def right(V: Tensor) -> float:
        return float(drift.accuracy(V, data.labels).mean())

    found = {"no layer": Passed(mean(star, given), right(given))}
    for name, W in weights.items():
        A = W @ data.noisy
        linear, output = rows(A), rows(A.clamp_min(0))
        off, on = preservation.tangent_ratio(A, star)
        found[name] = Passed(
            linear=mean(star, linear),
            accuracy=right(output),
            negative=float((A < 0).double().mean()),
            ratio=off / on,
            output=mean(star, output),
            cut=mean(linear, output),
        )
    return found


def table(seen: Mapping[tuple[str, float], Mapping[str, Passed]]) -> Table:
    """One line for each kind of data, variance of the noise and layer; q is its mean over draws.

    Examples
    --------
    >>> print(table({("paper's", 0.5): {"no layer": Passed(linear=0.94, accuracy=0.3)}}))
    data      s²  W in      WX<0  q  d(X*,WX)  d(X*,Y)  d(WX,Y)  acc Y
    paper's  0.5  no layer     –  –      0.94        –        –   0.30
    """

    def shown(value: float | None) -> str:
        return "–" if value is None else f"{value:.2f}"

    lines = []
    for (kind, noise), layers in seen.items():
        for name, left in layers.items():
            q = "–" if left.ratio is None else short(float(left.ratio.mean()), 2)
            distances = (left.linear, left.output, left.cut, left.accuracy)
            cells = (shown(left.negative), q, *map(shown, distances))
            lines.append((kind, f"{noise:g}", name, *cells))
    columns = ("d(X*,WX)", "d(X*,Y)", "d(WX,Y)", "acc Y")
    return Table(("data", "s²", "W in", "WX<0", "q", *columns), lines)
