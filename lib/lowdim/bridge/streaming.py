r"""How far two ways of summing a moment can be apart.

:math:`G=HH^\top` is summed batch by batch in arithmetic with unit roundoff u. Whatever the batches
and the order within them, each entry is off by at most :math:`\gamma_n=nu/(1-nu)` times the sum of
absolute values.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks

__all__ = ["Apart", "apart", "gamma", "moment", "swallowed"]


def gamma(n: int, dtype: torch.dtype = torch.float32) -> float:
    """γ_n = nu/(1 − nu), u being half the distance from 1 to the next number.

    Examples
    --------
    >>> gamma(1) == 2.0**-24 / (1 - 2.0**-24)
    True
    """
    u = torch.finfo(dtype).eps / 2
    return n * u / (1 - n * u)


def moment(H: Tensor, batch: int) -> Tensor:
    """H Hᵀ (..., p, p) of H (..., p, n), in H's own precision, summed batch by batch.

    Examples
    --------
    >>> moment(torch.ones(1, 5), 2).item()
    5.0
    """
    checks.whole(batch, "batch", 1)
    total = torch.zeros(*H.shape[:-1], H.shape[-2], dtype=H.dtype)
    for part in H.split(batch, -1):
        total = total + part @ part.mT
    return total


@dataclass(frozen=True)
class Apart:
    """Two moments (...): values, the largest difference of two eigenvalues; spectral, frobenius:
    norms of the difference; entries: the Frobenius norm of the entrywise bound; bound: 2γ_n‖H‖²."""

    values: Tensor
    spectral: Tensor
    frobenius: Tensor
    entries: Tensor
    bound: Tensor


def apart(H: Tensor, first: int, second: int) -> Apart:
    """The moments of H (..., p, n) in single precision, by two sizes of batch, compared in double.

    Examples
    --------
    >>> found = apart(torch.ones(2, 3), 1, 3)
    >>> float(found.frobenius), bool(found.bound > 0)
    (0.0, True)
    """
    single = H.float()
    one, two = (moment(single, batch).double() for batch in (first, second))
    exact = single.double()
    off = one - two
    off = (off + off.mT) / 2
    levels = [torch.linalg.eigvalsh((G + G.mT) / 2) for G in (one, two)]
    twice = 2 * gamma(H.shape[-1])
    sums = exact.abs() @ exact.abs().mT
    return Apart(
        (levels[0] - levels[1]).abs().amax(-1),
        torch.linalg.matrix_norm(off, 2),
        torch.linalg.matrix_norm(off),
        twice * torch.linalg.matrix_norm(sums),
        twice * exact.square().sum((-2, -1)),
    )


def swallowed(n: int) -> Tensor:
    """A layer (1, n): a one, then n − 1 values whose squares single precision drops next to it.

    Examples
    --------
    >>> H = swallowed(4097)
    >>> moment(H, 1).item(), moment(H[:, 1:], 4096).item() > 1e-4
    (1.0, True)
    """
    H = torch.full((1, n), (2.0**-25) ** 0.5)
    H[0, 0] = 1.0
    return H
