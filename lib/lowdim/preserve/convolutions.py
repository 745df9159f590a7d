r"""Convolutional layers as matrices, and small ones for the attacks of Part I.

A case has kernels ``K`` (B, 2, 9), two channels of 3×3 on images of 3×3 pixels; ``clean`` (B, 9, n)
of rank r, ``Z`` (B, 9, n), and ``V`` (B, r, n), whose rows span the row space of ``clean``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.evidence.values import Share
from lowdim.linalg import subspaces
from lowdim.nets.architectures import Convolutional
from lowdim.preserve import preservation

__all__ = ["Convolved", "build", "convolved", "edges", "equal", "pictures", "random", "start"]

SMALL = Convolutional((3, 3), (2,), (3, 3), 1)


def pictures(*, seed: int = 0) -> dict[str, Tensor]:
    """The matrices of a kernel of five on a signal of 24 numbers, and of 3×3 on an image of 5×5.

    Examples
    --------
    >>> {name: tuple(T.shape) for name, T in pictures().items()}
    {'signal': (24, 24), 'image': (25, 25)}
    """
    signal = Convolutional((1, 24), (1,), (1, 5), 1)
    image = Convolutional((5, 5), (1,), (3, 3), 1)
    nets = {"signal": signal, "image": image}
    return {name: net.matrix(net.init(seed=seed)[0], 0)[0] for name, net in nets.items()}


def equal(count: int, rng: np.random.Generator) -> Share:
    """In how many of 2·``count`` convolutions of whole numbers all three ways agree exactly.

    The ways are this book's convolution, torch's, and the product with the matrix; two channels of
    4×5 pixels, strides 1 and 2.

    Examples
    --------
    >>> print(equal(3, np.random.default_rng(0)))
    6 of 6
    """

    def whole(*shape: int) -> Tensor:
        return torch.from_numpy(rng.integers(-9, 10, shape).astype(float))

    agree = 0
    for stride in (1, 2):
        net = Convolutional((4, 5), (2, 3), (3, 3), 1, strides=(1, stride))
        W, H = whole(count, 3, 18), whole(count, 40, 7)
        T = net.matrix(W, 1)
        mine = net.linear(W, torch.zeros(count, 3, 1).double(), H, 1)
        for k in range(count):
            images, kernels = H[k].T.reshape(7, 2, 4, 5), W[k].reshape(3, 2, 3, 3)
            theirs = torch.nn.functional.conv2d(images, kernels, stride=stride, padding=1)
            product = T[k] @ H[k]
            agree += torch.equal(mine[k], product) and torch.equal(theirs.flatten(1).T, product)
    return Share(agree, 2 * count)


@dataclass(frozen=True)
class Convolved:
    r"""What the bound for layers asks of a ReLU convolution, each (B,).

    tangent: :math:`\tan\theta_1`; off, on: the two sides of q; size: :math:`\|Y-TX^*\|`; signal:
    :math:`\sigma_r(TX^*)`, zero where it is mere rounding.
    """

    tangent: Tensor
    off: Tensor
    on: Tensor
    size: Tensor
    signal: Tensor


def convolved(case: Case) -> Convolved:
    """Measure the layer of a case.

    Examples
    --------
    >>> found = convolved(edges()["no noise"])
    >>> bool(found.size == 0), bool(found.tangent < 1e-6)
    (True, True)
    """
    T = SMALL.matrix(case["K"], 0)
    Y = (T @ (case["clean"] + case["Z"])).relu()
    mapped = T @ case["clean"]
    rank = case["V"].shape[-2]
    star = torch.linalg.qr(case["V"].mT).Q
    V = subspaces.principal_rows(Y, rank, method="svd")
    off, on = preservation.tangent_ratio(Y, star)
    tangent = subspaces.principal_angles(star, V)[..., 0].clamp(max=1.5707).tan()
    sigma = subspaces.singular_values(mapped)
    # a rank that is mere rounding (a kernel of zeros) is none
    signal = sigma[..., rank - 1] * (sigma[..., rank - 1] > 1e-9 * sigma[..., 0])
    return Convolved(tangent, off, on, subspaces.spectral_norm(Y - mapped), signal)


def random(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Non-negative images of rank two under non-negative kernels with zeros, noise of any size.

    Examples
    --------
    >>> random(4, np.random.default_rng(0))["clean"].shape
    torch.Size([4, 9, 8])
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    V, U = normal(2, 8).abs(), normal(9, 2).abs()
    level = torch.from_numpy(10 ** rng.uniform(-8, -1.5, (count, 1, 1)))
    K = normal(2, 9).abs() * torch.from_numpy(rng.random((count, 2, 9)) < 0.7)
    return {"K": K, "clean": U @ V, "Z": level * normal(9, 8), "V": V}


def edges() -> dict[str, dict[str, Tensor]]:
    """A kernel that copies the image, a layer without noise, and everything tiny.

    Examples
    --------
    >>> list(edges())
    ['a copying kernel', 'no noise', 'tiny']
    """
    case = random(1, np.random.default_rng(7))
    copying = torch.zeros(1, 2, 9, dtype=torch.float64)
    copying[..., 4] = 1
    return {
        "a copying kernel": {**case, "K": copying},
        "no noise": {**case, "K": copying + 0.5, "Z": 0 * case["Z"]},
        "tiny": {name: 1e-6 * value for name, value in case.items()},
    }


def start(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Where a search for the worst layer begins: free K, V and Z.

    Examples
    --------
    >>> sorted(start(2, np.random.default_rng(0)))
    ['K', 'V', 'Z']
    """
    free = random(count, rng)
    return {"K": free["K"], "V": free["V"], "Z": 0.01 * free["Z"].sign()}


def build(free: Case) -> dict[str, Tensor]:
    """A case from free numbers, with one fixed non-negative basis of images.

    Examples
    --------
    >>> bool((build(start(2, np.random.default_rng(0)))["clean"] >= 0).all())
    True
    """
    U = torch.linspace(0.2, 2, 18, dtype=torch.float64).sin().abs().view(9, 2)
    V = free["V"].abs()
    clean = U.expand(len(V), -1, -1) @ V
    return {"K": free["K"].abs(), "clean": clean, "Z": 0.1 * free["Z"], "V": V}
