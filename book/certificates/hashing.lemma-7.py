"""Lemma 7 as Lemma 40 uses it: even with a little variance allowed, the shift may cost more.

Four points (+-g, +-a) of the unit circle; theta = +-a has the sign of gamma = +-g with
probability p. B reads theta. B' is to keep the means and to have a variance of at most v on each
manifold. The odd part of B' is b1 gamma + b2 theta: the odd part of the ReLU kernel is <x, y>/4,
so prices compare as b1^2 + b2^2, and even parts only add to a price. All numbers are exact.
"""

from fractions import Fraction as F

g, a, p = F(20, 101), F(99, 101), F(9, 10)
assert g * g + a * a == 1

mean = (2 * p - 1) * a  # of B = theta on the manifold gamma = +g
most = F(1, 10)  # the largest |b2| that is allowed
v = 4 * p * (1 - p) * (most * a) ** 2  # the variance of b2 theta on a manifold
assert v > F(1, 300)

# The means ask for b1 g + (2p - 1) b2 a = mean, so b1 falls as b2 rises to its limit.
b1 = (mean - (2 * p - 1) * most * a) / g
assert b1 * g + (2 * p - 1) * most * a == mean
before, after = 1, b1 * b1  # after: less than the price of every B' that is allowed
assert after > 12 * before
print(f"With a variance of {float(v):.4f} allowed the price still rises by {float(after):.1f}.")
