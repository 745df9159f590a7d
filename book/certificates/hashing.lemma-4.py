"""Lemma 4: a strict local minimum that is not global, at inner width T = 1.

Weighted squares of W = AB with weights (7 1; 1 7), targets (11/7 2; 2 11/7), plus |A|^2 + |B|^2.
At A = (1, -1)', B = (1, -1) the gradient vanishes and the Hessian is positive; A = B' = (1, 1)
sqrt(3/2) is lower. All numbers are exact.
"""

from fractions import Fraction as F

weight, target = [[F(7), F(1)], [F(1), F(7)]], [[F(11, 7), F(2)], [F(2), F(11, 7)]]
cells = [(i, j) for i in (0, 1) for j in (0, 1)]


def loss(W):
    return sum(weight[i][j] * (W[i][j] - target[i][j]) ** 2 for i, j in cells)


a, b = (F(1), F(-1)), (F(1), F(-1))
W = [[a[i] * b[j] for j in (0, 1)] for i in (0, 1)]
G = [[2 * weight[i][j] * (W[i][j] - target[i][j]) for j in (0, 1)] for i in (0, 1)]
gradient = [sum(G[i][j] * b[j] for j in (0, 1)) + 2 * a[i] for i in (0, 1)]
gradient += [sum(G[i][j] * a[i] for i in (0, 1)) + 2 * b[j] for j in (0, 1)]
assert gradient == [0, 0, 0, 0]

H = [[F(0)] * 4 for _ in range(4)]  # variables a1, a2, b1, b2
for i, j in cells:
    H[i][i] += 2 * weight[i][j] * b[j] ** 2
    H[2 + j][2 + j] += 2 * weight[i][j] * a[i] ** 2
    H[i][2 + j] = H[2 + j][i] = 2 * weight[i][j] * a[i] * b[j] + G[i][j]
for i in range(4):
    H[i][i] += 2


def determinant(M):
    if not M:
        return F(1)
    minors = ([row[:k] + row[k + 1 :] for row in M[1:]] for k in range(len(M)))
    return sum((-1) ** k * M[0][k] * determinant(m) for k, m in enumerate(minors))


assert all(determinant([row[:k] for row in H[:k]]) > 0 for k in range(1, 5))  # strict minimum
trap = loss(W) + sum(x * x for x in (*a, *b))
lower = loss([[F(3, 2)] * 2] * 2) + 4 * F(3, 2)  # a = b = sqrt(3/2) (1, 1): |a|^2 = |b|^2 = 3
assert lower < trap
print(f"A strict local minimum at {trap}, and a point at {lower}.")
