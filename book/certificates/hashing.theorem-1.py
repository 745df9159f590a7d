"""Theorem 1: (A), V_M(r) <= epsilon, fails at a minimum on every manifold that can be drawn.

For s = 1 separated manifolds are gamma = +1 and -1. Let them be the points (+-g, +-a) of the
circle, where theta has the sign of gamma with probability p, and let each be drawn once, m = 2.
The loss is E[(1 - S)^2 + (1 - u)^2]/4, S the sum of the outputs (even in x), u = c + d or c - d
the margin (odd). The odd part of the ReLU kernel is <x, y>/4. With lambda_1 = eps/2, lambda_2 =
eps/beta and t = g sqrt(beta), the odd problem is convex in (c, d):
    [p(1-c-d)^2 + (1-p)(1-c+d)^2]/4 + (2 eps/t) R,   R = sqrt(c^2 + g^2 d^2/a^2).
On either manifold its part of V(r) is t p(1-p) d^2/R, by the symmetry x -> -x. Choose c/R = 3/5
and (g d/a)/R = 4/5: the equations of a stationary point are then linear in d and eps. t >= 1 + g
sqrt(pi/2) is enough for a ground truth. Of the ratio rho nothing is refuted.
"""

from fractions import Fraction as F

g, a = F(20, 101), F(99, 101)
p, sine, cosine = F(9, 10), F(3, 5), F(4, 5)
t, q = 1 + g * F(126, 100), 2 * p - 1
assert g * g + a * a == 1 and F(126, 100) ** 2 > F(22, 7) / 2  # 22/7 > pi

k = g / a * sine / cosine  # c = k d
w = cosine * g / a / sine
d = (q - w) / (q * k + 1 - w * k - w * q)
c = k * d
eps = t * (1 - c - q * d) / (4 * sine)
R = g * d / (a * cosine)
assert c > 0 and d > 0 and eps > 0 and R * R == c * c + (g * d / a) ** 2
assert (1 - c - q * d) / 2 == 2 * eps / t * c / R  # the derivative in c
assert (q * (1 - c) - d) / 2 == 2 * eps / t * (g / a) ** 2 * d / R  # and in d

V = t * p * (1 - p) * d * d / R
assert V > eps
print(f"eps = {float(eps):.4f}, V_M(r) >= {float(V):.4f} on both manifolds: (A) fails.")
