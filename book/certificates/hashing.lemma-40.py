"""Lemma 40: V(r) <= 4 epsilon fails at a minimum, on four points and the network's own kernel.

Points (+-g, +-a) of the circle, theta has the sign of gamma with probability p; m = 2. The loss
is E[(1 - S)^2 + (1 - u)^2]/4, S the sum of the outputs (even in x), u = c + d or c - d the margin
(odd). The odd part of the ReLU kernel is <x, y>/4. With lambda_1 = eps/2, lambda_2 = eps/beta and
t = g sqrt(beta), the odd problem is convex in (c, d):
    [p(1-c-d)^2 + (1-p)(1-c+d)^2]/4 + (2 eps/t) R,   R = sqrt(c^2 + g^2 d^2/a^2),
and its part of V(r) is t p(1-p) d^2/R. Choose c/R = 3/5 and (g d/a)/R = 4/5: the two equations
for a stationary point are then linear in d and eps. beta may be any bound on |B*|^2: the ground
truth (an odd part of norm sqrt(2)/g, an even one of at most sqrt(pi)) needs t >= 1 + g
sqrt(pi/2).
"""

from fractions import Fraction as F

s = F(1, 100)
g, a = 2 * s / (1 + s * s), (1 - s * s) / (1 + s * s)
p, sine, cosine = F(9, 10), F(3, 5), F(4, 5)
t = 1 + g * F(126, 100)
assert g * g + a * a == 1 and F(126, 100) ** 2 > F(22, 7) / 2  # 22/7 > pi

# c = k d. Derivatives: in c, (1 - c - (2p-1)d)/2 = (2 eps/t) sine;
#                       in d, ((2p-1)(1-c) - d)/2 = (2 eps/t) cosine g/a.
k = g / a * sine / cosine
w = cosine * g / a / sine
# Divide the second by the first: (2p-1)(1 - k d) - d = w (1 - k d - (2p-1) d).
q = 2 * p - 1
d = (q - w) / (q * k + 1 - w * k - w * q)
c = k * d
eps = t * (1 - c - q * d) / (4 * sine)
R = g * d / (a * cosine)

assert c > 0 and d > 0 and eps > 0 and R * R == c * c + (g * d / a) ** 2
assert (1 - c - q * d) / 2 == 2 * eps / t * c / R
assert (q * (1 - c) - d) / 2 == 2 * eps / t * (g / a) ** 2 * d / R
V = t * p * (1 - p) * d * d / R
assert V > 4 * eps
times = float(V / (4 * eps))
print(f"eps = {float(eps):.4f}, V(r) >= {float(V):.3f}, which is {times:.1f} times 4 eps.")
