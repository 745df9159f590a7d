"""The abstract: "the rank of each layer decreases proportionally to the within-class variability".

A linear autoencoder of two layers in the plane, W2 W1 x, weight decay lam = 3/4 on both; data with
the second moment diag(1, s2), say (+-1, +-s), two classes by the first sign: s2 is the
variation within classes. Any factors satisfy |W1|^2 + |W2|^2 >= 2 |W2 W1|_* (nuclear norm), with
equality for suitable ones, so that the least value is that of the convex function
    h(T) = tr((I - T) S (I - T)') + 2 lam |T|_*,     S = diag(1, s2).
T is its minimizer if (I - T) S = lam G with G in the subdifferential of |T|_*: G = I on the range
of a diagonal T >= 0, of norm at most one across it. It is unique, because S is invertible.
"""

from fractions import Fraction

lam = Fraction(3, 4)


def minimizer(s2):
    """The diagonal of T, with its optimality checked."""
    moments = (Fraction(1), Fraction(s2))
    T = [max(Fraction(0), 1 - lam / m) for m in moments]
    for t, m in zip(T, moments):
        G = (1 - t) * m / lam
        assert G == 1 if t > 0 else 0 <= G <= 1, "a subgradient"
    return T


# W1 = W2 = diag(1/2, 0) carries T = diag(1/4, 0): its penalty is 2 |T|_*, and it has rank one
W = (Fraction(1, 2), Fraction(0))
ranks = {}
for s2 in (Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 2), Fraction(3, 4), Fraction(3)):
    T = minimizer(s2)
    ranks[s2] = sum(t > 0 for t in T)
    if s2 <= lam:
        assert T == [w * w for w in W] and 2 * sum(w * w for w in W) == 2 * sum(T)
assert list(ranks.values()) == [1, 1, 1, 1, 2]
print("The rank is 1 for variations from 1/1000000 to 3/4 and 2 at 3: it moves in steps.")
