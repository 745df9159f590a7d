"""Equation (13): no universal C makes the printed tail bound true.

d = 1, Sigma = 1, t = 1/sqrt(N): the claim is P(|xi| >= 1) <= 2 exp(-C sqrt(N)) for
xi = sqrt(N) (chi2_N / N - 1). Paley and Zygmund: P(xi^2 >= 1) >= (1 - 1/2)^2 E[xi^2]^2 / E[xi^4],
as E[xi^2] = 2. The moments are exact, from those of chi2_N, E[(chi2_N)^k] = N (N+2) ... (N+2k-2).
"""

import math
from fractions import Fraction


def moment(N, k):
    """E[xi^k] for even k, exactly: xi = (chi2 - N) / sqrt(N)."""
    raw = [Fraction(1)]
    for j in range(k):
        raw.append(raw[-1] * (N + 2 * j))
    return sum(math.comb(k, j) * raw[j] * (-N) ** (k - j) for j in range(k + 1)) / N ** (k // 2)


for N in (1, 2, 3, 10, 1000, 10**12):
    assert moment(N, 2) == 2
    assert moment(N, 4) == 12 + Fraction(48, N) <= 60
    assert Fraction(1, 4) * moment(N, 2) ** 2 / moment(N, 4) >= Fraction(1, 60)

# So P >= 1/60 for every N. The printed bound is below 1/60 once C sqrt(N) > ln 120, and
# e^5 > 2.7^5 > 120 (as e > 2.7), so C sqrt(N) >= 5 suffices: N = 25 / C^2, for any C > 0.
assert Fraction(27, 10) ** 5 > 120
for C in (Fraction(1), Fraction(1, 1000), Fraction(1, 10**9)):
    N = 25 / C**2
    assert C * C * N == 25
print("At t = 1/sqrt(N) the probability is at least 1/60 for all N; the printed bound tends to 0.")
