"""Corollary 25: a width c sqrt(N) log(N/delta)/eps is too small for every constant c, N large.

N equal unit columns x, eps = 1/8, delta = 1/20. |sigma(Cx)|^2 is a mean of D independent
sigma(u)^2, u standard normal; call its difference from 1/2 M. U phi_k(x) is never longer than
sqrt(1/2), so |Delta|_F >= sqrt(N) (|sigma(Cx)| - sqrt(1/2)), and this is at least 2 sqrt(eps)
where M >= h = 2 sqrt(2 eps/N) + 4 eps/N. By Hoelder (E|M|)^2 >= (E M^2)^3/E M^4; the mean of the
positive part of M is E|M|/2, and P(M > h) >= (E|M|/2 - h)^2/E M^2.
"""

from fractions import Fraction as F
from math import isqrt

# E sigma(u)^(2k) is half of 1, 3, 15, 105.
e1, e2, e3, e4 = F(1, 2), F(3, 2), F(15, 2), F(105, 2)
second = e2 - e1**2
fourth = e4 - 4 * e3 * e1 + 6 * e2 * e1**2 - 3 * e1**4
eps, delta = F(1, 8), F(1, 20)


def root_below(x):
    """A fraction below the square root of x."""
    scale = 10**60
    return F(isqrt(int(x * scale * scale)), scale)


for c in (1, 100, 10**4):
    root = 10**6 * c  # of N
    N = root * root
    logarithm = F(7, 10) * int(N / delta).bit_length()  # log x < 0.7 * (bits of x)
    D = int(c * root * logarithm / eps) + 1
    M2 = second / D
    M4 = (fourth + 3 * (D - 1) * second**2) / F(D) ** 3
    h = 2 * F(1, 2) / root + 4 * eps / N  # sqrt(2 eps) = 1/2
    half = root_below(M2**3 / M4) / 2
    assert half > h
    chance = (half - h) ** 2 / M2
    assert chance > delta
print(f"Up to c = {c}: |Delta|_F >= 2 sqrt(eps) with probability {float(chance):.3f} > 1/20.")
