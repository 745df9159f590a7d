"""Checkers about layers: Lemma 4.3, Theorem 3.1, five layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lowdim.exercises.checking import checker, matrix, wants
from lowdim.linalg import subspaces
from lowdim.preserve import preservation, walks
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


@checker
def check_comparator(comparator: Callable[[Tensor, Tensor], Any]) -> None:
    """Exercise 2 of Theorem 3.1: the A for which AX is nearest to Y.

    Examples
    --------
    >>> check_comparator(lambda Y, X: 0 * Y @ X.T)
    'Not yet: a small change of A brings AX nearer to Y.'
    """
    for trial, (h, m, n, rank) in enumerate(((5, 3, 9, 3), (2, 1, 4, 1), (4, 6, 8, 2))):
        draw = generator(0, trial, "exercise: comparator")
        shapes = (m, rank), (rank, n), (h, m)
        U, V, W = (torch.from_numpy(draw.standard_normal(shape)) for shape in shapes)
        X = U @ V
        Y = (W @ X).clamp_min(0)
        A = matrix(comparator(Y.clone(), X.clone()), (h, m), "what comparator returns")
        slope = torch.linalg.matrix_norm((Y - A @ X) @ X.T)
        size = torch.linalg.matrix_norm(Y) * torch.linalg.matrix_norm(X)
        # the squared distance has its least value exactly where this gradient vanishes
        wants(
            float(slope) < 1e-8 * float(size),
            "a small change of A brings AX nearer to Y"
            + (", when the rows of X are dependent" if rank < m else ""),
        )


@checker
def check_shorter(shorter: Callable[[], Any]) -> None:
    """Exercise 2 of five layers: fewer than fifteen layers, each within (2), join two lines.

    Examples
    --------
    >>> check_shorter(lambda: [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]])
    'Not yet: the second and the third point are not joined: their entry is 1/4 or less.'
    """
    layers = list(shorter())
    wants(layers, "there is no layer")
    weights = torch.stack([matrix(W, (3, 3), "a layer") for W in layers])[None]
    wants(len(layers) < 15, "there are fifteen layers or more")
    found = walks.through({**walks.drifting(2, 1, 1), "W": weights}, "own part")
    wants(float(walks.ratios(found).amin()) > 1, "some layer does not satisfy (2)")
    joined = float(subspaces.projector(found[-1].y)[0, 1, 2].abs())
    wants(
        joined > 0.25, "the second and the third point are not joined: their entry is 1/4 or less"
    )
