"""Lemma 55 at T = s = 2: three points of the circle, and half of gamma is lost.

gamma at 0, 120 and 240 degrees, x = gamma. The kernel matrix K has 1/2 on the diagonal and k off
it, k = (sqrt(3)/2 - pi/6)/(2 pi). As lambda -> 0 the outputs tend to an orthogonal projector P of
rank 2 (the best approximation of the labels I), and among these to one that is cheapest: the price
is the sum of the roots of the two eigenvalues of 1/K on the range of P. The range meets the plane
where 1/K is 1/low, so the price is 1/sqrt(low) + sqrt(x) with x >= 1/top, and x = 1/top only if
the range holds the constant vector. The two coordinates of gamma span the plane orthogonal to it:
one of the two directions has no room.
"""

from fractions import Fraction as F


def times(k, v):
    """K v, for v with three entries."""
    return [F(1, 2) * v[i] + k * sum(v[j] for j in range(3) if j != i) for i in range(3)]


# Bounds on k from 3 < pi < 22/7 and 1.7 < sqrt(3) < 1.74.
low_k, high_k = (F(17, 20) - F(11, 21)) / (2 * F(22, 7)), (F(174, 200) - F(1, 2)) / 6
assert F(17, 10) ** 2 < 3 < F(174, 100) ** 2 and 0 < low_k < high_k < F(1, 4)

for k in (low_k, high_k):  # all is linear in k, so two values are enough
    top, low = F(1, 2) + 2 * k, F(1, 2) - k
    assert times(k, [1, 1, 1]) == [top] * 3
    for coordinate in ([2, -1, -1], [0, 1, -1]):  # of gamma, each times a number
        assert times(k, coordinate) == [low * c for c in coordinate]
        assert sum(coordinate) == 0
    assert top > low > 0  # so 1/sqrt(low) + 1/sqrt(top) < 2/sqrt(low)
print("The constant is cheaper than gamma: at T = 2 one of gamma's two directions is lost.")
