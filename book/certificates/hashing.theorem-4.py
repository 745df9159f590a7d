"""Theorem 4: for small epsilon the loss on new points cannot be O(epsilon).

Six manifolds is the most for s = 2 and tau = 1/2 (angles of 60 degrees on a circle). The theorem
draws m >= 1/eps^2 of them, so labels share manifolds, and a function answers two labels of one
manifold alike. Its loss is at least (m - N)/(2(N(m - 2) + m)). All numbers are exact.
"""

from fractions import Fraction


def floor(counts):
    """The least loss of any function when manifolds carry so many of the labels."""
    m = sum(counts)
    kappas = [(k, Fraction(k - 1, m - 1)) for k in counts]
    return sum(k * kappa / (1 + kappa) for k, kappa in kappas) / (2 * m)


N = 6
for m in (12, 600, 10**6 * N):
    even = floor([m // N] * N)
    assert even == Fraction(m - N, 2 * (N * (m - 2) + m))
    assert all(floor([m // N + j, m // N - j, *[m // N] * (N - 2)]) > even for j in (1, m // N - 1))
assert even > Fraction(7, 100)
print(
    f"{m} labels on {N} manifolds: every loss is at least {float(even):.5f}, whatever epsilon is."
)
