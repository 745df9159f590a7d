"""Lemma 8: with the variance penalty, too, no constant C has V(r) <= C epsilon for all inverses.

The four points of Lemma 40, (+-g, +-a) on the circle, theta with the sign of gamma in 18 of n = 20
samples, objective (6). The penalty adds V_reg to |B|^2, with n - 1 in its denominator: on the odd
functions, which are c along gamma and d along theta, the norm becomes
    R = sqrt(c^2 + h^2 d^2),   h^2 = g^2 (1/a^2 + p(1-p) n/(n-1)),
and the problem is [p(1-c-d)^2 + (1-p)(1-c+d)^2]/4 + (2 eps/t) R, with V(r) >= t p(1-p) d^2/R and
t = g sqrt(beta) >= 1 + g sqrt(pi/2). The point (c/R, h^2 d/R) = (sine, u) lies on the ellipse
sine^2 + u^2/h^2 = 1, which has as many rational points as one likes; with one of them all of it
is rational. The inverse of Assumption 1 has a norm of order 1/g, which is what grows here.
"""

from fractions import Fraction as F
from math import isqrt

p, n = F(9, 10), 20
q = 2 * p - 1
ratios = []
for k in (10, 100, 1000):
    g = F(1, k)
    a2 = 1 - g * g
    h2 = g * g * (1 / a2 + p * (1 - p) * F(n, n - 1))
    t = 1 + g * F(126, 100)
    assert F(126, 100) ** 2 > F(22, 7) / 2  # 22/7 > pi
    slope = 2 * F(isqrt(int(h2 * 10**24)), 10**12)  # about 2h: then sine is about 3/5
    sine = (slope**2 - h2) / (slope**2 + h2)
    u = slope * (1 - sine)
    assert sine**2 + u**2 / h2 == 1
    r, w = sine * h2 / u, u / sine  # c = r d; u/sine is the quotient of the two equations
    d = (q - w) / (q * r + 1 - w * r - w * q)
    c, R = r * d, h2 * d / u
    eps = t * (1 - c - q * d) / (4 * sine)
    assert c > 0 and d > 0 and eps > 0 and R * R == c * c + h2 * d * d
    assert (1 - c - q * d) / 2 == 2 * eps / t * c / R  # the derivative in c
    assert (q * (1 - c) - d) / 2 == 2 * eps / t * h2 * d / R  # and in d
    ratios.append(t * p * (1 - p) * d * d / R / eps)
assert ratios[1] > 8 * ratios[0] and ratios[2] > 8 * ratios[1]
print("V/eps =", ", ".join(f"{float(x):.1f}" for x in ratios), "for g = 1/10, 1/100, 1/1000.")
