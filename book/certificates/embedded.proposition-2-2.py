"""Proposition 2.2: for L = 2 the flow can be differentiable at the origin.

Points x = 1 and -1 with the value g = 1 at both: <gx> = 0 and <xx> = 1. For L = 2 in one dimension
F(w) = -|w| (grad J + grad J) = -2 |w| (w - b) with b = <gx> = 0. Difference quotients, exactly.
"""

from fractions import Fraction

x, g = (Fraction(1), Fraction(-1)), (Fraction(1), Fraction(1))
a = sum(v * v for v in x) / 2
b = sum(v * u for v, u in zip(x, g)) / 2
assert (a, b) == (1, 0)


def F(w, b):
    return -2 * abs(w) * (a * w - b)


for k in range(1, 40):
    h = Fraction(1, 2**k)
    for w in (h, -h):
        quotient = (F(w, b) - F(0, b)) / w
        assert abs(quotient) == 2 * h  # tends to 0 from both sides: the derivative is 0
        kinked = (F(w, 1) - F(0, 1)) / w  # the same with b = 1, for comparison
        assert abs(kinked - (2 if w > 0 else -2)) == 2 * h  # 2 from the right, -2 from the left

print("With <gx> = 0 the quotients F(h)/h are -2|h|: F is differentiable at 0 although L = 2.")
