"""Lemma 45: a strict local minimum of (6) that is not global, at inner width T = 1.

Two classes of two points, features (1/5, 0) twice and (0, 1/6), (0, 1); lambda_1 = lambda_2 =
1/60, the paper's loss, and the variance penalty. With A = (a1, a2)', B = (b1, b2) the objective is
    1/2 + sum_l [s_l (a1^2 + a2^2) b_l^2 - 2 c_l a_l b_l] + lambda (a1^2 + a2^2 + sum_l rho_l^2
    b_l^2),   rho_l^2 = 1 + V_reg of class l.
In the variables rho_l b_l (called b below) s and c become s/rho^2 and c/rho, and both penalties
are alike. Keep class 1 alone: a = b = (x, 0). With d = x^2 the gradient and the Hessian, which
splits in blocks (a1, b1) and (a2, b2), are rational. Keeping class 2 alone is lower.
"""

from fractions import Fraction as F

lam = F(1, 60)
radii = ((F(1, 5), F(1, 5)), (F(1, 6), F(1)))
rho = (F(1), F(13, 12))
for R, r in zip(radii, rho):
    assert 1 + (R[0] - R[1]) ** 2 / 4 == r * r  # V_reg: 1/m, 1/(n - 1), squares about the mean
s = [sum(z * z for z in R) / 8 / r**2 for R, r in zip(radii, rho)]
c = [sum(R) / 8 / r for R, r in zip(radii, rho)]


def alone(j):
    """d where the gradient vanishes, and the objective, with class j kept alone."""
    d = (c[j] - lam) / s[j]
    assert d > 0
    assert s[j] * d - c[j] + lam == 0  # x times this, twice, is the gradient in a_j and in b_j
    return d, F(1, 2) + s[j] * d * d - 2 * c[j] * d + 2 * lam * d


d, trap = alone(0)
# Second derivatives, halved. In (a1, b1): s d + lam on the diagonal, 2 s d - c beside it.
diagonal, beside = s[0] * d + lam, 2 * s[0] * d - c[0]
assert diagonal > 0 and diagonal**2 > beside**2
# In (a2, b2): a2 meets b1, b2 meets a1, and both together the second class.
first, second, cross = s[0] * d + lam, s[1] * d + lam, -c[1]
assert first > 0 and second > 0 and first * second > cross**2

_, lower = alone(1)
assert lower < trap
print(f"A strict local minimum of (6) at {float(trap):.4f}, and a point at {float(lower):.4f}.")
