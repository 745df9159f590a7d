"""Theorem 5, the printed look-up at the threshold 2 epsilon: it misses nearly always.

The manifold is put on the N unit vectors e_1 ... e_N, each with probability 1/N; another manifold
is the same, shifted by a distance L along a new axis. epsilon is the variance, rho as large as we
like. A query is accepted if its squared distance to the key is below 2 epsilon. All numbers are
exact.
"""

from fractions import Fraction


def look_up(N, L):
    """epsilon, rho and the probability that a point of the key's own manifold is refused."""
    epsilon = 1 - Fraction(1, N)  # |e_i|^2 - |mean|^2
    assert epsilon == sum((int(j == 0) - Fraction(1, N)) ** 2 for j in range(N))
    between = L * L + 2 * epsilon  # means differ by L; the variances add
    square = {True: 0, False: 2}  # of two corners: the same, or not
    refused = Fraction(
        sum(square[i == j] >= 2 * epsilon for i in range(N) for j in range(N)), N * N
    )
    return epsilon, between / epsilon, refused


for N in (2, 10, 100):
    epsilon, rho, refused = look_up(N, 1000)
    assert refused == 1 - Fraction(1, N) and rho > 10**5
print(f"With {N} corners and rho = {float(rho):.0f} the rule misses with probability {refused}.")
