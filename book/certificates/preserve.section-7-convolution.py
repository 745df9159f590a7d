"""Section 7: the convolution operator is a linear transformation, a matrix with repeated entries.

The kernel (1, 2, 3) on signals of three numbers, zero padded; then any kernel, padding and stride
of a grid of small cases. Whole numbers only.
"""

from itertools import product


def convolve(kernel, signal, padding, stride):
    """What deep learning calls a convolution: windows of the padded signal times the kernel."""
    padded = [0] * padding + list(signal) + [0] * padding
    starts = range(0, len(padded) - len(kernel) + 1, stride)
    return [sum(k * x for k, x in zip(kernel, padded[i:])) for i in starts]


def matrix(kernel, size, padding, stride):
    """Its matrix, without convolving: kernel[j + padding - i stride] at (i, j)."""
    rows = (size + 2 * padding - len(kernel)) // stride + 1

    def at(i, j):
        return j + padding - i * stride

    return [
        [kernel[at(i, j)] if 0 <= at(i, j) < len(kernel) else 0 for j in range(size)]
        for i in range(rows)
    ]


T = matrix((1, 2, 3), 3, 1, 1)
assert T == [[2, 3, 0], [1, 2, 3], [0, 1, 2]]
tried = 0
for size, padding, stride in product((3, 4, 5), (0, 1, 2), (1, 2)):
    for kernel in product((-1, 0, 2), repeat=3):
        T = matrix(kernel, size, padding, stride)
        for signal in (
            [1] + [0] * (size - 1),
            range(1, size + 1),
            [(-2) ** k for k in range(size)],
        ):
            image = [sum(a * x for a, x in zip(row, signal)) for row in T]
            assert image == convolve(kernel, signal, padding, stride)
            tried += 1

print(f"{tried} convolutions equal the product with their matrix, exactly.")
