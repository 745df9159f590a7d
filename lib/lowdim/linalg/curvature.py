r"""Gradient and Hessian of a loss at a point, without forming the Hessian.

A loss is a function of one or several tensors that returns a single number; the point is those
tensors, in order, or one tensor alone. A product of the Hessian with a direction costs about two
gradients, so the ends of the spectrum come from Lanczos' method even where the Hessian itself would
not fit into memory. The dense Hessian is here too, for small cases and as an oracle.

At a kink (a ReLU's input that is exactly zero) there is no Hessian; autograd then returns that of
one of the sides. Elsewhere a ReLU network's second derivatives are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from torch import Tensor

from lowdim import checks
from lowdim.seeds import generator

__all__ = [
    "Ends", "dense_hessian", "extreme_eigenvalues", "flat", "gradient", "hessian_vector_product",
]  # fmt: skip

Loss = Callable[..., Tensor]
Point = Tensor | Sequence[Tensor]
ENDS = ("smallest", "largest", "both")


@dataclass(frozen=True)
class Ends:
    r"""Eigenvalues at one end (or both) of a Hessian's spectrum, ascending.

    values: (k,); vectors: (p, k), orthonormal; residuals: (k,), :math:`\|Hv-\lambda v\|`. Within a
    residual of each value there is an eigenvalue; and a value is never below the smallest
    eigenvalue nor above the largest, so a negative one proves a direction of negative curvature.
    """

    values: Tensor
    vectors: Tensor
    residuals: Tensor


def flat(point: Point) -> Tensor:
    """All entries (p,) of a tensor or of several, in order.

    Examples
    --------
    >>> flat([torch.ones(2, 1), torch.zeros(1)]).tolist()
    [1.0, 1.0, 0.0]
    """
    return torch.cat([part.reshape(-1) for part in _parts(point)])


def gradient(loss: Loss, point: Point) -> Tensor:
    """Gradient (p,) of ``loss`` at ``point``.

    Raises
    ------
    ValueError
        If the loss is not one finite number, or a tensor of the point is not floating point.

    Examples
    --------
    >>> gradient(lambda x: (x**2).sum(), torch.tensor([1.0, -2.0])).tolist()
    [2.0, -4.0]
    """
    parts = _leaves(point)
    value = _value(loss, parts)
    return flat(_slopes(value, parts, graph=False))


def hessian_vector_product(loss: Loss, point: Point) -> Callable[[Tensor], Tensor]:
    """The map from a direction (p,) to the Hessian of ``loss`` at ``point`` times it (p,).

    The gradient is worked out once, here; each product then goes once through its graph.

    Raises
    ------
    ValueError
        As :func:`gradient`; the map itself if its argument is not (p,).

    Examples
    --------
    >>> times = hessian_vector_product(lambda x, y: (x * y).sum(), [torch.ones(1), torch.ones(1)])
    >>> times(torch.tensor([3.0, 5.0])).tolist()
    [5.0, 3.0]
    """
    parts = _leaves(point)
    with torch.enable_grad():
        slope = flat(_slopes(_value(loss, parts), parts, graph=True))

    def times(direction: Tensor) -> Tensor:
        if direction.shape != slope.shape:
            raise ValueError(
                f"a direction needs the shape ({slope.numel()},), one number for each entry of the "
                f"point; its shape is {tuple(direction.shape)}."
            )
        if not slope.requires_grad:  # a loss linear in its point, or a dead network
            return torch.zeros_like(slope)
        with torch.enable_grad():
            along = slope @ direction.to(slope.dtype)
        return flat(_slopes(along, parts, graph=False, keep=True))

    return times


def dense_hessian(loss: Loss, point: Point) -> Tensor:
    """The Hessian (p, p), one product for each column; for p up to some thousands.

    Examples
    --------
    >>> dense_hessian(lambda x: x[0] ** 2 - 3 * x[0] * x[1], torch.zeros(2)).tolist()
    [[2.0, -3.0], [-3.0, 0.0]]
    """
    times = hessian_vector_product(loss, point)
    eye = torch.eye(flat(point).numel(), dtype=flat(point).dtype)
    H = torch.stack([times(column) for column in eye])
    return (H + H.mT) / 2


def extreme_eigenvalues(
    loss: Loss,
    point: Point,
    *,
    count: int = 1,
    end: str = "smallest",
    tolerance: float = 1e-6,
    iterations: int = 2000,
    basis: int | None = None,
    seed: int = 0,
) -> Ends:
    """Eigenvalues at an end of the Hessian's spectrum, by Lanczos' method with products alone.

    Parameters
    ----------
    count
        How many at each end asked for; 1 or more.
    end
        ``"smallest"`` (the most negative), ``"largest"``, or ``"both"``.
    tolerance
        Relative accuracy at which ARPACK stops.
    iterations
        Restarts that it may take at most.
    basis
        Vectors that it keeps; more than twice ``count`` unless given.
    seed
        Of the first vector.

    A Hessian of at most 64 rows, or of fewer than 4·count, is formed and factored instead.

    Raises
    ------
    ValueError
        As :func:`gradient`, or if an argument is not as above.
    RuntimeError
        If the iteration does not converge.

    Examples
    --------
    >>> weights = torch.arange(100, dtype=torch.float64)
    >>> ends = extreme_eigenvalues(lambda x: (weights * x**2).sum(), torch.zeros(100).double(),
    ...     end="largest")
    >>> round(ends.values.item(), 6)
    198.0
    """
    checks.whole(count, "count", 1)
    checks.choice(end, ENDS, "end")
    times = hessian_vector_product(loss, point)
    here = flat(point)
    size = here.numel()
    if size <= max(64, 4 * count):
        values, vectors = torch.linalg.eigh(dense_hessian(loss, point))
        kept = list(range(size))
        low, high = kept[:count], kept[-count:]
        chosen = {"smallest": low, "largest": high, "both": sorted({*low, *high})}[end]
        return _ends(times, values[chosen], vectors[:, chosen])
    operator = LinearOperator(
        (size, size),
        matvec=lambda v: times(torch.from_numpy(np.ascontiguousarray(v).reshape(-1))).numpy(),
        dtype=np.float64 if here.dtype == torch.float64 else np.float32,
    )
    first = generator(seed, 0, "lanczos").standard_normal(size)
    try:
        values, vectors = eigsh(
            operator,
            k=2 * count if end == "both" else count,
            which={"smallest": "SA", "largest": "LA", "both": "BE"}[end],
            v0=first.astype(operator.dtype),
            ncv=basis,
            tol=tolerance,
            maxiter=iterations,
        )
    except ArpackNoConvergence as error:
        raise RuntimeError(
            f"Lanczos' method did not reach the tolerance {tolerance:g} in {iterations} restarts; "
            f"{len(error.eigenvalues)} eigenvalues had. Allow more, or a larger basis."
        ) from None
    order = np.argsort(values)
    return _ends(times, torch.from_numpy(values[order]), torch.from_numpy(vectors[:, order]))


def _ends(times: Callable[[Tensor], Tensor], values: Tensor, vectors: Tensor) -> Ends:
    off = [times(v) - value * v for value, v in zip(values, vectors.mT, strict=True)]
    return Ends(values, vectors, torch.stack([part.norm() for part in off]))


def _parts(point: Point) -> list[Tensor]:
    parts = [point] if isinstance(point, Tensor) else list(point)
    if not parts or not all(isinstance(p, Tensor) and p.is_floating_point() for p in parts):
        raise ValueError("a point is one floating-point tensor, or several of them in a list.")
    return parts


def _leaves(point: Point) -> list[Tensor]:
    return [part.detach().clone().requires_grad_(True) for part in _parts(point)]


def _value(loss: Loss, parts: list[Tensor]) -> Tensor:
    with torch.enable_grad():
        value = loss(*parts)
    if not isinstance(value, Tensor) or value.numel() != 1:
        got = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
        raise ValueError(f"the loss must return one number as a tensor; it returned {got}.")
    if not math.isfinite(float(value.detach())):
        raise ValueError(f"the loss must be finite at the point; it is {float(value.detach())}.")
    return value.reshape(())


def _slopes(value: Tensor, parts: list[Tensor], *, graph: bool, keep: bool = False) -> list[Tensor]:
    """Derivatives by every part; zero for a part that the value does not depend on."""
    if not value.requires_grad:
        return [torch.zeros_like(part) for part in parts]
    found = torch.autograd.grad(
        value, parts, create_graph=graph, retain_graph=graph or keep, allow_unused=True
    )
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parts, found, strict=True)]
