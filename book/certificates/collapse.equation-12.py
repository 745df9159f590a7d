"""Equation (12): for an autoencoder the within-cluster sum of squares is twice what is printed.

Definition (6) takes the variation of the pairs (x, y). One cluster, the points x = 0 and x = 1 on a
line, y = x, which is the autoencoding task that Section 4 announces. The printed line has the
variation of x alone. All numbers are exact.
"""

from fractions import Fraction


def wcss(points):
    """Mean squared distance of points (tuples) from their centroid."""
    n = len(points)
    centre = [sum(p[k] for p in points) / n for k in range(len(points[0]))]
    return sum((a - c) ** 2 for p in points for a, c in zip(p, centre)) / n


x = [Fraction(0), Fraction(1)]
by_definition = wcss([(a, a) for a in x])
printed = wcss([(a,) for a in x])
labelled = wcss([(a, Fraction(7)) for a in x])

assert printed == Fraction(1, 4)
assert by_definition == Fraction(1, 2) == 2 * printed
assert labelled == printed, "with one label for the cluster the printed line is right"
print(f"x = 0, 1 and y = x: definition (6) gives {by_definition}, equation (12) {printed}.")
