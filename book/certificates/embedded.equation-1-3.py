"""Hypothesis (1.3): its three forms, said to be equivalent, are not.

(a) rank of the noisy points (x, sigma y) is d_x; (b) (x_1|...|x_N) has full rank; (c) <x x^T> is
invertible. Three small data sets, sigma = 1, ranks by elimination in fractions.
"""

from fractions import Fraction


def rank(rows):
    rows, found = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((k for k in range(found, len(rows)) if rows[k][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for k in range(found + 1, len(rows)):
            factor = rows[k][column] / rows[found][column]
            rows[k] = [p - factor * q for p, q in zip(rows[k], rows[found])]
        found += 1
    return found


def forms(x, y):
    d_x = len(x[0])
    noisy = [a + b for a, b in zip(x, y)]
    return rank(noisy) == d_x, rank(x) == min(len(x), d_x), rank(x) == d_x


assert forms([(0,), (0,)], [(1,), (1,)]) == (True, False, False)
assert forms([(1,), (2,)], [(1,), (-1,)]) == (False, True, True)
assert forms([(1, 0)], [()]) == (False, True, False)  # N = 1 < d_x = 2, no noise

print("x = (0, 0), y = (1, 1) satisfies (1.3) with <xx> = 0; x = (1, 2), y = (1, -1) violates it.")
