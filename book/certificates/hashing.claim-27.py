"""Claim 27: the bound is no function of g, so it cannot be additive on functions.

(x1 - x2)^2 as (beta.x)^2 with beta = (1, -1) has the absolute series |beta|^2 y^2 = 2 y^2; as the
sum of monomials x1^2 - 2 x1 x2 + x2^2 it has 4 y^2. The bound g~'(1) + g~(0) is 4 or 8. Exact.
"""


def bound(series):
    """The derivative at 1 and the value at 0, for coefficients by degree."""
    return sum(k * c for k, c in series.items()) + series.get(0, 0)


points = [(x, y) for x in range(-3, 4) for y in range(-3, 4)]
assert all((x - y) ** 2 == x * x - 2 * x * y + y * y for x, y in points)  # one function
as_power = {2: 1**2 + (-1) ** 2}
as_monomials = {2: abs(1) + abs(-2) + abs(1)}

assert bound(as_power) == 4 != bound(as_monomials) == 8
print(f"One function, two bounds: {bound(as_power)} and {bound(as_monomials)}.")
