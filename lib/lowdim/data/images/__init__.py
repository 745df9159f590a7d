"""Real data: official files in, arrays out, with a record of where they came from.

``load("mnist", per_class=100)`` reads a data set from a folder that the user names
(``LOWDIM_DATA``, or the platform's cache folder): its official files in ``<folder>/<name>/``, or a
subset ``<folder>/<name>.npz``. Nothing is ever downloaded by reading; :func:`fetch` does that when
asked. scikit-learn's digits need no file at all and are always there.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from lowdim import checks
from lowdim.data.images._pooch import pooch
from lowdim.data.images.catalogue import CATALOGUE, Entry
from lowdim.data.images.download import fetch
from lowdim.data.images.readers import DataError, Raw, _check_labels, _held, read, wanted
from lowdim.seeds import generator

__all__ = ["DataError", "Images", "Provenance", "available", "fetch", "folder", "load", "names"]


@dataclass(frozen=True)
class Provenance:
    """Where images came from and what was taken.

    whole: whether the split is complete; ``kind`` is "official files", "subset" or "built in";
    checked: whether checksums and counts were compared with the published ones.
    """

    name: str
    title: str
    kind: str
    split: str
    files: tuple[str, ...]
    whole: bool
    checked: bool
    available: int
    taken: int
    classes: int
    per_class: int | None
    seed: int
    side: int
    licence: str
    source: str
    citation: str

    def as_dict(self) -> dict:
        """A plain dictionary, for a record."""
        return asdict(self)

    def __str__(self) -> str:
        what = {"subset": "a subset of its"}.get(self.kind, self.kind + ",")
        return (
            f"{self.title}: {self.taken} of {self.available} images ({what} {self.split} split), "
            f"{self.classes} classes, side {self.side}; licence: {self.licence}"
        )


@dataclass(frozen=True)
class Images:
    """images (N, H, W) or (N, H, W, 3) in uint8, labels (N,) from 0, class names, provenance."""

    images: np.ndarray
    labels: np.ndarray
    class_names: tuple[str, ...]
    provenance: Provenance

    def columns(self) -> np.ndarray:
        """Each image as a column of numbers from 0 to 1: (H * W [* 3], N), double precision.

        Examples
        --------
        >>> load("digits", per_class=2).columns().shape
        (64, 20)
        """
        return self.images.reshape(len(self.images), -1).T / 255.0


def names() -> tuple[str, ...]:
    """All data sets that can be asked for; "digits" is always there.

    Examples
    --------
    >>> names()[:3], len(names())
    (('digits', 'mnist', 'fashion_mnist'), 14)
    """
    return ("digits", *CATALOGUE)


def folder() -> Path:
    """The data folder: ``LOWDIM_DATA`` if it is set, otherwise the platform's cache folder.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", LOWDIM_DATA="/srv/sets"):
    ...     folder().name
    'sets'
    """
    chosen = os.environ.get("LOWDIM_DATA")
    return Path(chosen).expanduser() if chosen else Path(pooch.os_cache("lowdim")) / "data"


def available(at: Path | None = None) -> dict[str, str]:
    """What is at hand, by name: "built in", "official files" or "subset".

    Examples
    --------
    >>> available()["digits"]
    'built in'
    """
    at = folder() if at is None else Path(at)
    found = {"digits": "built in"}
    for name, entry in CATALOGUE.items():
        if any(_complete(entry, at / name, split) for split in entry.splits):
            found[name] = "official files"
        elif (at / f"{name}.npz").is_file():
            found[name] = "subset"
    return found


def load(
    name: str,
    *,
    split: str | None = None,
    per_class: int | None = None,
    classes: int | None = None,
    side: int | None = None,
    variant: str | None = None,
    seed: int = 0,
    at: Path | str | None = None,
    verify: bool = True,
) -> Images:
    """Read a data set from its official files, or from a subset of it.

    Parameters
    ----------
    name
        One of :func:`names`.
    split
        An official split. Left out, it is the first official one (training data), or all rows of a
        subset that does not hold that.
    per_class
        How many images of each class, drawn without replacement by ``seed`` and then shuffled; left
        out, all images in file order.
    classes
        Only the first so many classes.
    side
        Side of the square that images are brought to. Photographs have many sizes: 32 is theirs
        when nothing is said. Other images keep their own.
    variant
        EMNIST's division into classes: mnist, digits, letters, balanced, bymerge, byclass.
    at
        The data folder, instead of :func:`folder`.
    verify
        Compare checksums and counts with the published ones.

    Raises
    ------
    DataError
        If there are no files, or they are damaged, partial or mislabelled.
    ValueError
        If an argument is not one of the choices; they are listed.

    Examples
    --------
    >>> digits = load("digits", per_class=3, seed=1)
    >>> digits.images.shape, sorted(set(digits.labels.tolist())) == list(range(10))
    ((30, 8, 8), True)
    """
    checks.choice(name, names(), "name")
    for value, what in ((per_class, "per_class"), (classes, "classes"), (side, "side")):
        if value is not None:
            checks.whole(value, what, 1)
    if name == "digits":
        raw, kind, split, whole, checked = *_digits(split), True, True
        entry = None
    else:
        entry = CATALOGUE[name]
        if split is not None:
            checks.choice(split, (*entry.splits, "all"), "split")
        if variant is not None:
            checks.choice(variant, entry.variants or ("none",), "variant")
        raw, kind, split, whole, checked = _find(
            entry, split, variant, folder() if at is None else Path(at), verify
        )
    chosen = _choose(raw, per_class, classes, seed, entry.title if entry else "Digits")
    kept = len(raw.class_names) if classes is None else min(classes, len(raw.class_names))
    images = raw.images(chosen, side)
    record = Provenance(
        name=name,
        title=entry.title if entry else "scikit-learn's digits",
        kind=kind,
        split=split,
        files=tuple(path.name for path in raw.files),
        whole=whole,
        checked=checked,
        available=len(raw.labels),
        taken=len(chosen),
        classes=kept,
        per_class=per_class,
        seed=seed,
        side=int(images.shape[1]),
        licence=entry.licence if entry else "CC BY 4.0",
        source=entry.source if entry else "https://doi.org/10.24432/C50P49",
        citation=entry.citation if entry else "Alpaydin and Kaynak (1998)",
    )
    return Images(images, raw.labels[chosen], raw.class_names[:kept], record)


def _digits(split: str | None) -> tuple[Raw, str, str]:
    from sklearn.datasets import load_digits

    if split is not None:
        checks.choice(split, ("all",), "split")
    bunch = load_digits()
    images = np.floor(bunch.images * (255 / 16)).astype(np.uint8)
    raw = Raw(bunch.target.astype(np.int64), tuple("0123456789"), (), _held(images))
    return raw, "built in", "all"


def _find(
    entry: Entry, split: str | None, variant: str | None, at: Path, verify: bool
) -> tuple[Raw, str, str, bool, bool]:
    """Official files if they are there, else a subset, else a sentence that says what to do."""
    home, packed = at / entry.name, at / f"{entry.name}.npz"
    asked = split or entry.splits[0]
    if asked in entry.splits and _complete(entry, home, asked):
        raw = read(entry, home, asked, variant)
        if verify:
            _verify(entry, raw, asked, variant)
        return raw, "official files", asked, True, verify
    if packed.is_file():
        if variant not in (None, *entry.variants[:1]):
            raise DataError(f"{packed} is a subset without the variant '{variant}'.")
        raw, found = _subset(entry, packed, split)
        return raw, "subset", found, False, False
    if asked not in entry.splits and _complete(entry, home, entry.splits[0]):
        raise DataError(
            f"the official files of {entry.title} come in splits; "
            f"ask for one of: {', '.join(entry.splits)}."
        )
    raise DataError(
        f"{entry.title} is not in {at}: put its official files into {home} "
        f"({', '.join(wanted(entry, entry.splits[0]))}), or run 'lowdim data fetch {entry.name}'."
    )


def _complete(entry: Entry, home: Path, split: str) -> bool:
    """Whether there is, for each file that a split needs, that file or what it unpacks to."""

    def there(name: str) -> bool:
        stem = name.removesuffix(".gz").removesuffix(".bz2")
        stand_ins = [name, stem, stem.removesuffix(".tar")]
        if entry.unpacked and name == entry.files[0].name:
            stand_ins.append(entry.unpacked)
        if entry.name == "usps":
            stand_ins.append("usps.h5")
        return any((home / other).exists() for other in stand_ins)

    return home.is_dir() and all(there(name) for name in wanted(entry, split))


def _verify(entry: Entry, raw: Raw, split: str, variant: str | None) -> None:
    """Compare what was read with what is published: the files' sums, and how many images."""
    sums = {file.name: file.md5 for file in entry.files}
    for path in raw.files:
        if path.name in sums and path.is_file():
            status = path.stat()
            found = _md5(str(path), status.st_size, status.st_mtime_ns)
            if found != sums[path.name]:
                raise DataError(
                    f"{path} is not the published file: its MD5 sum is {found}, "
                    f"not {sums[path.name]}."
                )
    expected = entry.counts[split]
    if variant in (None, *entry.variants[:1]) and len(raw.labels) != expected:
        raise DataError(
            f"{entry.title}, {split}: {len(raw.labels)} images, but {expected} were published."
        )


