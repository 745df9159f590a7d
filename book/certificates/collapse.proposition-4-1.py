"""Proposition 4.1: for one blob the printed bound fails with a probability that does not vanish.

K = 1, d = 2, Sigma = I, N = 2 m^2 points, constant labels. N TCV is chi2 with 2 (N - 1) degrees of
freedom, and the printed bound is 2 + sqrt(2) / sqrt(N) = 2 + 1/m. So it fails with probability
P(chi2_{2n} > 2x) = P(Poisson(x) <= n - 1), n = N - 1 = 2m^2 - 1, x = N (2 + 1/m) / 2 = 2m^2 + m.
The promise is failure with probability at most 2 exp(-C sqrt(2N)) = 2 exp(-2 C m). The page shows
that the probability tends to 0.24, so that every C > 0 fails for large m; here are three of them.
"""

from fractions import Fraction


def poisson(mean, most):
    """P(Poisson(mean) <= most) from below: a partial sum over an upper bound on e^mean.

    Beyond k = 2 mean terms at least halve, so that the rest is at most twice the next one.
    """
    term, total, low, k = Fraction(1), Fraction(0), Fraction(0), 0
    while k <= 2 * mean or term * 2**61 > total:
        total += term
        low += term if k <= most else 0
        k += 1
        term = term * mean / k
        if k % 8 == 0:  # keep numbers short: down for the part, up for the whole
            low = Fraction(low * 2**200 // 1, 2**200)
            total = Fraction(total * 2**200 // 1 + 1, 2**200)
            term = Fraction(term * 2**200 // 1 + 1, 2**200) if k > most else term
    return low / (total + 2 * term)


def exponential(x):
    """e^x from below: a partial sum of its series, x > 0."""
    term, total = Fraction(1), Fraction(0)
    for k in range(1, 40):
        total, term = total + term, term * x / k
    return total


found = []
for m, C in ((3, Fraction(1, 2)), (9, Fraction(1, 6)), (20, Fraction(1, 15))):
    N = 2 * m * m
    fails = poisson(N + m, N - 2)
    assert fails > 2 / exponential(2 * C * m), "more often than promised with this C"
    found.append(fails)
assert found[0] < found[1] < found[2], "and it rises with N"
# m = 1 by hand: P(Poisson(3) <= 0) = e^-3, which lies between 1/21 and 1/20
assert Fraction(1, 21) < poisson(3, 0) < Fraction(1, 20)
told = ", ".join(f"{float(p):.3f}" for p in found)
print(f"N = 18, 162, 800: the bound fails with probability at least {told}.")
