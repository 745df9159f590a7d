"""Equation (22): the printed soft rank counts one singular value too many.

"The minimal number of singular values required to approximate" W up to a share epsilon of their sum
is compared with min{r : e(r) <= epsilon}, e(r) summing from i >= r as printed, or from i > r. W is
diagonal, so that its singular values are its entries, and a best approximation by k of them leaves
the rest (Mirsky). All numbers are exact.
"""

from fractions import Fraction

EPSILON = Fraction(1, 10)


def needed(values):
    """The least k such that all but the k largest carry at most a share EPSILON."""
    whole = sum(values)
    return next(k for k in range(len(values) + 1) if sum(values[k:]) <= EPSILON * whole)


def soft_rank(values, *, printed):
    """min{r : e(r) <= EPSILON}, r from 1 on as printed, from 0 on else."""
    whole = sum(values)
    at = 1 if printed else 0
    while sum(values[at - 1 if printed else at :], Fraction(0)) > EPSILON * whole:
        at += 1
    return at


one = [Fraction(1)]
assert needed(one) == 1 and soft_rank(one, printed=True) == 2
for values in ([5, 3, 1], [8, 4, 2, 1], [1] * 12, [100, 1, 1]):
    values = [Fraction(v) for v in values]
    assert soft_rank(values, printed=False) == needed(values)
    assert soft_rank(values, printed=True) == needed(values) + 1
print("W = (1) has one singular value and would have soft rank 2; with i > r it has 1.")
