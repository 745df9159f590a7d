"""Definition 5, (16), on R^d as printed: no a gives g = 1, whatever the layer.

A ReLU layer without bias is homogeneous, sigma(C t x) = t sigma(C x) for t >= 0. So a.sigma(C x)
is 0 at x = 0 and doubles with x, for every a and C of any width, and the set of which the norm is
the minimum is empty. On the unit sphere, with the bias coordinate, it is not: one unit with the
weights (0, 2) gives 1 if the layer sees (x/2, 1/2), the bias coordinate up to scale.
"""

from fractions import Fraction as F


def layer(a, C, x):
    """a . sigma(C x)."""
    return sum(
        weight * max(F(0), sum(c * v for c, v in zip(row, x, strict=True)))
        for weight, row in zip(a, C, strict=True)
    )


rows = [[F(i - 3, j + 2) for j in range(3)] for i in range(7)]
for k in range(7):  # linear in a: the unit vectors are enough for these rows
    a = [F(i == k) for i in range(7)]
    assert layer(a, rows, [F(0)] * 3) == 0 != 1
    x = [F(1, 3), F(-2, 5), F(7, 4)]
    assert layer(a, rows, [2 * v for v in x]) == 2 * layer(a, rows, x)

for x in (F(-1), F(0), F(1, 3), F(1)):
    assert layer([F(1)], [[F(0), F(2)]], [x / 2, F(1, 2)]) == 1
print("At 0 every a.sigma(Cx) is 0 and g is 1; with a bias one unit gives 1.")
