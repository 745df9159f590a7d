"""Lemma 36: centring the outputs does not lower the loss by V, only by a fraction of it.

Two classes of two points; the first output varies by +-t on the first class. V is the mean over
classes of the variance within. The weights in the loss are at most 1/2, so the loss falls by at
most V/2. All numbers are exact.
"""

from fractions import Fraction

t = Fraction(1, 10)
outputs = [[[1 + t, 0], [1 - t, 0]], [[0, 1], [0, 1]]]  # class, point, output


def loss(outputs):
    total = Fraction(0)
    for label, points in enumerate(outputs):
        for y in points:
            other = 1 - label
            total += (Fraction(1 - y[label]) ** 2 + Fraction(y[other]) ** 2) / 2  # m - 1 = 1
    return total / 4


means = [[Fraction(sum(column)) / 2 for column in zip(*points)] for points in outputs]
V = sum(
    (y[j] - mean[j]) ** 2 for points, mean in zip(outputs, means) for y in points for j in (0, 1)
) / Fraction(4)
fall = loss(outputs) - loss([[mean, mean] for mean in means])

assert V > 0 and fall == V / 2 and fall < V
print(f"V = {V}, and centring lowers the loss by {fall} only.")
