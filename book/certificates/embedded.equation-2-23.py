"""Equation (2.23) is false at finite times: L = 2, w_x* = 1, w(0) = (2, 1).

With p = w_x^2, q = w_y^2, s = p + q and e = w_x (w_x - 1) the flow has p' = -2 s^(-1/2) (2p + q) e
and q' = -2 s^(-1/2) q e. So q^2/s is constant: its logarithm moves by 2q'/q - (p' + q')/s = 0. From
p = 4, q = 1 the orbit is p = 5 q^2 - q; it runs down to p = 1 and meets q = 9/10 on the way.
"""

from fractions import Fraction as Q

L, p0, q0, star = 2, Q(4), Q(1), Q(1)


def rates(p, q):
    """p' and q', divided by the common factor -2 s^(-1/2) e."""
    return L * p + q, (L - 1) * q


for q in (Q(1), Q(9, 10), Q(7, 10)):
    p = 5 * q**2 - q
    dp, dq = rates(p, q)
    assert q**2 / (p + q) == Q(1, 5)
    assert 2 * dq / q - (dp + dq) / (p + q) == 0, "the invariant does not move"
    assert dp == dq * (10 * q - 1), "the field is tangent to the curve"

q = Q(9, 10)
p = 5 * q**2 - q
assert star < p < p0, "reached before the minimum, and E = {0, 1} is not met"
h = (1 + q0 / p0) / (L * p0 / q0 + 1)
bound = h * (p0 - star) + star / p0 * q0
assert bound == Q(2, 3) and q > bound

print(f"At p = {p} the normal weight has q = {q}, and (2.23) allows {bound}.")
