"""Equation (4.3), S ~ sigma^-2 N^-beta: after a fixed training S levels off as sigma tends to 0.

f = v relu(w x + u y + b) + c from (1, 1, 1, 1, 0), two points x = (1, 2), y = (s, -s), g = (1, 0),
three steps of gradient descent of size 1/50, in fractions. The weight u sees the data through the
noise alone, so it moves by a multiple of s; S = (f(1, 1) - f(1, 0))^2 tends to its value at s = 0.
"""

from fractions import Fraction as Q


def metric(s, rate=Q(1, 50)):
    p = [Q(1), Q(1), Q(1), Q(1), Q(0)]  # v, w, u, b, c
    for _ in range(3):
        gradient = [Q(0)] * 5
        for x, y, g in ((Q(1), s, Q(1)), (Q(2), -s, Q(0))):
            v, w, u, b, c = p
            t = w * x + u * y + b
            assert t > 0, "the neuron is on throughout"
            r = (v * t + c - g) / 2
            for k, part in enumerate((t, v * x, v * y, v, Q(1))):
                gradient[k] += r * part
        p = [value - rate * slope for value, slope in zip(p, gradient)]
    v, w, u, b, c = p
    assert w + u + b > 0 and w + b > 0
    return (v * u) ** 2


at_zero = metric(Q(0))
assert at_zero > 0
for k in (5, 7, 9):
    s = Q(1, 2**k)
    assert abs(metric(s) / at_zero - 1) < 8 * s, "it levels off, at a rate of order sigma"
    assert s**2 * metric(s) < 2 * s**2 * at_zero, "sigma^2 S tends to 0"

print(f"S(1/512)/S(0) = {float(metric(Q(1, 512)) / at_zero):.6f}: no power of 1/sigma.")
