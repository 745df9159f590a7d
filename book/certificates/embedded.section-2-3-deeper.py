"""Section 2.3: "deeper networks require more time" near the origin, and they do not always.

In one dimension with A = b = 1 the flow from eps = 1/1000 leaves by eps/2 after the integral of
1 / (L r^(2 - 2/L) (1 - r)) over r from eps to 3 eps/2. The factors r^-(2 - 2/L) and 1/(1 - r) are
monotone, so each piece of a subdivision lies between two values; sums of 200 of them enclose it.
Floating point adds a relative error below 1e-12, for which the last digit of the bounds makes room.
"""

EPS, PIECES = 1e-3, 200


def enclosed(L):
    """A lower and an upper bound of the time to leave."""
    low = high = 0.0
    for k in range(PIECES):
        left, right = (EPS * (1 + 0.5 * j / PIECES) for j in (k, k + 1))
        power = 2 - 2 / L
        low += (right - left) / (L * right**power * (1 - left))
        high += (right - left) / (L * left**power * (1 - right))
    return low * (1 - 1e-10), high * (1 + 1e-10)


shallow, deep = enclosed(20), enclosed(100)
assert shallow[1] / shallow[0] < 1.01 and deep[1] / deep[0] < 1.01
assert 2 * deep[1] < shallow[0], (shallow, deep)

print(f"eps = 1/1000: T > {shallow[0]:.2f} for L = 20 and T < {deep[1]:.2f} for L = 100.")
