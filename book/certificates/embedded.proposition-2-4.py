"""Proposition 2.4 without a condition on Sigma_X - A: a point of E from which the flow leaves E^-.

A = diag(64, 1), w_x* = (1, 0), Sigma_X = 64 I, w_x = (16/25, 96/25). The point lies on E, further
from w_x* than the radius in the proposition, and e = w_x . A (w_x - w_x*), negative in E^-,
increases along the flow. On E the flow's x-part is -A (w_x - w_x*) times a positive number.
"""

from fractions import Fraction as Q

A, star, c = (64, 1), (Q(1), Q(0)), 64
w = (Q(16, 25), Q(96, 25))
off = tuple(p - q for p, q in zip(w, star))
gradient = tuple(a * d for a, d in zip(A, off))
assert sum(p * q for p, q in zip(w, gradient)) == 0, "the point lies on E"

# Outside the radius: |w_x - w_x*|^2 / |w_x*|^2 > (2 sqrt 3 / c)^2 |Sigma_X - A|^2.
distance = max(abs(c - a) for a in A)
assert sum(d * d for d in off) / sum(s * s for s in star) > Q(12 * distance**2, c**2)

# e' = grad e . w_x' with grad e = A (2 w_x - w_x*) and w_x' = -A (w_x - w_x*).
slope = -sum(a * (2 * p - s) * v for a, p, s, v in zip(A, w, star, gradient))
assert slope > 0, slope

print(f"On E at (16/25, 96/25), outside the radius, e' = {slope} > 0: the flow leaves E^-.")
