"""Section 5, practical insights: X > 0 and W > 0 do not preserve the clusters.

Two lines with two points each, W all ones: points of different clusters become one point.
"""

X = [[2, 4, 1, 2], [1, 2, 2, 4]]  # points 1, 2 on the line of (2, 1); points 3, 4 on that of (1, 2)
W = [[1, 1], [1, 1]]
columns = list(zip(*X))
assert all(x > 0 for row in X + W for x in row)
assert columns[1] == tuple(2 * x for x in columns[0])
assert columns[3] == tuple(2 * x for x in columns[2])
assert columns[0][0] * columns[2][1] != columns[0][1] * columns[2][0], "two different lines"

Y = [[max(0, sum(w * x for w, x in zip(row, column))) for column in columns] for row in W]
assert all(y > 0 for row in Y for y in row), "WX > 0: ReLU cuts nothing"
points = list(zip(*Y))
assert points[0] == points[2] and points[1] == points[3]

print(
    f"Points 1 and 3, of different clusters, both become {points[0]}: no method tells them apart."
)
