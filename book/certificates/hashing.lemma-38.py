"""Lemma 38 as Lemma 40 uses it: moving weight off theta with the means kept may cost more.

Four points (+-g, +-a) of the unit circle; theta = +-a has the sign of gamma = +-g with
probability p. B reads theta. A function without variance on each manifold that keeps the means is
a function of gamma. Odd functions on these points are linear, and the odd part of the ReLU kernel
is <x, y>/4: a linear function b.x has the squared norm 4|b|^2, so prices compare as |b|^2. Even
parts only add to a price. All numbers are exact.
"""

from fractions import Fraction

g, a, p = Fraction(3, 5), Fraction(4, 5), Fraction(9, 10)
assert g * g + a * a == 1

mean = p * a + (1 - p) * (-a)  # of theta on the manifold gamma = +g
assert mean == (2 * p - 1) * a
before = 1  # B = (0, 1): |b|^2
b1 = mean / g  # the only linear function of gamma with the means +-mean
assert b1 * g == mean and b1 * (-g) == -mean
after = b1 * b1

assert after / before == Fraction(256, 225) > 1
print(f"The price rises by {after / before}: the shift is not free.")
