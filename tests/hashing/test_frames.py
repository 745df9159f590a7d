"""Evenly spread lines: Welch's equality, and the best multiple against a search."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import factored, frames
from lowdim.seeds import generator


def gram(vectors: object) -> torch.Tensor:
    case = frames.pair(vectors)
    return (case["A"] @ case["B"])[0]


@pytest.mark.parametrize(
    ("vectors", "T"),
    [
        (frames.circle(3), 2),
        (frames.circle(7), 2),
        (frames.icosahedron(), 3),
        (frames.simplex(5), 4),
        (np.eye(3), 3),
    ],
)
def test_frames_are_tight(vectors: object, T: int) -> None:
    G = gram(vectors)
    assert torch.allclose(G.diagonal(), torch.ones(len(G)).double())
    assert torch.allclose(G @ G, len(G) / T * G, atol=1e-9)


def test_lines_of_one_frame_are_equally_far() -> None:
    for vectors in (frames.icosahedron(), frames.simplex(5)):
        G = gram(vectors)
        off = G[~torch.eye(len(G), dtype=torch.bool)].abs()
        assert off.max() - off.min() < 1e-9


def test_the_best_multiple_beats_others_and_goes_by_instance() -> None:
    M = torch.from_numpy(generator(0, 0, "frames").standard_normal((6, 4, 4)))
    best = frames.best_multiple(M)
    least = factored.weighted_loss(best, torch.arange(4))
    for a in (0.0, 0.1, 0.5, 1.0, 2.0):
        assert bool((least <= factored.weighted_loss(a * M, torch.arange(4)) + 1e-12).all())
    assert torch.equal(frames.best_multiple(M[3]), best[3])


def test_outputs_that_are_wrong_throughout_are_best_at_zero() -> None:
    assert frames.best_multiple(-torch.eye(3).double()).abs().max() == 0
