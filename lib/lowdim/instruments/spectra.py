"""Part II on any layer: spectra of weights and of values, and how tightly classes cluster.

The tail beyond K and the soft rank are those of :mod:`lowdim.linalg.ranks`; the within-cluster sum
of squares takes the classes for the clusters, and the total cluster variation is enclosed: from
below by the spectrum of the centred values, from above by the better of the classes and of k-means
on a sample, evaluated on all points.
"""

from __future__ import annotations

import math
import warnings

import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

from lowdim.instruments.moments import First, Second, largest
from lowdim.instruments.numbers import Number, jackknife, missing
from lowdim.linalg import subspaces

__all__ = ["centres", "spectrum_numbers", "weight_numbers"]

EPS = torch.finfo(torch.float64).eps


def centres(H: Tensor, K: int, *, seed: int) -> Tensor | None:
    """Centres (K, p) of k-means on a sample (n, p); None if it has fewer than K points.

    Examples
    --------
    >>> centres(torch.tensor([[0.0], [1.0], [9.0], [10.0]]), 2, seed=0).sort(0).values.tolist()
    [[0.5], [9.5]]
    """
    if len(H) < K:
        return None
    with warnings.catch_warnings():  # fewer distinct points than clusters: still an upper bound
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = KMeans(K, n_init=2, max_iter=50, random_state=seed).fit(H.numpy())
    return torch.from_numpy(fit.cluster_centers_).to(torch.float64)


def spectrum_numbers(
    first: First, second: Second, values: Tensor, K: int | None, *, labelled: bool, epsilon: float
) -> dict[str, Number]:
    """Numbers of Part II from a tap's values; ``K`` is the number of clusters.

    Examples
    --------
    >>> from lowdim.instruments.moments import Frame, Sketch
    >>> H, rows = torch.tensor([[0.0], [2.0], [9.0], [11.0]]).double(), torch.tensor([0, 0, 1, 1])
    >>> first = First(Sketch(1, 8, seed=0))
    >>> first.add(H, rows, 2)
    >>> frame = Frame(first.spectrum()[1], first.means(), None)
    >>> second = Second(frame, 2, q_in=None, q_prev=None)
    >>> _ = second.add(H, rows, torch.arange(4) % 2, None, None)
    >>> values = first.spectrum()[0]
    >>> found = spectrum_numbers(first, second, values, 2, labelled=True, epsilon=0.1)
    >>> round(found["within"].value, 9)
    1.0
    """
    n = first.count
    squares = values.square()
    whole = float(squares.sum())
    out: dict[str, Number] = {}
    if whole <= 0:
        dead = missing("all its values are zero")
        return dict.fromkeys(("tail", "soft_rank", "within", "within_share", "variation"), dead)
    shares = values / values.sum()
    ahead = torch.cat([torch.ones(1, dtype=torch.float64), 1 - shares.cumsum(0)])
    rank = int((ahead > epsilon + 1e-12).sum())
    floor = math.sqrt(len(values) * EPS) * float(values[0])  # rounding may lift zeros to this
    lifted = (values + floor).cumsum(0) / (values + floor).sum()
    most = int((1 - lifted > epsilon).sum()) + 1
    out["soft_rank"] = Number(
        rank, min(rank, most), max(rank, most), abs(most - rank), n, ("points",), "rounding"
    )
    if K is None:
        out["tail"] = out["variation"] = missing("the number of clusters is not known", "K")
    elif K >= min(len(values), n):
        most = min(len(values), n)
        out["tail"] = missing(f"it has {most} singular values, not more than K = {K}", "K")
        out["variation"] = _variation(first, second, K, labelled)
    else:
        tail = float(squares[K:].sum()) / whole
        low, high = (None, None)
        if K <= second.own.shape[-1]:
            low, high = jackknife(tail, _tails(second, K), least=0.0)
        off = len(values) * EPS + first.sketch.error * tail
        out["tail"] = Number(tail, low, high, off, n, ("K",))
        out["variation"] = _variation(first, second, K, labelled)
    if not labelled:
        out["within"] = out["within_share"] = missing("there are no labels", "labels")
        return out
    within, share = _within(first, second)
    out["within"], out["within_share"] = within, share
    return out


def _tails(second: Second, K: int) -> list[float]:
    """The tail without each group; NaN where all that is not zero is in the group."""
    all_of_it = second.squares.sum()
    rest = all_of_it - second.squares
    left = second.own.sum(0) - second.own
    there = rest > 4 * second.groups * EPS * all_of_it
    top = torch.linalg.eigvalsh(left)[:, -K:].sum(1)
    return torch.where(there, 1 - top / rest, math.nan).tolist()


