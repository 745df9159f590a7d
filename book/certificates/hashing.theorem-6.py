"""Theorem 6: the norm of the constant function 1 is not at most g~'(1) + g~(0) = 1.

Weights a with a.sigma(Cx) = 1 at one point suffice. At infinite width the features of a unit
vector (with its bias coordinate, normalized) have squared length E sigma(u)^2 for a standard
normal u, which is half of E u^2 = 1 by symmetry. Cauchy and Schwarz: 1 <= |a|^2 / 2.
"""

from fractions import Fraction

second_moment = Fraction(1)  # of a standard normal
length2 = second_moment / 2  # only the positive half counts
coefficients = {0: 1}  # of g = 1
bound = sum(k * abs(c) for k, c in coefficients.items()) + abs(coefficients[0])
norm2 = 1 / length2  # a lower bound on |a|^2

assert bound == 1 and norm2 == 2 > bound**2
print(f"The printed bound is {bound}, and the squared norm is at least {norm2}.")
