"""Lemma 4.2: its hypothesis holds, and P(X) and P(WX) differ by 1, four times what it allows.

r = 1, X* = (1 1; 0 0), Z = (0 0; 2 -2), W = (1 0). The noise is removed: WZ = 0. Exact numbers.
"""

from fractions import Fraction

clean = [[1, 1], [0, 0]]
noise = [[0, 0], [2, -2]]
X = [[a + b for a, b in zip(x, z)] for x, z in zip(clean, noise)]
WX = [X[0]]  # W = (1 0) takes the first row
WZ = [noise[0]]


def line(v):
    """The projector onto the line of v."""
    return [[Fraction(a * b, sum(x * x for x in v)) for b in v] for a in v]


# X has orthogonal rows (1, 1) and (2, -2), of squares 2 and 8: the second is its principal one.
assert X[0][0] * X[1][0] + X[0][1] * X[1][1] == 0
squares = [sum(x * x for x in row) for row in X]
assert squares == [2, 8]
P_star, P_X, P_WX = line(clean[0]), line(X[1]), line(WX[0])
epsilon = min(abs(e) for row in P_star for e in row if e)
assert epsilon == Fraction(1, 2)

# The printed hypothesis: delta_2 = sigma_1(WX*) - sigma_2(WX) > sqrt(2^7) ||WZ|| / epsilon = 0.
# WX* is one row, so sigma_2(WX) = 0 and delta_2 is its length, the root of 2.
assert WZ == [[0, 0]] and sum(x * x for x in clean[0]) == 2

moved = max(abs(a - b) for p, q in zip(P_X, P_WX) for a, b in zip(p, q))
assert moved == 1 and moved >= epsilon / 4
assert P_WX == P_star, "W has found the truth, and is punished for it"

print(
    f"delta_2 > 0 = the right side, and an entry moves by {moved}, not by less than {epsilon / 4}."
)
