"""Rounding of sums against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import torch
from lowdim.bridge import streaming
from lowdim.seeds import generator


def test_every_way_of_batching_is_within_gamma_of_the_exact_sum() -> None:
    H = torch.from_numpy(generator(0, 0, "streaming").standard_normal((3, 50))).float()
    for batch in (1, 7, 50):
        G = streaming.moment(H, batch)
        for i in range(3):
            for j in range(3):
                terms = [
                    Fraction(float(a)) * Fraction(float(b)) for a, b in zip(H[i], H[j], strict=True)
                ]
                off = abs(Fraction(float(G[i, j])) - sum(terms))
                assert off <= Fraction(streaming.gamma(50)) * sum(map(abs, terms))


def test_the_chain_of_norms_is_in_order() -> None:
    H = torch.from_numpy(generator(1, 0, "streaming").standard_normal((20, 4, 30)))
    q = streaming.apart(H, 1, 30)
    room = 1e-12 * q.bound
    assert (q.values <= q.spectral + room).all() and (q.spectral <= q.frobenius + room).all()
    assert (q.frobenius <= q.entries).all() and (q.entries <= q.bound + room).all()
