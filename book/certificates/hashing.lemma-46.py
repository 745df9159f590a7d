"""Lemma 46: the variance at a minimum of (6) is not O(epsilon), in exact arithmetic.

Two classes of two points with features (eta, 0, 1 +- t, 0) and (0, eta, 0, 1 +- t). A ground
truth reads the first two coordinates: loss 0, variance 0, |A|^2 = 2, |B|^2 = 2/eta^2. By symmetry
and convexity the minimum has rows (a, 0, b, 0), (0, a, 0, b), where (a, b) minimizes
    [(1 - eta a - b)^2 + b^2 t^2]/2 + 2 eps eta P,   P = sqrt(a^2 + (1 + t^2) b^2),
and V_reg = 2 b^2 t^2/(eta P). With a/b and P/b rational, all of it is. Features are abstract
here; theorem 3's four points do the same on the network's own kernel.
"""

from fractions import Fraction as F


def minimum(r, N, eta):
    """eps and V_reg at the stationary point with a = r b and P = N b."""
    t2 = N * N - r * r - 1
    gain = (r - eta * (1 + t2)) / (N * t2)
    eps = 1 / (2 * (r / N + (eta * r + 1) * gain))
    b = 2 * eps * gain
    a, P = r * b, N * b
    assert t2 > 0 and eps > 0 and b > 0 and P * P == a * a + (1 + t2) * b * b
    rest = 1 - eta * a - b
    assert -eta * rest + 2 * eps * eta * a / P == 0  # the derivative in a
    assert -rest + b * t2 + 2 * eps * eta * (1 + t2) * b / P == 0  # and in b
    return eps, 2 * b * b * t2 / (eta * P)


ratios = []
for k in (10, 100, 1000):
    eps, V = minimum(F(3, 4), F(251, 200), F(1, k))
    ratios.append(V / eps)
assert ratios[0] > 8 and ratios[1] > 9 * ratios[0] and ratios[2] > 9 * ratios[1]
print("V_reg/eps =", ", ".join(f"{float(x):.1f}" for x in ratios), "for eta = 1/10, 1/100, 1/1000.")
