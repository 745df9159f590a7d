"""Images in the order of their labels, centred, and what a network should say of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.data import images
from lowdim.data.images import Provenance

__all__ = ["Classes", "draw"]


@dataclass(frozen=True)
class Classes:
    """Pixels (d, N), centred over the images, float32; labels (N,), rising; where they are from."""

    pixels: Tensor
    labels: np.ndarray
    provenance: Provenance

    @property
    def onehot(self) -> Tensor:
        """A column (classes, N) for each image, 1 at its label."""
        numbers = torch.from_numpy(self.labels.astype(int))
        return torch.nn.functional.one_hot(numbers).T.float()


def draw(
    dataset: str, *, per_class: int, seed: int, classes: int = 10, side: int | None = None
) -> Classes:
    """So many images of each class, ``side`` by ``side`` if given; as ``images.load``.

    Examples
    --------
    >>> taken = draw("digits", per_class=2, seed=0, classes=3)
    >>> taken.labels.tolist(), tuple(taken.pixels.shape), tuple(taken.onehot.shape)
    ([0, 0, 1, 1, 2, 2], (64, 6), (3, 6))
    """
    taken = images.load(dataset, per_class=per_class, classes=classes, seed=seed, side=side)
    at = np.argsort(taken.labels, kind="stable")
    pixels = torch.from_numpy(taken.columns()[:, at]).float()
    return Classes(pixels - pixels.mean(1, keepdim=True), taken.labels[at], taken.provenance)
