"""Section 8: a ReLU network that clusters perfectly need not have learned P(X).

Four points, labels that P(X) does not show, five ReLU layers (with biases, as common software has)
whose output shows them exactly. All numbers are exact.
"""

from fractions import Fraction

X = [[1, 1, 1, 1], [0, 1, 2, 3]]
labels = [0, 1, 0, 1]


def dot(u, v):
    return sum(Fraction(a) * b for a, b in zip(u, v))


def layer(W, b, Y):
    return [[max(Fraction(0), dot(row, col) + bias) for col in zip(*Y)] for row, bias in zip(W, b)]


# Layer 1: (t - k)_+ for k = -1, 0, 1, 2 of the second coordinate t. Layer 2: the indicator of a
# class, interpolated linearly between the points; second differences of 1, 0, 1, 0 and 0, 1, 0, 1.
Y = layer([[0, 1]] * 4, [1, 0, -1, -2], X)
Y = layer([[1, -2, 2, -2], [0, 1, -2, 2]], [0, 0], Y)
for _ in range(3):
    Y = layer([[1, 0], [0, 1]], [0, 0], Y)
assert Y == [[1, 0, 1, 0], [0, 1, 0, 1]], "the rows of the fifth layer are the indicators"


def projector(u, v):
    c = dot(u, v) / dot(u, u)
    w = [b - c * a for a, b in zip(u, v)]
    pairs = ((u, dot(u, u)), (w, dot(w, w)))
    return [[sum(Fraction(r[i]) * r[j] / s for r, s in pairs) for j in range(4)] for i in range(4)]


P, Q = projector(*X), projector(*Y)
other = [(i, j) for i in range(4) for j in range(4) if labels[i] != labels[j]]
assert all(Q[i][j] == 0 for i, j in other), "the network shows the labels"
assert any(P[i][j] for i, j in other), "P(X) does not"
squared = 1 - sum(P[i][j] * Q[i][j] for i in range(4) for j in range(4)) / 2
assert squared > 0, "so the network has not learned P(X)"

print(f"Labels shown exactly by five ReLU layers, at squared distance {squared} from P(X).")
