"""Lemma 39: an allowance of 4 epsilon for V does not make the shift of weights free.

Points (+-g, +-a) of the circle, theta has the sign of gamma with probability p. B reads theta: its
means on the two manifolds are +-(2p-1)a. Let B' have the same means and V(B'z) <= 4 eps. Its odd
part has the same means, no larger variance and no larger norm, and is b1 gamma + b2 theta with
squared norm 4 (b1^2 + b2^2), because the odd part of the ReLU kernel is <x, y>/4; B has b = (0, 1).
    means:     g b1 + (2p-1) a b2 = (2p-1) a,      variance: 4 p(1-p) a^2 b2^2 <= 4 eps.
This is at infinite width. The Gram matrix of a drawn layer on four points tends to that of the
kernel, which is not singular, so the strict inequality holds with it from some width on.
"""

from fractions import Fraction as F

p, root = F(9, 10), F(1, 30)  # root of eps/p(1-p)
eps = p * (1 - p) * root**2
assert eps == F(1, 10000)

least = []
for s in (F(1, 3), F(1, 10), F(1, 100)):
    g, a = 2 * s / (1 + s * s), (1 - s * s) / (1 + s * s)
    assert g * g + a * a == 1
    # b1 = (2p-1) a (1 - b2)/g: the price b1^2 + b2^2 is a parabola in b2, least at
    k = ((2 * p - 1) * a / g) ** 2
    lowest, most = k / (1 + k), root / a
    b2 = min(lowest, most)  # and on the allowed side the price falls up to there
    price = k * (1 - b2) ** 2 + b2 * b2
    assert b2 == most < lowest
    assert price > 1
    least.append(f"{float(price):.2f} at g = {float(g):.2f}")
print(f"The least price of B' over that of B: {', '.join(least)}.")
