"""Instances of the classes x ↦ ‖Px + b‖², ‖P‖_F <= β, for attacks on bounds of their complexity.

A case is X (count, n, d), beta (count,) and b (count,): points, radius, length of the offset.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.hashing.complexity import sign_vectors, signed_supremum, square_ball

__all__ = ["complexities", "from_free", "one", "random_balls", "random_free", "searched"]


def random_balls(
    count: int, rng: np.random.Generator, *, n: int = 4, d: int = 2
) -> dict[str, Tensor]:
    """Cases of n points with lengths up to one; radii and offsets from 1/10 to 10.

    Examples
    --------
    >>> case = random_balls(3, np.random.default_rng(0))
    >>> tuple(case["X"].shape), tuple(case["b"].shape), bool(case["X"].norm(dim=-1).max() <= 1)
    ((3, 4, 2), (3,), True)
    """
    checks.whole(count, "count", 1)
    X = torch.from_numpy(rng.standard_normal((count, n, d)))
    sizes = torch.from_numpy(rng.uniform(0.2, 1, (count, n, 1)))
    beta, b = (torch.from_numpy(np.exp(rng.uniform(-2.3, 2.3, count))) for _ in range(2))
    return {"X": X / X.norm(dim=-1, keepdim=True) * sizes, "beta": beta, "b": b}


def one(X: ArrayLike, beta: float, b: float) -> dict[str, Tensor]:
    """A case of a single instance, with points X (n, d).

    Examples
    --------
    >>> one([[1.0]], 0.1, 1.0)["beta"].tolist()
    [0.1]
    """
    X = checks.matrices(X, "X")
    radius, offset = (torch.tensor([v], dtype=torch.float64) for v in (beta, b))
    return {"X": X[None], "beta": radius, "b": offset}


def complexities(X: Tensor, beta: Tensor, b: Tensor, *, free: bool) -> Tensor:
    """Exact complexity (count,) of each case; with ``free`` the offset is any of length b or less.

    Examples
    --------
    >>> complexities(**one([[1.0]], 0.1, 1.0), free=True)
    tensor([0.6050], dtype=torch.float64)
    """
    each = zip(X, beta.tolist(), b.tolist(), strict=True)
    return torch.stack([square_ball(x, r, o, free_offset=free).value for x, r, o in each])


def random_free(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Where a climb over cases starts: three points in the plane, logarithms of β and b.

    Examples
    --------
    >>> {name: tuple(part.shape) for name, part in random_free(4, np.random.default_rng(0)).items()}
    {'X': (4, 3, 2), 'r': (4, 2)}
    """
    X, r = (torch.from_numpy(rng.standard_normal((count, *shape))) for shape in ((3, 2), (2,)))
    return {"X": X, "r": r}


def from_free(free: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The cases that free parameters X (count, n, d) and r (count, 2) stand for.

    Examples
    --------
    >>> case = from_free({"X": torch.ones(1, 1, 1).double(), "r": torch.tensor([[0.0, 9.0]])})
    >>> case["beta"].item(), round(case["b"].log().item(), 5)
    (1.0, 7.0)
    """
    sizes = free["r"].clamp(-7, 7).exp()
    return {"X": free["X"], "beta": sizes[:, 0], "b": sizes[:, 1]}


def searched(
    count: int, rng: np.random.Generator, *, starts: int = 24, steps: int = 300
) -> dict[str, Tensor]:
    """The supremum for each sign vector of some random cases: searched for, and by its dual.

    ``found`` is the best of many random P pushed uphill, with b fixed; ``dual`` is
    :func:`lowdim.hashing.complexity.signed_supremum`. Both are lifted by nb², so that neither is
    negative. About count/30 cases of four points are drawn, sixteen sign vectors each.

    Examples
    --------
    >>> case = searched(4, np.random.default_rng(0))
    >>> bool((case["found"] <= case["dual"] * (1 + 1e-9)).all())
    True
    """
    case = random_balls(max(4, count // 30), rng, n=4, d=3)
    X, b, radius = case["X"], case["b"], case["beta"][:, None, None]
    signs = sign_vectors(4)[0]
    P = torch.from_numpy(rng.standard_normal((len(X), len(signs), starts, 2, 3)))
    rate = 0.5 / X.square().sum((1, 2))[:, None, None, None, None]
    best = torch.zeros(len(X), len(signs), dtype=torch.float64)
    for _ in range(steps):
        size = P.flatten(3).norm(dim=3).clamp_min(1e-9)
        P = P * (radius / size).clamp(max=1.0)[..., None, None]
        out = torch.einsum("bcsti,bni->bcstn", P, X)
        out[..., 0, :] += b[:, None, None, None]
        best = (out.square().sum(-2) * signs[:, None]).sum(-1).amax(-1)
        P = P + rate * torch.einsum("bcstn,cn,bni->bcsti", out, signs, X)
    each = zip(X, case["beta"].tolist(), b.tolist(), strict=True)
    dual = torch.stack([signed_supremum(x, signs, r, o) for x, r, o in each])
    lift = 4 * (b**2)[:, None]  # no supremum is below −nb²
    return {"found": (best + lift).flatten(), "dual": (dual + lift).flatten()}
