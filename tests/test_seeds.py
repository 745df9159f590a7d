"""Generators: one for each seed, trial, purpose and more, and never the same for two."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from lowdim.seeds import generator


def test_no_two_streams_are_alike_and_each_is_always_the_same() -> None:
    asked = list(product((-2, -1, 0, 1, 2), (0, 1), ("weights", "batches"), ((), (0,), (1,))))
    first = {
        (seed, trial, word, more): generator(seed, trial, word, *more).random()
        for seed, trial, word, more in asked
    }
    assert len(set(first.values())) == len(asked)
    for (seed, trial, word, more), value in first.items():
        assert generator(np.int64(seed), trial, word, *more).random() == value


def test_streams_are_independent() -> None:
    drawn = [generator(0, trial, "weights").standard_normal(4000) for trial in range(6)]
    drawn += [generator(0, trial, "data").standard_normal(4000) for trial in range(6)]
    off = np.corrcoef(drawn) - np.eye(12)
    assert np.abs(off).max() < 5 / 4000**0.5


@pytest.mark.parametrize("seed", [True, 1.0, "1", None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(ValueError, match="seed must be a whole number; you gave"):
        generator(seed, 0, "data")
