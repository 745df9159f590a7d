"""Equation (1.12): "one needs N ~ sigma^-2" is false where the target is linear.

For g = 2x least squares gives the noise direction the weight zero, at every noise level and for
every number of points from two on: no large N is needed. All numbers are exact.
"""

from fractions import Fraction


def minimizer(x, y, g, sigma):
    """(w_x, w_y) that minimizes the sum of (w_x x + w_y sigma y - g)^2, by Cramer's rule."""
    y = [sigma * value for value in y]
    xx, yy, xy = (sum(a * b for a, b in zip(p, q)) for p, q in ((x, x), (y, y), (x, y)))
    gx, gy = (sum(a * b for a, b in zip(g, q)) for q in (x, y))
    det = xx * yy - xy * xy
    assert det != 0, "the minimizer is unique"
    return (gx * yy - gy * xy) / det, (gy * xx - gx * xy) / det


for N in (2, 3, 5):
    x = [Fraction(k + 1) for k in range(N)]
    y = [Fraction((-1) ** k, k + 2) for k in range(N)]
    for k in range(0, 60, 10):
        sigma = Fraction(1, 2**k)
        assert minimizer(x, y, [2 * value for value in x], sigma) == (2, 0)

print("w_y* = 0 for N = 2, 3, 5 and sigma down to 2^-50: no N of order sigma^-2 is needed.")
