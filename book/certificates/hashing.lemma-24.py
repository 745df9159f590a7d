"""Lemma 24: two matrices with nearly the same Gram matrix may be farther apart than 2 sqrt(eps).

G = I of size n = 5, A = sqrt(2) I and B = 0. Both Gram matrices differ from G by a matrix of
Frobenius norm sqrt(n) = eps. For every U the rest A - UB = A has squared norm 2n, and 4 eps is
smaller from n = 5 on. Squares are compared, so all numbers are exact.
"""

n = 5
eps2 = n  # |A'A - G|_F^2 = |2I - I|_F^2 and |B'B - G|_F^2 = |I|_F^2
assert sum((2 - 1) ** 2 for _ in range(n)) == eps2 == sum((0 - 1) ** 2 for _ in range(n))
rest2 = 2 * n  # |A|_F^2, whatever U is
assert rest2**2 > 4**2 * eps2  # |Delta|^2 > 4 eps
assert (2 * 4) ** 2 == 4**2 * 4  # at n = 4 there is equality
print(f"n = {n}: |Delta|^2 = {rest2}, and 4 eps = 4 sqrt({eps2}) = {4 * eps2**0.5:.3f}.")
