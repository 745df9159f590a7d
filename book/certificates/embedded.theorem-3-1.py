"""Theorem 3.1: two equal neurons break it.

f(x, y) = relu(x + y) + relu(x + y) on -1 < x < 1, y = 1, trained on y = 0. Each neuron has weights
one and no bias, so s = 1, t = x. Integrals of polynomials, exactly.
"""

from fractions import Fraction as Q


def integral(coefficients, low, high):
    """Of the polynomial with these coefficients, lowest first."""
    powers = [(Q(c), k + 1) for k, c in enumerate(coefficients)]
    return sum(c * (Q(high) ** n - Q(low) ** n) / n for c, n in powers)


# One neuron changes by relu(x + 1) - relu(x): x + 1 below 0, and 1 above.
one = integral((1, 2, 1), -1, 0) + integral((1,), 0, 1)
assert one == Q(4, 3)
change = 2**2 * one  # two equal neurons: the square of the sum

# B = s^2 |grad h|^2 / |W_x|^2 + C |W_2|^2 |s|^3 / (3 |W_x|), with C = 1 in one dimension.
grad = integral((1,), 0, 1)  # |h'|^2 is 1 where x > 0
B = grad + Q(1, 3)
assert B == one, "for one neuron the bound is attained"
assert (change, 2 * B) == (Q(16, 3), Q(8, 3))

print(f"The change in square is {change}, the printed bound {2 * B}.")
