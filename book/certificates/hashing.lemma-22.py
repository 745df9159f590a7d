"""Lemma 22: a width c log(2/delta)/eps is not enough for one sample, whatever the constant c is.

One unit vector, delta = 1/10. |sigma(Cx)|^2 is a mean of D independent sigma(u)^2, u standard
normal, with K(x, x) = 1/2; call the difference M. Its moments are exact, and by Paley and Zygmund
P(|M| > h) >= (1 - h^2/E M^2)^2 (E M^2)^2/E M^4. If |M| > eps, the lemma fails.
"""

from fractions import Fraction as F

# E sigma(u)^(2k) is half of 1, 3, 15, 105.
e1, e2, e3, e4 = F(1, 2), F(3, 2), F(15, 2), F(105, 2)
second = e2 - e1**2
fourth = e4 - 4 * e3 * e1 + 6 * e2 * e1**2 - 3 * e1**4


def chance(D, h):
    """A lower bound on the probability that |M| > h."""
    M2 = second / D
    M4 = (fourth + 3 * (D - 1) * second**2) / F(D) ** 3
    assert h * h < M2
    return (1 - h * h / M2) ** 2 * M2**2 / M4


for c in (1, 100, 10**4):
    eps = F(1, 1000 * c)
    D = 3 * c * eps.denominator  # at least c log(2/delta)/eps, as log 20 < 3
    found = chance(D, eps)
    assert found > F(1, 10)
print(f"Up to c = {c} the error exceeds eps with probability {float(found):.2f} at least.")
