"""Section 6: with epsilon undivided, sixteen layers that satisfy (2) join two different lines.

X = (1 1 0; 0 0 1; 0 t 0), t = 1/400: two lines, points 1 and 2 on the first, 3 on the second, and
noise t. Layer l adds kappa_l times the noise row to the second row; nothing is cut. Exact numbers.
"""

from fractions import Fraction

t, L, first, rest = Fraction(1, 400), 16, 12, 16
half_epsilon = Fraction(1, 4)  # P(X*) has entries 1/2 on the first line: epsilon = 1/2
constant = 32  # sqrt(2^7 r) / epsilon with r = 2

rows = [[Fraction(1), Fraction(1), Fraction(0)], [Fraction(0), Fraction(0), Fraction(1)]]
rows.append([Fraction(0), t, Fraction(0)])


def det(M):
    return (
        M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1])
        - M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0])
        + M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0])
    )


for layer in range(L):
    kappa = first if layer == 0 else rest
    # Own part as clean matrix: the noise is sigma_3, and (2) needs constant * (its image) < gaps.
    # Layer 1: Z = (0, t, 0) is the third row, W Z has length t sqrt(1 + kappa^2), and the gaps are
    # at least 1 - t. Later: |det| = t, sigma_1 sigma_2 >= sqrt 2, so sigma_3 <= t / sqrt 2; W has
    # Frobenius norm sqrt(3 + kappa^2), and the gaps are at least 1 - t - (the same).
    assert abs(det(rows)) == t
    if layer == 0:
        assert constant**2 * t**2 * (1 + kappa**2) < (1 - t) ** 2
    else:
        assert (constant + 1) ** 2 * (3 + kappa**2) * t**2 / 2 < (1 - t) ** 2
    rows[1] = [a + kappa * b for a, b in zip(rows[1], rows[2])]
    assert min(min(row) for row in rows) >= 0, "ReLU cuts nothing"
    # sigma_2 >= 1: the first two rows (1, 1, 0), (0, s, 1) have the Gram matrix (2 s; s 1 + s^2),
    # whose eigenvalues are at least 1, as (2 - 1)(1 + s^2 - 1) - s^2 = 0 and the trace is above 2.
    s = rows[1][1]
    assert (2 - 1) * (1 + s**2 - 1) - s**2 == 0 and rows[1] == [0, s, 1]

# Without the noise row the projector has the entry s / (2 + s^2) between points 2 and 3: the
# combination (0, s, 1) - (s/2)(1, 1, 0) is orthogonal to (1, 1, 0). That row moves it by < t.
u, v = (1, 1, 0), (-s / 2, s / 2, 1)
assert sum(a * b for a, b in zip(u, v)) == 0
entry = Fraction(u[1] * u[2], 2) + v[1] * v[2] / sum(a * a for a in v)
assert entry == s / (2 + s**2) and entry - t > half_epsilon
print(
    f"After 16 layers the entry between two lines exceeds {float(entry - t):.4f} > epsilon/2 = 1/4."
)
