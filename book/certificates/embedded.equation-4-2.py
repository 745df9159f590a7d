"""Equation (4.2): both of its error terms are too small.

First line. X = 1, g = 1, f(x, 0) = relu(x - 1), normal noise: E_X |f - g|^2 = 1, and with noise
E (1 - sigma eps_+)^2 = 1 - 2 sigma E[eps_+] + sigma^2/2, E[eps_+] = 1/sqrt(2 pi) > 0.3989. The
difference is of order sigma. Last line. X is 1 or 2 with probability 1/2, f = 0, g = x: the mean of
N losses is 1 + 3 k/N with k heads, and E - mean > C/N happens nearly half of the time.
"""

from fractions import Fraction as Q
from math import comb

assert Q(3989, 10000) ** 2 * Q(62832, 10000) < 1  # 2 pi < 6.2832, so 1/sqrt(2 pi) > 0.3989
for C in (1, 10, 100, 1000):
    sigma = Q(1, 2 * C)
    difference = 2 * Q(3989, 10000) * sigma - sigma**2 / 2  # a lower bound of 1 - E(...)
    assert difference > C * sigma**2, C

for C, N in ((3, 2000), (30, 4000)):
    # E - mean = 3/2 - 3 k/N > C/N, that is k < N/2 - C/3
    often = Q(sum(comb(N, k) for k in range(N) if 3 * k < Q(3 * N, 2) - C), 2**N)
    assert often > Q(1, 3), float(often)

print("The first error is at least 0.79 sigma - sigma^2/2; the second exceeds C/N in 1 of 3 draws.")
