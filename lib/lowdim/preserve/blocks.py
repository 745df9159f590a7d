r"""How well a projector agrees with given clusters, without clustering anything.

Points 1..n have labels. A projector :math:`P=VV^\top` of rank r *shows* the labels when it is
block-diagonal: no entry joins points with different labels. Two measures of how far it is from
that, both from 0 to 1 and with no threshold, affinity or restart in them:

* :func:`off_block`, the share of its squared entries that join different labels;
* :func:`price`, its distance from the nearest block-diagonal projector of rank r, which
  :func:`nearest` returns.

Distances are :math:`\|P-Q\|_F/\sqrt{2r}`, as in :mod:`lowdim.preserve.drift`. Labels are
(n,) or (..., n).
"""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike


def off_block(V: ArrayLike, labels: ArrayLike) -> Tensor:
    r"""Share (...) of :math:`\|P\|_F^2=r` in entries between different labels; V is (..., n, r).

    It is a sum of non-negative terms, one for each pair of labels, so nothing cancels.

    Raises
    ------
    ValueError
        If there is not one label for each of the n points.

    Examples
    --------
    >>> V = torch.ones(4, 1).double() / 2
    >>> off_block(V, [0, 0, 1, 1]).item(), off_block(V, [0, 0, 0, 0]).item()
    (0.5, 0.0)
    """
    grams, r = _grams(V, labels)
    flat = grams.flatten(-2)
    shared = flat @ flat.mT  # entry k, l is the sum of squares of the block between k and l
    apart = 1 - torch.eye(shared.shape[-1], dtype=shared.dtype)
    return (shared * apart).sum((-2, -1)) / r


def price(V: ArrayLike, labels: ArrayLike) -> Tensor:
    r"""Distance (...) of :math:`P=VV^\top` from the nearest block-diagonal projector of rank r.

    With :math:`\lambda_1\ge\lambda_2\ge\dots` the eigenvalues of all diagonal blocks of P together,
    its square is :math:`1-\frac1r\sum_{i\le r}\lambda_i`.

    Raises
    ------
    ValueError
        As :func:`off_block`.

    Examples
    --------
    >>> V = torch.ones(4, 1).double() / 2
    >>> round(price(V, [0, 0, 1, 1]).item() ** 2, 6)
    0.5
    """
    grams, r = _grams(V, labels)
    values = torch.linalg.eigvalsh(grams).flatten(-2)
    top = values.topk(r, dim=-1).values.clamp(max=1)
    return ((1 - top).sum(-1) / r).clamp_min(0).sqrt()


def nearest(V: ArrayLike, labels: ArrayLike) -> Tensor:
    """A basis (..., n, r) of the block-diagonal projector of rank r nearest to that of V.

    Each basis vector lives on the points of one label. Where eigenvalues are tied it is one of
    several.

    Raises
    ------
    ValueError
        As :func:`off_block`.

    Examples
    --------
    >>> V = torch.tensor([[0.8], [0.6]]).double()
    >>> nearest(V, [0, 1]).abs().flatten().tolist()
    [1.0, 0.0]
    """
    grams, r = _grams(V, labels)
    V = checks.matrices(V, "V")
    values, vectors = torch.linalg.eigh(grams)  # (..., K, r) and (..., K, r, r)
    order = values.flatten(-2).topk(r, dim=-1).indices
    onto = V[..., None, :, :] * _indicators(V, labels).mT[..., None] @ vectors  # (..., K, n, r)
    columns = onto.movedim(-3, -2).flatten(-2)  # (..., n, K r)
    chosen = columns.gather(-1, order[..., None, :].expand(*columns.shape[:-1], r))
    return chosen / torch.linalg.vector_norm(chosen, dim=-2, keepdim=True).clamp_min(1e-300)


def _indicators(V: Tensor, labels: ArrayLike) -> Tensor:
    """One column for each label that occurs: (..., n, K), in the precision of V."""
    labels = torch.as_tensor(labels)
    n = V.shape[-2]
    if labels.ndim < 1 or labels.shape[-1] != n:
        raise ValueError(
            f"labels must give one label to each of the n = {n} points; "
            f"their shape is {tuple(labels.shape)}."
        )
    return (labels[..., None] == torch.unique(labels)).to(V.dtype)


def _grams(V: ArrayLike, labels: ArrayLike) -> tuple[Tensor, int]:
    """Gram matrices (..., K, r, r) of the rows of V that share a label, and r."""
    V = checks.matrices(V, "V")
    marks = _indicators(V, labels)
    parts = V[..., None, :, :] * marks.mT[..., None]  # (..., K, n, r)
    return parts.mT @ parts, V.shape[-1]
