"""Corollary 2.1, printed without large N and without probability, is false for two points.

x = (s, 2s), y = (0, t), and the target's part that is not linear has the values (1, -1): delta = 1.
Two points are fitted exactly, and both weights are as large as one likes. Exact arithmetic.
"""

from fractions import Fraction


def weights(s, t):
    """w_x* - nu and sigma w_y*, by Cramer's rule for the normal equations."""
    x, y, g = (s, 2 * s), (Fraction(0), t), (Fraction(1), Fraction(-1))
    xx, yy, xy = (sum(a * b for a, b in zip(p, q)) for p, q in ((x, x), (y, y), (x, y)))
    gx, gy = (sum(a * b for a, b in zip(g, q)) for q in (x, y))
    det = xx * yy - xy * xy
    along, across = (gx * yy - gy * xy) / det, (gy * xx - gx * xy) / det
    assert all(along * a + across * b == c for a, b, c in zip(x, y, g)), "an exact fit"
    return along, across


for k in range(8):
    s, t = Fraction(1, 10**k), Fraction(1, 100**k)
    assert weights(s, t) == (1 / s, -3 / t)

print("x = (s, 2s), y = (0, t): w_x* - nu = delta/s and sigma w_y* = -3 delta/t, without bound.")
