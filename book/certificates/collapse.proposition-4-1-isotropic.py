"""Proposition 4.1, isotropic form: it fails as often, with one label per blob as printed.

K = 1, d = 4, sigma = 1, N = m^2 points, constant label. N TCV is chi2 with 4 (N - 1) degrees of
freedom, and the printed bound is 2 (2 + 1/m). So it fails with probability
P(chi2_{2n} > 2x) = P(Poisson(x) <= n - 1) with n = 2 (N - 1) and x = N (2 + 1/m) = 2m^2 + m. The
promise is failure with probability at most 2 exp(-C min(N, sqrt(4 N))) = 2 exp(-2 C m) for m > 1.
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
for m, C in ((4, Fraction(1, 2)), (9, Fraction(1, 6)), (20, Fraction(1, 15))):
    N = m * m
    fails = poisson(2 * N + m, 2 * (N - 1) - 1)
    assert fails > 2 / exponential(2 * C * m), "more often than promised with this C"
    found.append(fails)
assert found[0] < found[1] < found[2], "and it rises with N"
told = ", ".join(f"{float(p):.3f}" for p in found)
print(f"N = 16, 81, 400: the bound fails with probability at least {told}.")
