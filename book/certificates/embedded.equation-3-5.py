"""Equation (3.5): the mean over uniform points estimates an average, not the integral.

f(x, y) = relu(x + y) - relu(-x - y) = x + y, d_x = d_y = 1. The left side is
E_y of the integral of (f(x, y) - f(x, 0))^2 = y^2 over -1 < x < 1, that is 2 E y^2. The right side
is a mean over points of (f(x_i, y_i) - f(x_i, 0))^2 = y_i^2, whose expectation is E y^2.
"""

from fractions import Fraction as Q


def relu(v):
    return v if v > 0 else Q(0)


def f(x, y):
    return relu(x + y) - relu(-x - y)


grid = [Q(k, 7) for k in range(-7, 8)]
shifts = [Q(k, 3) for k in range(-9, 10)]
assert all(f(x, y) - f(x, 0) == y for x in grid for y in shifts), "the change is y everywhere"

for gamma2 in (Q(1), Q(1, 4), Q(9)):  # E y^2 = gamma^2
    integral = (1 - (-1)) * gamma2
    mean = gamma2
    assert integral == 2 * mean

print("Left side 2 gamma^2, right side gamma^2: the volume 2^d_x of the cube is missing.")