def _sums(second: Second, g: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """Counts (K,), deviations (K, p) and their squares (K,), without group ``g``."""
    parts = (second.counts, second.deviations, second.deviation_squares)
    if g is None:
        return tuple(p.sum(0) for p in parts)  # type: ignore[return-value]  # three of them
    return tuple(p.sum(0) - p[g] for p in parts)  # type: ignore[return-value]


def _within(first: First, second: Second) -> tuple[Number, Number]:
    def both(g: int | None) -> tuple[float, float]:
        counts, off, squares = _sums(second, g)
        n = float(counts.sum())
        inside = float((squares - off.square().sum(1) / counts.clamp_min(1)).sum()) / n
        means = second.frame.means + off / counts.clamp_min(1)[:, None]
        middle = (means * counts[:, None]).sum(0) / n
        between = float(((means - middle).square().sum(1) * counts).sum()) / n
        return inside, inside / (inside + between) if inside + between > 0 else math.nan

    values = both(None)
    left = [both(g) for g in range(second.groups)]
    out = []
    for i in range(2):
        low, high = jackknife(values[i], [v[i] for v in left], least=0.0)
        off = values[i] * (1e-12 + first.sketch.error)
        out.append(Number(values[i], low, high, off, first.count, ("labels",)))
    return out[0], out[1]


def _variation(first: First, second: Second, K: int, labelled: bool) -> Number:
    centred = first.centred()
    trace = float(centred.trace())
    top = largest(centred, K - 1) if K > 1 else centred.new_zeros(1)
    floor = max(0.0, trace - float(top.sum())) / first.count
    uppers = []
    if second.frame.centres is not None:
        uppers.append(float(second.nearest.sum()) / first.count)
    if labelled and second.K <= K:
        uppers.append(float(second.deviation_squares.sum()) / first.count)
    if not uppers:
        return missing(f"the sample has fewer than K = {K} points", "K")
    least = max(min(uppers), floor)
    whole = float(second.squares.sum()) / first.count
    off = least * (1e-12 + first.sketch.error) + 16 * EPS * whole
    return Number(least, floor, least, off, first.count, ("K", "a sample for k-means"), "enclosure")


def weight_numbers(
    module: nn.Module, K: int | None, *, epsilon: float = 0.1
) -> dict[str, dict[str, Number]]:
    """Tail and soft rank of each weight of a module that is a matrix, or that flattens to one.

    Weights of convolutions are (out, in × kernel); an attention's input projection is split into
    its three parts, and its output projection, which never fires, is taken from here. A weight
    that is made from others, as by weight normalization, is the weight that is made.

    Examples
    --------
    >>> layer = nn.Linear(2, 2, bias=False)
    >>> _ = nn.init.eye_(layer.weight)
    >>> {name: str(value) for name, value in weight_numbers(layer, 1)["weight"].items()}
    {'tail': '0.5 (0.5 to 0.5)', 'soft_rank': '2 (2 to 2)'}
    """
    found: dict[str, Tensor] = {}
    for name, p in _weights(module):
        if p.ndim < 2 or p.is_meta or not p.is_floating_point():
            continue
        W = p.detach().to("cpu", torch.float64).flatten(1)
        if isinstance(module, nn.modules.conv._ConvTransposeNd):
            W = p.detach().to("cpu", torch.float64).transpose(0, 1).flatten(1)
        if name == "in_proj_weight":
            for part, piece in zip("qkv", W.chunk(3), strict=True):
                found[f"{name}[{part}]"] = piece
        else:
            found[name] = W
    return {name: _of_matrix(W, K, epsilon) for name, W in found.items()}


def _weights(module: nn.Module) -> list[tuple[str, Tensor]]:
    """Parameters, and what stands in their place where they are made from others."""
    if isinstance(module, nn.MultiheadAttention):
        return list(module.named_parameters())
    own: list[tuple[str, Tensor]] = list(module.named_parameters(recurse=False))
    names = {n for n, _ in own}
    made = [n[:-2] for n in names if n[-2:] == "_g" and f"{n[:-2]}_v" in names]  # weight_norm's
    if isinstance(held := getattr(module, "parametrizations", None), nn.ModuleDict):
        made += list(held)
    for name in made:
        value = getattr(module, name, None)
        if isinstance(value, Tensor):
            own = [(n, p) for n, p in own if n not in (f"{name}_g", f"{name}_v")]
            own.append((name, value))
    return own


def _of_matrix(W: Tensor, K: int | None, epsilon: float) -> dict[str, Number]:
    if not bool(torch.isfinite(W).all()) or not bool(W.any()):
        return {"soft_rank": missing("the weight is zero or not finite")}
    out: dict[str, Number] = {}
    s = _singular_values(W, K, epsilon)  # once: the spectrum is most of the cost
    if K is not None and K >= len(s):
        out["tail"] = missing(f"it has {len(s)} singular values, not more than K = {K}", "K")
    elif K is not None:
        tail = float(s[K:].square().sum() / s.square().sum())
        off = len(s) * EPS
        out["tail"] = Number(tail, max(0.0, tail - off), tail + off, off, 0, ("K",), "rounding")
    rank = _soft(s, epsilon)
    out["soft_rank"] = Number(rank, rank, rank, 0.0, 0, (), "rounding")
    return out


def _soft(s: Tensor, epsilon: float) -> int:
    beyond = s.flip(0).cumsum(0).flip(0) / s.sum()
    return int((beyond > epsilon).sum())


def _singular_values(W: Tensor, K: int | None, epsilon: float) -> Tensor:
    """Singular values, from the smaller Gram matrix where that decides all that is asked.

    It squares the values: one that is small against the first is known to √(p ε) of the first
    only. So the tail must be large against that and the soft rank the same with the values moved
    so far up or down; else the matrix itself is factored.
    """
    p = min(W.shape)
    if p < 128:
        return subspaces.singular_values(W)
    gram = W @ W.mT if W.shape[0] == p else W.mT @ W
    s = largest(gram, p).clamp_min(0).sqrt()
    off = math.sqrt(p * EPS) * float(s[0])
    firm = _soft(s + off, epsilon) == _soft((s - off).clamp_min(0), epsilon) == _soft(s, epsilon)
    if K is not None and K < p:
        firm &= float(s[K:].square().sum()) > 1e-3 * float(s.square().sum())
    return s if firm else subspaces.singular_values(W)
