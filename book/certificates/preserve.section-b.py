"""Appendix B: if the response to X* is each layer's clean matrix, two layers break the bound.

X* = (1 0 1; 0 1 1), Z = 0, W1 = (1 0; 0 1; t -t), W2 = diag(1, t, 1/t), t = 1/100, r = 2. Exact.
"""

from fractions import Fraction

t = Fraction(1, 100)
X = [[1, 0, 1], [0, 1, 1]]


def relu(M):
    return [[max(Fraction(0), Fraction(x)) for x in row] for row in M]


def times(A, B):
    return [[sum(a * b for a, b in zip(row, col)) for col in zip(*B)] for row in A]


def dot(u, v):
    return sum(a * b for a, b in zip(u, v))


A1 = times([[1, 0], [0, 1], [t, -t]], X)
Y1 = relu(A1)
assert A1[2] == [t, -t, 0] and Y1[2] == [t, 0, 0], "layer 1 cuts one entry, of size t"
A2 = times([[1, 0, 0], [0, t, 0], [0, 0, 1 / t]], Y1)
Y2 = relu(A2)
assert A2 == Y2 == [[1, 0, 1], [0, t, t], [1, 0, 0]], "layer 2 cuts nothing, and there is no noise"

# epsilon: the projector onto the rows of X* has entries 2/3, 1/3, -1/3.
epsilon, before = Fraction(1, 3), Fraction(2, 3)  # before: its entry (2, 2)
# (2) at layer 1: the only error is the cut, t; sqrt(2^7 * 2) / epsilon = 48. The gaps:
# sigma_2(X*)^2 = 1 (the Gram matrix (2 1; 1 2) has eigenvalues 1 and 3); W1 X* and Y1 contain the
# rows of X*, so their sigma_2 is at least 1, and sigma_3(W1 X*) = 0, as its rank is 2.
gram = [[dot(u, v) for v in X] for u in X]
assert gram == [[2, 1], [1, 2]] and 48 * t < 1
# (2) at layer 2: Z = 0 and no cut, so its right side is 0. Its gaps are positive: sigma_2(Y1) >= 1
# and sigma_3(Y1) <= t, the third row's length; and sigma_2(A2) > sigma_3(A2) by what follows.
# The rows a = (1, 0, 1) and c = (1, 0, 0) of Y2 have the Gram matrix (2 1; 1 1), whose smaller
# eigenvalue is above 1/4, as (2 - 1/4)(1 - 1/4) > 1; the third row, of square 2 t^2, is smaller.
assert (2 - Fraction(1, 4)) * (1 - Fraction(1, 4)) > 1 and 2 * t**2 < Fraction(1, 4)
# So sigma_2 > 1/2 > sqrt 2 t >= sigma_3. The principal plane V of Y2 is near span(e1, e3), which
# has no second coordinate: with P0 onto that plane, ||(I - P0) V|| <= ||Y2 (I - P0)|| / sigma_2.
outside = sum(row[1] ** 2 for row in Y2)
assert outside == t**2
entry = 4 * t**2  # P(Y2)_22 = ||V^T e2||^2 <= t^2 / (1/4)
moved = before - entry
bound = 2 * epsilon / 2  # L epsilon / 2, L = 2
assert moved > bound
print(f"Two layers satisfy (2), and an entry moves by more than {moved}, above {bound}.")
