"""Theorem 3: for small epsilon the loss cannot be small, because separated manifolds repeat.

Two points of S^0 with inner product at most tau < 1 are +1 and -1, so for s = 1 the support has
two manifolds, and m i.i.d. draws give both many labels. A manifold that carries k of the m labels
costs each of its points at least min over a of ((1-a)^2 + (k-1)/(m-1) a^2)/2, for every function.
The theorem asks for more and more draws as epsilon falls; the floor tends to 1/6. All numbers are
exact.
"""

from fractions import Fraction


def floor(counts):
    """The least possible loss of any function when manifolds carry so many labels."""
    m, total = sum(counts), Fraction(0)
    for k in counts:
        kappa = Fraction(k - 1, m - 1)
        a = 1 / (1 + kappa)  # where the derivative -(1-a) + kappa a vanishes
        assert -(1 - a) + kappa * a == 0
        total += Fraction(k, m) * ((1 - a) ** 2 + kappa * a * a) / 2
    return total


assert floor([5, 5]) == Fraction(2, 13)
for m in (10, 100, 1000):  # no way to spread m labels over two manifolds does better
    best = min(floor([k, m - k]) for k in range(1, m))
    assert best == floor([m // 2, m // 2]) >= Fraction(2, 13)
print(f"Ten draws of two manifolds: loss at least {floor([5, 5])}; a thousand: at least {best}.")
