"""Theorem 2.2 needs E[g X] != 0: X = +-1 and g = 1, where the slow eigenvalue is o(sigma^2).

N = 4k^2 points, L = 2, y = +-1 in equal numbers and uncorrelated with x. Of the x, N/2 + k are +1:
an excess of one standard deviation, as chance makes it. The minimum is w* = (1/(2k), 0), and the
Jacobian -|w*| (I + P) diag(1, sigma^2) has the eigenvalues -2|w*| and -|w*| sigma^2. The second,
over sigma^2, is 1/(2k) = N^(-1/2): it tends to 0, and is not of the scale sigma^2. Exact.
"""

from fractions import Fraction
from itertools import pairwise

ratios = []
for k in range(2, 40, 2):
    N = 4 * k * k
    plus = N // 2 + k
    # half of each kind of x has y = 1, the other half y = -1: <y> = <xy> = 0
    assert plus % 2 == 0 and (N - plus) % 2 == 0
    data = [
        (s, y) for s, many in ((1, plus), (-1, N - plus)) for y in (1, -1) for _ in range(many // 2)
    ]
    assert len(data) == N
    xx, yy = (Fraction(sum(v[j] ** 2 for v in data), N) for j in (0, 1))
    xy, gx, gy = (Fraction(sum(v), N) for v in zip(*((a * b, a, b) for a, b in data)))
    assert (xx, yy, xy, gy) == (1, 1, 0, 0)
    w_x, w_y = gx / xx, gy / yy  # the moments are diagonal
    assert (w_x, w_y) == (Fraction(1, 2 * k), 0)
    assert gx**2 * N == 1, "one standard deviation of the mean of x"
    # P projects on the first axis: (I + P) diag(1, sigma^2) = diag(2, sigma^2)
    ratios.append(w_x)  # the size of the slow eigenvalue over sigma^2, for every sigma

assert all(a > b for a, b in pairwise(ratios)) and ratios[-1] < Fraction(1, 70)
print(f"slow eigenvalue / sigma^2 = 1/sqrt(N): {ratios[0]} for N = 16, {ratios[-1]} for N = {N}.")
