"""Exponents of power laws, with error bars."""

from __future__ import annotations

import numpy as np

from lowdim.evidence.values import Estimate


def exponent(x: object, y: object) -> Estimate:
    """The exponent p of y ~ x^p with two standard errors of it.

    ``x`` (k,) and ``y`` (k,) or (trials, k), all positive. With several trials a line is fitted to
    each on logarithmic axes; the exponent is the mean of the slopes and its error comes from their
    spread. With one, the error comes from the distances to the line.

    Raises
    ------
    ValueError
        If shapes disagree, values are not positive and finite, or there are too few: three points
        for one trial, two for several, at two places at least.

    Examples
    --------
    >>> p, error = exponent([1.0, 2.0, 4.0], [3.0, 0.75, 0.1875])
    >>> round(p, 9), error < 1e-9
    (-2.0, True)
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    rows = np.atleast_2d(y)
    if x.ndim != 1 or rows.ndim != 2 or rows.shape[1] != x.size:
        raise ValueError(
            f"x must be (k,) and y (k,) or (trials, k); their shapes are {x.shape} and {y.shape}."
        )
    if not all(np.isfinite(v).all() and (v > 0).all() for v in (x, rows)):
        raise ValueError("x and y must be positive and finite; some values are not.")
    if x.size < (2 if len(rows) > 1 else 3) or np.ptp(x) == 0:
        raise ValueError(f"{x.size} points and {len(rows)} trials are too few to fit an exponent.")
    centred = np.log(x) - np.log(x).mean()
    logs = np.log(rows) - np.log(rows).mean(1, keepdims=True)
    slopes = logs @ centred / (centred @ centred)
    if len(rows) > 1:
        error = slopes.std(ddof=1) / np.sqrt(len(rows))
    else:
        rest = logs[0] - slopes[0] * centred
        error = np.sqrt(rest @ rest / (x.size - 2) / (centred @ centred))
    return Estimate(float(slopes.mean()), float(2 * error))
