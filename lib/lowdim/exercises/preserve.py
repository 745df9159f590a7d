"""Checkers of Part I."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lowdim.exercises.checking import checker, matrix, wants
from lowdim.linalg import subspaces
from lowdim.preserve import preservation
from lowdim.seeds import generator


@checker
def check_centre(centre: Callable[[Tensor], Any]) -> None:
    """Exercise 2 of Lemma 4.3: a linear map that takes the constant out of a sigmoid's output.

    Examples
    --------
    >>> check_centre(lambda M: M)
    'Not yet: the tangent bound of the centred sigmoid is 1 or more.'
    """
    rows, columns, rank = 9, 12, 2
    for trial, scale in enumerate((0.01, 0.002)):
        draw = generator(0, trial, "exercise: centre")
        factors = draw.standard_normal((rows, rank)), draw.standard_normal((rank, columns))
        H = scale * torch.from_numpy(factors[0] @ factors[1])
        Y = torch.sigmoid(H)
        A, B = (matrix(centre(M.clone()), (None, None), "what centre returns") for M in (Y, H))
        wants(A.shape == B.shape, "centre gives two matrices of one shape two different shapes")
        both = matrix(centre(2 * Y - 3 * H), tuple(A.shape), "what centre returns")
        wants(
            torch.linalg.matrix_norm(both - (2 * A - 3 * B)) < 1e-9 * torch.linalg.matrix_norm(Y),
            "centre is not linear: of 2Y − 3H it makes something else than of Y and H",
        )
        kept = float(subspaces.singular_values(B)[rank - 1])
        wants(kept > 0.1 * scale, "centre loses a direction of H")
        off, on = preservation.tangent_ratio(A, subspaces.principal_rows(B, rank))
        wants(float(off) < float(on), "the tangent bound of the centred sigmoid is 1 or more")
        wants(
            float(off) < 20 * scale**2 * float(on),
            "the tangent bound does not fall with the square of the scale of H",
        )
