"""Section 4: ||f(x, y) - g||^2 <= ||f(x, 0) - g||^2 + ||f(x, y) - f(x, 0)||^2 is false.

g = 0 and f(x, y) = relu(1 + y) at y = 1: f(x, 0) - g = 1 and the change is 1. Norms add, squares do
not. With a factor 2 on the right it holds for all pairs, since 2ab <= a^2 + b^2; checked on a grid.
"""

from fractions import Fraction as Q


def relu(v):
    return max(v, Q(0))


on, off = relu(Q(1)), relu(Q(1) + 1)
change = off - on
assert (on, change) == (1, 1)
left, right = off**2, on**2 + change**2
assert (left, right) == (4, 2)

grid = [Q(k, 5) for k in range(-20, 21)]
assert all((h + d) ** 2 <= 2 * h * h + 2 * d * d for h in grid for d in grid)

print(f"f(x, 0) - g = 1 and the change is 1: {left} <= {right} is false.")
