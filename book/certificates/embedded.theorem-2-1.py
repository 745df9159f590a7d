"""Theorem 2.1 needs a second moment of g: X = +-2^k with probability (7/16) 8^-k, g(x) = x^3.

E X^2 is finite, so Assumption 2.1 holds. What least squares in x leaves of g on |X| <= 2^K has the
mean square t(K) = E[X^6] - E[X^4]^2 / E[X^2], all over |X| <= 2^K. It grows as 8^K. The mean square
residual of N points exceeds t(K) - 1 with probability tending to 1, for every K (law of large
numbers), and sigma sqrt(N) |w_y*| is that residual times a factor whose law tends to |N(0, 1)|: so
no constant C bounds it with high probability. Sums below are exact.
"""

from fractions import Fraction


def moment(power, K):
    """E[X^power; |X| <= 2^K] for even powers."""
    return sum(Fraction(7, 8) / 8**k * 2 ** (k * power) for k in range(K + 1))


assert abs(moment(0, 60) - 1) < Fraction(1, 8**60), "probabilities add up to 1"
assert abs(moment(2, 60) - Fraction(7, 4)) < Fraction(1, 2**60), "E X^2 = 7/4"
residual = {K: moment(6, K) - moment(4, K) ** 2 / moment(2, K) for K in range(2, 61)}
assert all(value > Fraction(8**K, 2) for K, value in residual.items())
assert all(residual[K + 1] > 7 * residual[K] for K in range(2, 60))

print(f"E X^2 = 7/4; what is left of x^3 on |X| <= 2^60 has mean square {float(residual[60]):.3g}.")
