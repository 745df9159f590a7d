"""Remark 1: a representation may hash with any rho and not be a linear image of gamma.

Four manifolds gamma = e1, -e1, e2, -e2 at r = 1, 2, 3, 4 on a line, without variance: (A) holds
for every epsilon > 0 and (B) for rho = 1/epsilon. An affine map of r is determined by two of its
values, and does not give gamma at the third. All numbers are exact.
"""

from fractions import Fraction

gamma = [(1, 0), (-1, 0), (0, 1), (0, -1)]
r = [Fraction(k) for k in (1, 2, 3, 4)]
nearest = min((x - y) ** 2 for i, x in enumerate(r) for y in r[:i])
for epsilon in (Fraction(1, 10), Fraction(1, 10**6)):
    assert nearest >= (1 / epsilon) * epsilon  # rho epsilon

slope = [(b - a) / (r[1] - r[0]) for a, b in zip(gamma[0], gamma[1])]
third = tuple(a + s * (r[2] - r[0]) for a, s in zip(gamma[0], slope))
assert third != gamma[2]
sent = tuple(map(int, third))
print(f"The affine map through the first two sends the third to {sent}, not to {gamma[2]}.")
