"""Theorem 3.1, last sentence: two points of one plane with P(Y)_12 = -1/3, not above epsilon/2.

X* = (1 0 1; 0 1 1), Z = 0, W = I: nothing is cut, so (2) reads delta > 0, which holds as the rank
is 2. A second example has a zero entry. All numbers are exact.
"""

from fractions import Fraction


def projector(rows):
    """P = A^T (A A^T)^-1 A for two independent rows."""
    n = len(rows[0])
    g = [[sum(x * y for x, y in zip(u, v)) for v in rows] for u in rows]
    det = Fraction(g[0][0] * g[1][1] - g[0][1] ** 2)
    assert det > 0, "rank 2, so the gap is positive"
    inverse = [[g[1][1] / det, -g[0][1] / det], [-g[0][1] / det, g[0][0] / det]]
    return [
        [
            sum(rows[p][i] * inverse[p][q] * rows[q][j] for p in (0, 1) for q in (0, 1))
            for j in range(n)
        ]
        for i in range(n)
    ]


def layer(W, X):
    """W X, and whether ReLU leaves it as it is."""
    Y = [[sum(w * x for w, x in zip(row, col)) for col in zip(*X)] for row in W]
    return Y, min(min(row) for row in Y) >= 0


found = []
for X, W in (
    ([[1, 0, 1], [0, 1, 1]], [[1, 0], [0, 1]]),
    ([[1, 0, 1, 1], [0, 1, 1, -1]], [[1, 0], [1, 1]]),
):
    Y, kept = layer(W, X)
    assert kept, "nothing is cut: Y = WX, and the right side of (2) is 0"
    P = projector(Y)
    assert P == projector(X)
    epsilon = min(abs(e) for row in P for e in row if e)
    # All points lie in one plane, so the test must say "same" for points 1 and 2. It does not.
    assert not P[0][1] > epsilon / 2
    found.append((P[0][1], epsilon))

assert found[0] == (Fraction(-1, 3), Fraction(1, 3)) and found[1][0] == 0
print(f"One plane, and P(Y)_12 = {found[0][0]} with epsilon = {found[0][1]}; or P(Y)_12 = 0.")
