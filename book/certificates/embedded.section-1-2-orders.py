"""Section 1.2, the display for w_y*: the printed fraction is not the minimizer.

Two points (x, sigma*y) with x = (1, 0), y = (0, 1), and the linear target g = 2x. Least squares
fits g exactly with w_x = 2, w_y = 0, so the residual is zero and no noise can speak. The printed
fraction has <x^2> - <xg> where the residual belongs, and is not zero. All numbers are exact.
"""

from fractions import Fraction

x = [Fraction(1), Fraction(0)]
y = [Fraction(0), Fraction(1)]
g = [2 * value for value in x]
N = len(x)


def mean(a, b):
    return sum(p * q for p, q in zip(a, b)) / N


# Any sigma: it cancels from sigma * w_y, which is what is compared.
S = mean(x, x) * mean(y, y) - mean(x, y) ** 2
assert S != 0, "the minimizer is unique"
w_x = (mean(g, x) * mean(y, y) - mean(g, y) * mean(x, y)) / S
sigma_w_y = (mean(g, y) * mean(x, x) - mean(g, x) * mean(x, y)) / S

# It is the minimizer: both normal equations hold, and the fit is exact.
residual = [g_i - w_x * x_i - sigma_w_y * y_i for g_i, x_i, y_i in zip(g, x, y)]
assert mean(residual, x) == 0 and mean(residual, y) == 0
assert residual == [0, 0] and sigma_w_y == 0

# The printed fraction, without its factor 1 / (sigma sqrt N), which is not zero for any N.
printed = (mean(x, x) - mean(x, g)) / (mean(x, x) * mean(y, y) - mean(x, y) ** 2)
assert printed == -2, printed

print(f"sigma * w_y* = {sigma_w_y}, and the printed fraction is {printed}.")
