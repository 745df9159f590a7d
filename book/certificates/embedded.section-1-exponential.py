"""Section 1: "exponentially (in the reciprocal of the variance) long". Here it is 1/variance.

Data with mean x^2 = mean y^2 = 1, mean xy = 0 and g = x, noise s in the second direction: the loss
is J = ((w1 - 1)^2 + s^2 w2^2) / 2, with w = q2 ... qL p for L - 1 numbers q and a first layer p in
the plane. Gradient descent at the rate 1/8 from q = p1 = 1, p2 = 1/2, until w2 is a thousandth of
what it was. An exponential in 1/s^2 would square the number of steps, and more, when s is halved.

Double precision: a step has relative errors below 1e-14, and there are fewer than 1e5 of them; so
w is known to nine digits, and the bounds below have room for that. That no start below J(0) takes
longer than a multiple of s^-2 log(1/s) is a theorem of the chapter, and no example could show it.
"""

from math import prod


def steps(L, s):
    """Steps until w2 has fallen by a factor of a thousand; w1 stays within a half of 1."""
    q, p, count = [1.0] * (L - 1), [1.0, 0.5], 0
    while prod(q) * p[1] > 0.0005:
        w = [prod(q) * v for v in p]
        slope = [w[0] - 1, s * s * w[1]]  # the gradient in w
        pull = slope[0] * p[0] + slope[1] * p[1]
        others = [prod(q[:k] + q[k + 1 :]) for k in range(L - 1)]
        p = [v - prod(q) * g / 8 for v, g in zip(p, slope)]
        q = [v - other * pull / 8 for v, other in zip(q, others)]
        count += 1
        assert abs(prod(q) * p[0] - 1) < 0.5
    return count


took = {L: [steps(L, 2.0**-k) for k in range(1, 6)] for L in (1, 2, 3)}
for counts in took.values():
    assert all(3 < later / sooner < 5 for sooner, later in zip(counts, counts[1:])), counts

print(f"Noise 1/2 to 1/32, L = 2: {took[2]} steps, about four times as many for half the noise.")
