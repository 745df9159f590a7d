"""One generator for each trial and purpose, so that no trial depends on another."""

from __future__ import annotations

import zlib

import numpy as np


def generator(seed: int, trial: int, purpose: str, *more: int) -> np.random.Generator:
    """The generator of trial ``trial`` under ``seed`` for one ``purpose`` (a word).

    Different purposes give independent streams, so weights never repeat the numbers that data or
    mini-batches were drawn with under the same seed.

    Raises
    ------
    ValueError
        If ``seed`` is not a whole number.

    Examples
    --------
    >>> a, b = (generator(0, 3, purpose).random() for purpose in ("weights", "batches"))
    >>> a == b, a == generator(0, 3, "weights").random()
    (False, True)
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise ValueError(f"seed must be a whole number; you gave {seed!r}.")
    key = (zlib.crc32(purpose.encode()), int(seed < 0), *more)
    return np.random.default_rng(np.random.SeedSequence((abs(int(seed)), trial), spawn_key=key))
