"""Section 2, "and vice versa": a small 0/1 error does not give a small loss.

Outputs t * e_k on class k are largest at the right place, so no point is misread, and the loss is
(1 - t)^2 / 2 whatever the number of classes. All numbers are exact.
"""

from fractions import Fraction

m, t = 10, Fraction(1, 100)
outputs = [[t if j == k else Fraction(0) for j in range(m)] for k in range(m)]
misread = sum(row.index(max(row)) != k for k, row in enumerate(outputs))
own = sum((1 - row[k]) ** 2 for k, row in enumerate(outputs)) / 2
others = sum(sum(y * y for j, y in enumerate(row) if j != k) for k, row in enumerate(outputs))
loss = (own + others / (2 * (m - 1))) / m

assert misread == 0
assert loss == (1 - t) ** 2 / 2 > Fraction(49, 100)
print(f"{misread} of {m} points are misread, and the loss is {loss} = {float(loss):.3f}.")
