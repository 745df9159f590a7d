"""Equation (4): lambda W = -grad L_0 is not what stationarity says; it is 2 lambda W = -grad L_0.

One weight, one sample: f = w x with x = y = 1, squared error, lambda = 1. The objective
(w - 1)^2 + w^2 is a parabola, so its only stationary point is its minimum, w = 1/2. Exact numbers.
"""

from fractions import Fraction

lam = Fraction(1)
w = Fraction(1, 2)


def objective(w):
    return (w - 1) ** 2 + lam * w**2


data_gradient = 2 * (w - 1)
assert data_gradient + 2 * lam * w == 0, "w = 1/2 is stationary"
# a parabola: completing the square shows that it has no other stationary point
for h in (Fraction(1, 7), Fraction(-3), Fraction(10**6)):
    assert objective(w + h) == objective(w) + 2 * h**2

assert 2 * lam * w == -data_gradient, "the repaired equation"
assert lam * w != -data_gradient, "the printed one"
print(f"lambda w = {lam * w}, but -grad L_0 = {-data_gradient}: a factor two is missing in (4).")
