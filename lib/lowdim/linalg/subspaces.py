r"""Principal row spaces, and how far apart two of them are.

A matrix :math:`A` of shape (m, n) has singular values :math:`\sigma_1\ge\sigma_2\ge\dots`. Its
*principal row space of dimension r* is spanned by the right singular vectors of the r largest; it
is unique when :math:`\sigma_r>\sigma_{r+1}`. We keep it as a thin orthonormal basis ``V`` of shape
(n, r) and never as the n-by-n projector ``V Vᵀ``, except to draw it.

Two subspaces of the same dimension are compared through :math:`S=(I-UU^\top)V`, whose singular
values are the sines of the principal angles (Björck and Golub, 1973). Nothing is subtracted that
is nearly equal, so angles of 1e-9 keep their digits, which ``2r - 2‖UᵀV‖²`` would lose.

Every function takes any number of leading axes and treats them as independent instances.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.linalg import _principal as methods
from lowdim.linalg._krylov import rounding
from lowdim.linalg._principal import Principal, Tracker
from lowdim.linalg.parallel import in_pieces, over_batch

__all__ = [
    "Principal", "Tracker", "chance", "distance", "gap", "principal", "principal_angles",
    "principal_rows", "projector", "row_space", "sines", "singular_values", "spectral_norm",
]  # fmt: skip

Norm = Literal["fro", "spectral", "max"]
Method = Literal["auto", "svd", "gram", "iterate"]


def principal(
    A: ArrayLike, r: int, *, method: Method = "auto", start: Tensor | None = None
) -> Principal:
    """Principal row space of dimension ``r`` of each matrix of a stack.

    Parameters
    ----------
    A
        Tensor or array of shape (..., m, n), finite.
    r
        Dimension, from 1 to min(m, n).
    method
        ``"svd"`` is the reference and the only one through which gradients flow. ``"gram"`` takes
        the eigenvectors of the smaller Gram matrix and falls back to the SVD for the instances
        whose conditioning it would spoil. ``"iterate"`` is a filtered subspace iteration with an
        a posteriori certificate; instances without one fall back to ``"gram"``. ``"auto"`` chooses.
    start
        For ``"iterate"``: a basis (..., n, k) of a nearby space, k >= r, such as the last one
        along a training run.

    Raises
    ------
    ValueError
        If ``A`` is not finite, ``r`` is out of range, ``method`` is unknown or ``start`` does not
        fit ``A``.

    Examples
    --------
    >>> P = principal(torch.diag(torch.tensor([3.0, 2.0, 1.0])), 2)
    >>> P.values.tolist()
    [3.0, 2.0]
    """
    A = checks.matrices(A, "A")
    r = checks.rank_in_range(r, *A.shape[-2:])
    checks.choice(method, ("auto", "svd", "gram", "iterate"), "method")
    if method == "auto":
        smaller = min(A.shape[-2:])
        if A.requires_grad or smaller <= 4:
            method = "svd"
        elif start is not None or methods.iteration_pays(A, r):
            method = "iterate"
        else:
            method = "gram"
    batch = A.shape[:-2]
    stack = A.reshape(-1, *A.shape[-2:])
    if method == "svd":
        found: tuple[Tensor, ...] = methods.by_svd(stack, r)
    elif method == "gram":
        found = in_pieces(lambda piece: methods.by_gram(piece, r), stack, entries=stack[0].numel())
    else:
        starts = () if start is None else (_checked_start(start, A),)
        iterate = lambda a, near=None: methods.by_iteration(a, r, near)[:3]  # noqa: E731
        found = in_pieces(iterate, stack, *starts, entries=stack[0].numel())
    return Principal(*(part.reshape(batch + part.shape[1:]) for part in found))


def principal_rows(A: ArrayLike, r: int, *, method: Method = "auto") -> Tensor:
    """Orthonormal basis (..., n, r) of the principal row space; see :func:`principal`.

    Examples
    --------
    >>> principal_rows(torch.tensor([[0.0, 2.0], [0.0, 0.0]]), 1).abs().flatten().tolist()
    [0.0, 1.0]
    """
    return principal(A, r, method=method).basis


def row_space(A: ArrayLike, *, tolerance: float = 1e-10) -> Tensor:
    """Orthonormal basis (n, rank) of the whole row space of one matrix (m, n).

    Singular values above ``tolerance`` times the largest count, and never those that rounding can
    make; a zero matrix has an empty basis.

    Examples
    --------
    >>> row_space([[1.0, 0.0, 1.0], [2.0, 0.0, 2.0]]).shape
    torch.Size([3, 1])
    """
    A = checks.matrices(A, "A")
    if A.ndim != 2:
        raise ValueError(f"row_space takes one matrix (m, n); the shape is {tuple(A.shape)}.")
    _, values, right = torch.linalg.svd(A, full_matrices=False)
    share = max(tolerance, rounding(A.shape[0], A.shape[1], A.dtype))
    return right[: int((values > share * values[0]).sum())].mT


def singular_values(A: ArrayLike) -> Tensor:
    """Singular values (..., min(m, n)), descending, of each matrix (..., m, n).

    Examples
    --------
    >>> singular_values([[3.0, 0.0], [0.0, -4.0]]).tolist()
    [4.0, 3.0]
    """
    A = checks.matrices(A, "A")
    if A.requires_grad:
        return torch.linalg.svdvals(A)
    return over_batch(torch.linalg.svdvals, A)


def spectral_norm(A: ArrayLike) -> Tensor:
    """Largest singular value (...) of each matrix, from the smaller Gram matrix.

    The relative error is a few ``eps``: squaring harms small singular values, not the largest.

    Examples
    --------
    >>> spectral_norm([[3.0, 0.0], [0.0, -4.0]]).item()
    4.0
    """
    A = checks.matrices(A, "A")
    if A.requires_grad:
        return torch.linalg.matrix_norm(A, 2)
    stack = A.reshape(-1, *A.shape[-2:])
    largest = in_pieces(lambda a: (methods.largest_value(a),), stack, entries=stack[0].numel())
    return largest[0].reshape(A.shape[:-2])


def gap(A: ArrayLike, B: ArrayLike, r: int) -> Tensor:
    r"""The gap :math:`\sigma_r(A)-\sigma_{r+1}(B)` (...); a missing value counts as zero.

    It may be negative. ``A`` is (..., m, n) and ``B`` (..., m', n) with the same n.

    Raises
    ------
    ValueError
        If ``r`` is not between 1 and min(m, n), or the batches do not match.

    Examples
    --------
    >>> gap([[5.0, 0.0], [0.0, 1.0]], [[5.0, 0.0], [0.0, 2.0]], 1).item()
    3.0
    """
    A, B = checks.matrices(A, "A"), checks.matrices(B, "B")
    checks.rank_in_range(r, *A.shape[-2:])
    checks.same_batch(A, B, ("A", "B"))
    sb = singular_values(B)
    following = sb[..., r] if r < sb.shape[-1] else torch.zeros_like(sb[..., 0])
    return singular_values(A)[..., r - 1] - following


def sines(U: Tensor, V: Tensor) -> Tensor:
    """Sines (..., r), descending, of the principal angles between two bases (..., n, r).

    Raises
    ------
    ValueError
        If the bases differ in n or r, or their batches do not match.

    Examples
    --------
    >>> sines(torch.eye(3)[:, :1], torch.eye(3)[:, 1:2]).tolist()
    [1.0]
    """
    S = _off(*_pair(U, V))
    if S.requires_grad:
        return torch.linalg.svdvals(S).clamp(max=1)
    return over_batch(torch.linalg.svdvals, S).clamp(max=1)


def principal_angles(U: Tensor, V: Tensor) -> Tensor:
    """Principal angles (..., r) in radians, descending, between two bases (..., n, r).

    Angles below 45 degrees come from their sines and the others from their cosines, so both ends
    are accurate (Knyazev and Argentati, 2002).

    Examples
    --------
    >>> principal_angles(torch.eye(2)[:, :1], torch.eye(2)[:, 1:]).div(torch.pi).tolist()
    [0.5]
    """
    s = sines(U, V)
    c = over_batch(torch.linalg.svdvals, U.mT @ V).clamp(max=1).flip(-1)
    return torch.where(s < 0.5**0.5, torch.asin(s), torch.acos(c))


def chance(n: int, r: int) -> tuple[float, float]:
    r"""Mean and variance of :math:`\|P-Q\|_F^2/(2r)` for random subspaces of dimension ``r``.

    P and Q are projectors in n dimensions and at least one of them is uniformly distributed,
    independently of the other; the value is 0 for equal and at most 1.

    Raises
    ------
    ValueError
        If ``n`` is below 1 or ``r`` not between 1 and n.

    Examples
    --------
    >>> chance(2, 1)
    (0.5, 0.125)
    """
    checks.whole(n, "n", 1)
    r = checks.rank_in_range(r, n, n)
    # a line (n = 1) has one subspace; otherwise see the derivation from Beta distributions
    spread = 2 * (n - r) ** 2 / (n**2 * (n - 1) * (n + 2)) if r < n else 0.0
    return 1 - r / n, spread


def distance(U: Tensor, V: Tensor, *, norm: Norm = "fro") -> Tensor:
    r"""Distance (...) between the projectors :math:`UU^\top` and :math:`VV^\top`.

    ``"fro"`` is :math:`\sqrt2\|\sin\Theta\|_F`, ``"spectral"`` is :math:`\sin\theta_1`, ``"max"``
    the largest entry of the difference in absolute value. None of them forms a projector; the
    largest entry is taken block by block from :math:`VV^\top-UU^\top=SV^\top-UT^\top`, with
    :math:`S=(I-UU^\top)V` and :math:`T=(I-VV^\top)U`, in which nothing cancels.

    Raises
    ------
    ValueError
        If the shapes do not match or ``norm`` is unknown.

    Examples
    --------
    >>> e = torch.eye(3, dtype=torch.float64)
    >>> [round(distance(e[:, :1], e[:, 1:2], norm=k).item(), 4) for k in ("fro", "spectral", "max")]
    [1.4142, 1.0, 1.0]
    """
    checks.choice(norm, ("fro", "spectral", "max"), "norm")
    U, V = _pair(U, V)
    n, r = U.shape[-2:]
    batch = torch.broadcast_shapes(U.shape[:-2], V.shape[:-2])
    U, V = (W.expand(*batch, n, r).reshape(-1, n, r) for W in (U, V))
    if U.requires_grad or V.requires_grad:
        return _distances(U, V, norm).reshape(batch)
    entries = n * (n if norm == "max" else 2 * r)
    (found,) = in_pieces(lambda u, v: (_distances(u, v, norm),), U, V, entries=entries)
    return found.reshape(batch)


def projector(V: Tensor) -> Tensor:
    """The n-by-n projector (..., n, n) of a basis (..., n, r): for drawing, and for small n.

    Examples
    --------
    >>> projector(torch.tensor([[1.0], [0.0]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    V = checks.matrices(V, "V")
    return V @ V.mT


def _distances(U: Tensor, V: Tensor, norm: Norm) -> Tensor:
    """The distance (B,) between bases (B, n, r)."""
    S = _off(U, V)
    if norm == "fro":
        return 2**0.5 * torch.linalg.vector_norm(S, dim=(-2, -1))
    if norm == "spectral":
        if S.requires_grad:
            return torch.linalg.svdvals(S)[..., 0].clamp(max=1)
        return spectral_norm(S).clamp(max=1)
    left, right = torch.cat([S, -U], -1), torch.cat([V, _off(V, U)], -1)
    # Rows in blocks: an n-by-n difference per trial would be the largest array in the book.
    block = max(1, min(left.shape[1], 4_000_000 // max(1, left[..., 0].numel())))
    largest = [
        (part @ right.mT).abs().flatten(1).amax(1) for part in torch.split(left, block, dim=1)
    ]
    return torch.stack(largest).amax(0)


def _pair(U: ArrayLike, V: ArrayLike) -> tuple[Tensor, Tensor]:
    U, V = checks.matrices(U, "U"), checks.matrices(V, "V")
    if U.shape[-2:] != V.shape[-2:]:
        raise ValueError(
            f"U and V must be bases of the same shape (n, r); "
            f"they are {tuple(U.shape[-2:])} and {tuple(V.shape[-2:])}."
        )
    checks.same_batch(U, V, ("U", "V"))
    return U, V


def _off(U: Tensor, V: Tensor) -> Tensor:
    """The part (..., n, r) of V that is orthogonal to U, orthogonalized twice."""
    for _ in range(2):
        inside = U.mT @ V
        fused = U.ndim == V.ndim == 3 and len(U) == len(V)  # one pass less over the memory
        V = torch.baddbmm(V, U, inside, alpha=-1) if fused else V - U @ inside
    return V


def _checked_start(start: ArrayLike, A: Tensor) -> Tensor:
    start = checks.matrices(start, "start")
    if start.shape[:-1] != (*A.shape[:-2], A.shape[-1]):
        raise ValueError(
            f"start must be one basis (n, k) for each matrix; its shape is {tuple(start.shape)}, "
            f"that of A is {tuple(A.shape)}."
        )
    return start.reshape(-1, *start.shape[-2:])
