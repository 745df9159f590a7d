"""Theorem 2.2, first item: at w* = 0, which its words allow, the kernel is everything.

x = (1, -1), g = (1, 1): <gx> = 0, so 0 lies in Gamma_0. With one normal direction the kernel of the
Jacobian there should be {(0, w_y)}. For L = 3, F(w) = -|w|^(4/3) (grad J + 2 P grad J) with
grad J = (w_x, 0). At w = h (1, 0) with h = 8^-k the power is exact: h^(4/3) = 16^-k.
"""

from fractions import Fraction

a = Fraction(1 * 1 + 1 * 1, 2)
b = Fraction(1 * 1 + 1 * -1, 2)
assert (a, b) == (1, 0), "the origin is a minimum of the loss on the data"
for k in range(1, 30):
    h, power = Fraction(1, 8**k), Fraction(1, 16**k)
    assert power**3 == h**4
    along = -power * (h + 2 * h)  # F_x at (h, 0): P is the projector on the first axis
    assert abs(along / h) == 3 * power  # tends to 0: the derivative along x vanishes as well

print("x = (1, -1), g = (1, 1), L = 3: F(h, 0)/h = -3 h^(4/3), so x is in the kernel at w* = 0.")
