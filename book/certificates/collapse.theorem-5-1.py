"""Theorem 5.1 as printed: a critical point that is not listed, a listed one that is not critical,
and a loss with a wrong factor.

X = I, so that Q = Y and Theta = Z. On the matrices of rank one, Z = d u v' is critical for
|Q - Z|^2 if and only if Q - Z is orthogonal to all tangents u a' + b v': u'(Q - Z) = 0 and
(Q - Z) v = 0, that is Z'(Q - Z) = 0 and (Q - Z) Z' = 0. All numbers are exact.
"""

from fractions import Fraction as F


def times(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def turned(A):
    return [list(column) for column in zip(*A)]


def critical(Q, Z):
    """For 2 x 2 matrices, Z of rank one."""
    assert Z[0][0] * Z[1][1] == Z[0][1] * Z[1][0] and any(map(any, Z)), "rank one"
    R = [[q - z for q, z in zip(*rows)] for rows in zip(Q, Z)]
    zero = [[0, 0], [0, 0]]
    return times(turned(Z), R) == zero and times(R, turned(Z)) == zero


# 1. Q = I = e1 e1' + e2 e2' is a singular value decomposition, fixed first: the list for r = 1 is
#    e1 e1', e2 e2'. But u u' is critical for every unit vector u.
u = (F(3, 5), F(4, 5))
eye = [[F(1), F(0)], [F(0), F(1)]]
Z = [[a * b for b in u] for a in u]
listed = ([[1, 0], [0, 0]], [[0, 0], [0, 1]])
assert critical(eye, Z) and Z not in listed and all(critical(eye, L) for L in listed)

# 2. Indices need not differ as printed: i = (1, 1) for Q = diag(2, 1) gives 4 e1 e1'.
assert not critical([[2, 0], [0, 1]], [[4, 0], [0, 0]])
assert critical([[2, 0], [0, 1]], [[2, 0], [0, 0]])

# 3. X = (1, 0, 0), Y = (1, 1, 0), N = 3: Q = 1, Theta = 1.
X, Y = (1, 0, 0), (1, 1, 0)
loss = F(sum((y - x) ** 2 for x, y in zip(X, Y)), 3)
printed = F(sum(y * y for y in Y) - 1, 2)
assert (loss, printed) == (F(1, 3), F(1, 2))
print(f"u u' is critical, not listed; 4 e1 e1' is listed, not critical; {loss} is not {printed}.")
