"""Images of one set in several draws, half of them kept aside, with true and shuffled labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.data import images
from lowdim.data.images import Images, Provenance
from lowdim.seeds import generator

__all__ = ["Drawn", "draw", "halves"]


@dataclass(frozen=True)
class Drawn:
    """T draws of n images of m numbers each, and as many kept aside.

    X, fresh: (T, m, n), from 0 to 1; labels, fresh_labels: their classes (T, n); shuffled: the
    labels of each draw in random order (T, n).
    """

    X: Tensor
    labels: np.ndarray
    fresh: Tensor
    fresh_labels: np.ndarray
    shuffled: np.ndarray
    provenance: Provenance

    @property
    def groups(self) -> int:
        """The number K of classes that occur."""
        return len(np.unique(self.labels))


def halves(taken: Images, per_class: int) -> list[tuple[Tensor, np.ndarray]]:
    """Columns and labels: of each class the first ``per_class`` images, then all the others.

    Examples
    --------
    >>> first, rest = halves(images.load("digits", per_class=5), 2)
    >>> first[0].shape, rest[0].shape
    (torch.Size([64, 20]), torch.Size([64, 30]))
    """
    first = np.zeros(len(taken.labels), dtype=bool)
    for k in np.unique(taken.labels):
        first[np.flatnonzero(taken.labels == k)[:per_class]] = True
    columns = torch.from_numpy(taken.columns())
    return [(columns[:, part], taken.labels[part]) for part in (first, ~first)]


def draw(
    dataset: str = "digits",
    *,
    per_class: int = 30,
    classes: int = 10,
    side: int | None = None,
    draws: int = 3,
    seed: int = 0,
) -> Drawn:
    """Draw ``draws`` times ``per_class`` images of each of the first classes, and as many again.

    Raises
    ------
    DataError
        If the set is not at hand or has too few images (:func:`lowdim.data.images.load`).

    Examples
    --------
    >>> data = draw(per_class=4, classes=3, draws=2)
    >>> data.X.shape, data.fresh.shape, data.groups
    (torch.Size([2, 64, 12]), torch.Size([2, 64, 12]), 3)
    """
    taken = [
        images.load(
            dataset,
            per_class=2 * per_class,
            classes=classes,
            side=side,
            seed=1000 * abs(seed) + t,
        )
        for t in range(draws)
    ]
    pairs = [halves(each, per_class) for each in taken]
    X, fresh = (torch.stack([pair[i][0] for pair in pairs]) for i in (0, 1))
    labels, fresh_labels = (np.stack([pair[i][1] for pair in pairs]) for i in (0, 1))
    mixed = [generator(seed, t, "labels").permutation(row) for t, row in enumerate(labels)]
    return Drawn(X, labels, fresh, fresh_labels, np.stack(mixed), taken[0].provenance)
