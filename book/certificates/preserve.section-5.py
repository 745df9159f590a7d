"""Section 5: no weights without bias satisfy the conditions of Theorem 3.1 on balanced data.

X* = (1 -1), r = 1, Z = 0. P(X*) has all entries 1/2 in size, so epsilon = 1/2. For W = (w_1 .. w_h)
delta <= sigma_1(WX*) = ||w|| sqrt 2, and ReLU cuts |w_i| from row i, in one of two columns:
||Y - WX||_F = ||w||, so its largest singular value is at least ||w|| / sqrt 2. Squares are exact.
"""

from fractions import Fraction
from itertools import product

epsilon = Fraction(1, 2)
constant = 128  # the square of sqrt(2^7 r), r = 1
grid = [Fraction(k, 3) for k in range(-4, 5)]
tried = 0
for h in (1, 2, 3):
    for w in product(grid, repeat=h):
        if not any(w):
            continue  # no gap at all
        WX = [(x, -x) for x in w]
        Y = [(max(0, a), max(0, b)) for a, b in WX]
        signal = sum(a * a + b * b for a, b in WX)  # sigma_1^2: the rows are parallel
        cut = [(c - a, d - b) for (a, b), (c, d) in zip(WX, Y)]
        # A matrix with two columns: the larger of the squared singular values is at least half
        # of the sum of squares.
        least = sum(a * a + b * b for a, b in cut) / 2
        assert 4 * least == signal  # whatever w is: the algebra above
        # (2) needs delta^2 > constant / epsilon^2 * ||Y - WX||^2, and delta^2 <= signal.
        assert signal <= constant / epsilon**2 * least
        tried += 1

print(f"(2) fails by a factor of at least 128 in squares, for every w; {tried} were written out.")
