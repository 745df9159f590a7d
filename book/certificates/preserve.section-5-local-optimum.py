"""Caption of Figure 2 (right): a start W > 0 is no local optimum, and its test is none.

First, an autoencoder x -> V relu(Wx) with W, V, X > 0 whose gradient is not zero. Second, tied
weights with zero gradient, positive Hessian determinant, and directions of descent. Exact numbers.
"""

from fractions import Fraction as F


def loss(W, V, X):
    """||X - V relu(W X)||^2."""
    total = F(0)
    for x in zip(*X):
        hidden = [max(F(0), sum(w * a for w, a in zip(row, x))) for row in W]
        out = [sum(v * a for v, a in zip(row, hidden)) for row in V]
        total += sum((a - b) ** 2 for a, b in zip(x, out))
    return total


# All weights positive, nothing is cut; the loss is a polynomial, and a step lowers it.
X = [[F(1), F(2)], [F(2), F(1)]]
W, V = [[F(1, 2), F(1, 3)]], [[F(1, 2)], [F(1, 4)]]
t = F(1, 1000)
here = loss(W, V, X)
for i in (0, 1):
    more = [list(row) for row in W]
    more[0][i] += t
    less = [list(row) for row in W]
    less[0][i] -= t
    slope = (loss(more, V, X) - loss(less, V, X)) / (2 * t)  # exact: f is quadratic in W
    assert slope < 0 and loss(more, V, X) < here

# Tied weights, V = W^T: a critical point that passes the test and is a saddle.
X = [[F(1), F(1), F(-1), F(-1)], [F(2), F(-2), F(2), F(-2)]]
W = [[F(1), F(0)], [F(-1), F(0)]]


def tied(i, j, s):
    """f along one coordinate of W."""
    A = [list(row) for row in W]
    A[i][j] += s
    return loss(A, [list(col) for col in zip(*A)], X)


t = F(1, 10**6)
diagonal = []
for i in (0, 1):
    for j in (0, 1):
        up, down, mid = tied(i, j, t), tied(i, j, -t), tied(i, j, F(0))
        assert abs(up - down) / (2 * t) < F(1, 10**5), "the gradient is zero, up to O(t^2)"
        diagonal.append(round((up + down - 2 * mid) / t**2))
assert diagonal == [16, -12, 16, -12] and tied(0, 1, F(1, 100)) < tied(0, 1, F(0))
print("At W > 0 the gradient is not zero; and a tied saddle has Hessian diag(16, -12, 16, -12).")
