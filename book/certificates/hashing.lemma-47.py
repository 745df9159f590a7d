"""Lemma 47: the complexity of x -> |Px + b|^2 exceeds the printed bound, at one point.

One point x = 1, |P| <= beta = 1/10, b free with |b| <= 1. R_1 is the mean over the sign xi of the
supremum of xi (P + b)^2: for xi = 1 it is (beta + 1)^2, for xi = -1 it is 0. All numbers are
exact.
"""

from fractions import Fraction

beta, b, alpha = Fraction(1, 10), Fraction(1), Fraction(1)
grid = [Fraction(i, 20) for i in range(-20, 21)]
values = [(P + c) ** 2 for P in grid if abs(P) <= beta for c in grid if abs(c) <= b]
complexity = (max(values) + max(-v for v in values)) / 2

assert max(values) == (beta + b) ** 2 and min(values) == 0  # the grid has both extreme points
printed = 2 * b * beta * alpha + beta**2 * alpha**2  # over the root of n = 1
assert complexity == Fraction(121, 200) > printed == Fraction(21, 100)
print(f"R_1 = {complexity}, and the printed bound is {printed}.")
