"""Definition 2 with "some rho > 1": noise that ignores the manifold has the property at rho = 2.

On every manifold the representation is a fair coin, +1 or -1. Its variance is 1 and the mean
squared distance between two manifolds is 2: (A) and (B) hold with epsilon = 1, rho = 2. Exact.
"""

from fractions import Fraction

coin = {1: Fraction(1, 2), -1: Fraction(1, 2)}
mean = sum(p * v for v, p in coin.items())
variance = sum(p * (v - mean) ** 2 for v, p in coin.items())
distance = sum(p * q * (v - w) ** 2 for v, p in coin.items() for w, q in coin.items())

epsilon, rho = Fraction(1), Fraction(2)
assert variance <= epsilon and distance >= rho * epsilon and rho > 1
print(f"Variance {variance}, mean squared distance {distance}: noise hashes with rho = {rho}.")