@lru_cache(maxsize=64)
def _md5(path: str, size: int, modified: int) -> str:
    """The MD5 sum of a file; size and time of change make a changed file another one."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _subset(entry: Entry, path: Path, split: str | None) -> tuple[Raw, str]:
    """A file of `images`, `labels`, `class_names`, and perhaps `split`."""
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {key: file[key] for key in file.files}
    except Exception as error:
        raise DataError(f"{path} is damaged or not an .npz file: {error}.") from error
    if missing := [key for key in ("images", "labels", "class_names") if key not in content]:
        raise DataError(f"{path} has no {', '.join(missing)}; it holds {', '.join(content)}.")
    images, labels = content["images"], content["labels"]
    if images.dtype != np.uint8 or images.ndim not in (3, 4):
        raise DataError(
            f"{path}: images should be (N, H, W) or (N, H, W, 3) in uint8, "
            f"but are {images.shape} in {images.dtype}."
        )
    if labels.shape != (len(images),) or labels.dtype.kind not in "iu":
        raise DataError(f"{path}: {len(images)} images, but labels of shape {labels.shape}.")
    _check_labels(labels, len(content["class_names"]), entry.title)
    rows, found = slice(None), "all"
    splits = content.get("split")
    if splits is not None:
        there = sorted(set(splits.tolist()))
        found = "+".join(there)
        default = split is None and entry.splits[0] in there
        if split not in (None, "all") or default:
            found = split or entry.splits[0]
            if found not in there:
                raise DataError(f"{path} has no split '{found}'; it has: {', '.join(there)}.")
            rows = splits == found
    elif split not in (None, "all"):
        raise DataError(f"{path} does not say which split its images are from; ask for 'all'.")
    class_names = tuple(str(name) for name in content["class_names"])
    return Raw(labels[rows].astype(np.int64), class_names, (path,), _held(images[rows])), found


def _choose(
    raw: Raw, per_class: int | None, classes: int | None, seed: int, title: str
) -> np.ndarray:
    """Which rows: all in order, or so many of each class, drawn and shuffled by the seed."""
    kept = np.arange(len(raw.labels))
    if classes is not None:
        kept = kept[raw.labels < classes]
    if per_class is None:
        return kept
    chosen = []
    for label in range(min(len(raw.class_names), classes or len(raw.class_names))):
        rows = np.flatnonzero(raw.labels == label)
        if len(rows) < per_class:
            raise ValueError(
                f"{title} has {len(rows)} images of class '{raw.class_names[label]}', "
                f"but per_class is {per_class}."
            )
        draw = generator(seed, label, "per class")
        chosen.append(rows[draw.choice(len(rows), per_class, replace=False)])
    return generator(seed, 0, "order").permutation(np.concatenate(chosen))
