"""The Remark of Section 7: a feed-forward ReLU network clusters perfectly at the largest distance.

Two ReLU layers send (1 -1 0 0; 0 0 1 -1) to (1 1 0 0; 0 0 1 1). Both projectors are block diagonal
with the same two clusters, and they are orthogonal. So distances do not tell architectures apart.
"""

from fractions import Fraction

X = [[1, -1, 0, 0], [0, 0, 1, -1]]


def times(A, B):
    return [[sum(a * b for a, b in zip(row, col)) for col in zip(*B)] for row in A]


def relu(M):
    return [[max(0, x) for x in row] for row in M]


W1 = [[1, 0], [0, 1], [-1, 0], [0, -1]]
W2 = [[1, 0, 1, 0], [0, 1, 0, 1]]
Y = relu(times(W2, relu(times(W1, X))))
assert Y == [[1, 1, 0, 0], [0, 0, 1, 1]]


def projector(rows):
    """Rows are orthogonal here, so P is a sum of projectors onto lines."""
    assert sum(a * b for a, b in zip(*rows)) == 0
    return [
        [sum(Fraction(r[i] * r[j], sum(x * x for x in r)) for r in rows) for j in range(4)]
        for i in range(4)
    ]


P, Q = projector(X), projector(Y)
same = [[i // 2 == j // 2 for j in range(4)] for i in range(4)]
for M in (P, Q):
    assert all((M[i][j] != 0) == same[i][j] for i in range(4) for j in range(4)), "the clusters"
overlap = sum(P[i][j] * Q[i][j] for i in range(4) for j in range(4))
assert overlap == 0, "tr PQ = 0: the spaces are orthogonal, at normalized distance 1"

print("A ReLU network shows both clusters exactly, at the largest projection distance there is.")
