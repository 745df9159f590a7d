"""Lemma 3.1 says neither which optimizers nor which lambda: three exact examples.

Part 1, "any gradient descent-based algorithm": Adam's first step on the one point (3/5, 4/5) moves
the weight across it. Part 2, "an appropriate lambda": under gradient descent with the penalty
lambda w^2 a weight that no data reach is multiplied by 1 - 2 lambda eta_t. With lambda eta = 1 it
changes sign for ever; with lambda eta_t = 4^-(t+1) more than a third of it is left for ever.
"""

from fractions import Fraction as Q

# Adam's first step is -eta times the sign of the gradient, entry by entry; the gradient is c x.
x, eta = (Q(3, 5), Q(4, 5)), Q(1, 100)
step = tuple(-eta * (1 if v > 0 else -1) for v in x)
across = -x[1] * step[0] + x[0] * step[1]
assert x[0] ** 2 + x[1] ** 2 == 1 and abs(across) == eta / 5

w = Q(1)
for t in range(100):
    w *= 1 - 2 * Q(1)
    assert w == (-1) ** (t + 1)

w = Q(1)
for t in range(200):
    w *= 1 - 2 * Q(1, 4 ** (t + 1))
    assert w > Q(1, 3)
# The rest of the product is at least 1 minus the sum of what is taken off: it stays above 1/3.
rest = Q(2, 3 * 4**200)
assert w * (1 - rest) > Q(1, 3)

print("Adam moves the normal weight by eta/5; decay keeps all of it, or more than a third of it.")
