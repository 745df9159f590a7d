"""Section 3, degenerate data: at lambda = 0 a critical point need not have rank at most K.

One pair x = y = (1, 2), so K = 1; f(x) = W x, squared error, no weight decay, which equation (3)
allows. W = I fits the pair, so the gradient is zero, and W has rank 2. With weight decay lambda > 0
the same W is not critical. All numbers are exact.
"""

from fractions import Fraction

x = [Fraction(1), Fraction(2)]
y = x
W = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]


def gradient(W, lam):
    """Of |W x - y|^2 + lam |W|^2, a 2 x 2 matrix."""
    left = [sum(w * a for w, a in zip(row, x)) - b for row, b in zip(W, y)]
    return [[2 * left[i] * x[j] + 2 * lam * W[i][j] for j in range(2)] for i in range(2)]


zero = [[0, 0], [0, 0]]
determinant = W[0][0] * W[1][1] - W[0][1] * W[1][0]
assert gradient(W, 0) == zero, "critical at lambda = 0"
assert determinant != 0, "rank two, with one distinct pair"
assert gradient(W, Fraction(1, 10)) != zero, "weight decay changes that"

# For lambda > 0 the only critical point is W = y x' / (|x|^2 + lambda), of rank one.
lam = Fraction(1, 10)
size = sum(a * a for a in x) + lam
ridge = [[b * a / size for a in x] for b in y]
assert gradient(ridge, lam) == zero
assert ridge[0][0] * ridge[1][1] == ridge[0][1] * ridge[1][0], "rank one"
print("W = I is critical at lambda = 0 for one pair x = y, and has rank 2 > K = 1.")
