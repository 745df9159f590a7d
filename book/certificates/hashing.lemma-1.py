"""Lemma 1: no network of the printed width hashes a whole support, if its dimension s is large.

For tau = 1/2 there are K = exp(s tau^2/4) = exp(s/16) separated names. If V_M <= eps on each and
the mean squared distance of any two is at least rho eps = 1, the means of r are at squared
distances of at least 1 - 2 eps. They lie in a ball of R^T of radius sqrt(beta/2): balls of half
the distance around them are disjoint, so K <= (1 + sqrt(2 beta/(1 - 2 eps)))^T. Printed are
T = c log(mn) log(1/delta)/eps and beta = s^(c log(1/eps)). With eps = delta = 1/10, mn = 100 and
any c the logarithms of the two sides are compared, logarithms replaced by larger fractions.
"""

from fractions import Fraction as F


def log_above(x):
    """A fraction above log x, for a whole number x >= 1: log 2 < 7/10."""
    return F(7, 10) * x.bit_length()


eps = F(1, 10)
found = []
for c in (1, 10, 100):
    T = c * log_above(100) * log_above(10) / eps
    for k in range(1, 30):
        s = 10**k
        beta = c * log_above(10) * log_above(s)  # above log beta
        two = log_above(3)  # 2/(1 - 2 eps) = 5/2 < 3
        # log(1 + sqrt(x)) <= log 2 + log(x)/2 for x >= 1
        right = T * (log_above(2) + (two + beta) / 2)
        if F(s, 16) > right:
            found.append(k)
            # and for all larger s: the left side is linear in s, the right one in log s
            bigger = T * (log_above(2) + (two + c * log_above(10) * log_above(10 * s)) / 2)
            assert F(10 * s, 16) > bigger and bigger < 2 * right
            break
    else:
        raise AssertionError("no s was large enough")
print(f"More names than room from s = {', '.join(f'1e{k}' for k in found)} on, for c = 1, 10, 100.")
