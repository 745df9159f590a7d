"""How a layer's weights begin, drawn for one trial at a time."""

from __future__ import annotations

import math

import numpy as np

INITIALIZATIONS = ("uniform", "normal", "kaiming", "xavier", "orthogonal", "nonnegative")


def draw_layer(
    random: np.random.Generator, out: int, into: int, kind: str, scale: float | None, bias: bool
) -> tuple[np.ndarray, np.ndarray]:
    """One trial's weight (out, into) and bias (out,) of one layer.

    Examples
    --------
    >>> W, b = draw_layer(np.random.default_rng(0), 3, 2, "nonnegative", 0.5, True)
    >>> W.shape, b.shape, bool(W.min() >= 0), bool(W.max() <= 0.5)
    ((3, 2), (3,), True, True)
    """
    shape = (
        (out, into + 1) if bias and kind in ("uniform", "normal", "nonnegative") else (out, into)
    )
    size = scale if scale is not None else 1 / math.sqrt(into)
    gain = scale if scale is not None else 1.0
    if kind == "uniform":
        both = random.uniform(-size, size, shape)
    elif kind == "normal":
        both = size * random.standard_normal(shape)
    elif kind == "nonnegative":
        both = random.uniform(0, size, shape)
    elif kind == "kaiming":
        both = gain * math.sqrt(2 / into) * random.standard_normal(shape)
    elif kind == "xavier":
        width = gain * math.sqrt(6 / (into + out))
        both = random.uniform(-width, width, shape)
    else:
        Q, R = np.linalg.qr(random.standard_normal((max(shape), min(shape))))
        Q = gain * Q * np.where(np.diag(R) < 0, -1.0, 1.0)
        both = Q if out >= into else Q.T
    column = both[:, into] if both.shape[1] > into else np.zeros(out)
    return both[:, :into], column
