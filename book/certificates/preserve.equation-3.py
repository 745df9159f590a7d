"""Equation (3): r < n does not make the row-space projector block diagonal.

Three lines in a plane, two points each: r = 1 + 1 + 1 = 3 < n = 6, and P joins all clusters. Nor
does the support show a cluster whole: a plane with two points falls apart. All numbers are exact.
"""

from fractions import Fraction


def projector(rows):
    """The projector onto the span of two or three independent rows, by Gram-Schmidt."""
    basis = []
    for row in rows:
        rest = [Fraction(x) for x in row]
        for b in basis:
            c = sum(x * y for x, y in zip(rest, b)) / sum(y * y for y in b)
            rest = [x - c * y for x, y in zip(rest, b)]
        if any(rest):
            basis.append(rest)
    n = len(rows[0])
    P = [
        [sum(b[i] * b[j] / sum(x * x for x in b) for b in basis) for j in range(n)]
        for i in range(n)
    ]
    square = [[sum(P[i][k] * P[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    assert square == P and sum(P[i][i] for i in range(n)) == len(basis)
    assert all(sum(P[i][j] * row[j] for j in range(n)) == row[i] for row in rows for i in range(n))
    return P


# Lines of (1, 0), (0, 1), (1, 1), with the points once and twice along each.
P = projector([[1, 2, 0, 0, 1, 2], [0, 0, 1, 2, 1, 2]])
between = [P[i][j] for i in range(6) for j in range(6) if i // 2 != j // 2]
assert all(between), "every pair of different clusters is joined"

# A plane with two points and a line with three: r = 3 < 5 = n, ranks add, yet the plane splits.
Q = projector([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 2, 3]])
assert Q[0][1] == 0 and all(Q[i][j] == 0 for i in (0, 1) for j in (2, 3, 4))

print(f"r = 3 < n = 6, and P joins different lines: P_13 = {P[0][2]}, P_15 = {P[0][4]}.")
