"""Theorem 3.2: f = relu(relu(x + y) + relu(x + y)), three neurons, breaks it by a factor 2.

L = 3, on -1 < x < 1 with y = 1. First layer: two equal neurons with weights one, no bias. Second:
one neuron that adds them. Third: W^3 = 1, so the product over l >= 3 is 1. Exact integrals.
"""

from fractions import Fraction as Q


def integral(coefficients, low, high):
    """Of the polynomial with these coefficients, lowest first."""
    powers = [(Q(c), k + 1) for k, c in enumerate(coefficients)]
    return sum(c * (Q(high) ** n - Q(low) ** n) / n for c, n in powers)


# The second neuron's input is never negative: f(x, 1) - f(x, 0) = 2 (relu(x + 1) - relu(x)).
one = integral((1, 2, 1), -1, 0) + integral((1,), 0, 1)
change = 4 * one

# (3.4): for each j, |W_y y|^2 |grad h_1j|^2 / |W_x|^2 + C |W_1j|^2 |W_y y|^3 / (3 |W_x|), C = 1.
# With y = 1 it makes no difference whether the first numerator has |W_y| (printed) or |W_y y|.
bound = sum(integral((1,), 0, 1) + Q(1, 3) for _ in range(2))
assert (change, bound) == (Q(16, 3), Q(8, 3))

# The product from l = 2 on: |W^2|^2 = 2 times the sum over j, which is attained.
assert 2 * 2 * one == change

print(f"The change in square is {change}, the printed bound {bound}.")
