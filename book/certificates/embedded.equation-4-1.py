"""Equation (4.1), g(x_i) = g(x_i + sigma eps_i) + O(sigma), has no constant for all points.

For g(x) = x the difference is sigma |eps_i| exactly. Normal noise exceeds t with probability at
least 2 phi(t) (1/t - 1/t^3) (integrate phi twice by parts). So among enough points some label is
off by more than t sigma, almost surely. For t = 4 and a million points, with rational bounds.
"""

from fractions import Fraction as Q
from math import factorial

# e^8 < 2981: the series up to order 40, and the rest is below its first term times 2.
series = sum(Q(8**k, factorial(k)) for k in range(41))
assert series + 2 * Q(8**41, factorial(41)) < 2981
# 1/sqrt(2 pi) > 0.3989, since 2 pi < 6.2832 and 0.3989^2 * 6.2832 < 1.
assert Q(3989, 10000) ** 2 * Q(62832, 10000) < 1

t, N = 4, 10**6
tail = 2 * Q(3989, 10000) / 2981 * (Q(1, t) - Q(1, t**3))
assert tail > Q(6, 10**5)
# The chance that no |eps_i| exceeds 4 is at most (1 - tail)^N <= 1 / (1 + N tail).
assert 1 / (1 + N * tail) < Q(1, 60)

print("With a million points and g(x) = x some label is off by more than 4 sigma, but for 1 in 60.")
