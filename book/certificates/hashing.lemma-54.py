"""Lemma 54: the distance of a new pair of manifolds is not large with probability 1 - delta.

Two manifolds, each a single point, with equal probability; representations 0 and 1. The mean over
pairs of different ones is K = 1. A new pair is drawn from M x M and is one and the same manifold
half of the time: then its distance is 0 < K/4. So delta < 1/2 is impossible. All numbers are
exact.
"""

from fractions import Fraction

r = {"first": Fraction(0), "second": Fraction(1)}
pairs = [(M, N) for M in r for N in r]
K = sum((r[M] - r[N]) ** 2 for M, N in pairs if M != N) / sum(M != N for M, N in pairs)
near = Fraction(sum((r[M] - r[N]) ** 2 < K / 4 for M, N in pairs), len(pairs))

assert K == 1 and near == Fraction(1, 2)
print(f"A new pair is nearer than K/4 with probability {near}.")
