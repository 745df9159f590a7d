"""From official files to arrays, one reader for each format; whatever is wrong is said in one line.

A reader gets a folder that holds a data set's files, as published or unpacked, and returns a
:class:`Raw`. Files are believed only as far as they can be checked: magic numbers, lengths, ranges
of labels, and that every image has a label.
"""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import scipy.io
from numpy._core import multiarray
from PIL import Image, UnidentifiedImageError

from lowdim.data.images.catalogue import CATALOGUE, Entry

_DAMAGE = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


class DataError(ValueError):
    """A file is missing, damaged or not what its name says."""


@dataclass(frozen=True)
class Raw:
    """Labels (N,), class names, the files read, and the images when they are asked for.

    ``images`` takes the indices wanted and the side to bring photographs to, and returns
    (len, H, W) or (len, H, W, 3) in uint8.
    """

    labels: np.ndarray
    class_names: tuple[str, ...]
    files: tuple[Path, ...]
    images: Callable[[np.ndarray, int | None], np.ndarray]


def read(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    """Read one split; labels are checked against the classes.

    Examples
    --------
    >>> from lowdim.data.images.catalogue import CATALOGUE
    >>> read(CATALOGUE["usps"], Path("nowhere"), "test", None)
    Traceback (most recent call last):
    lowdim.data.images.readers.DataError: nowhere has none of: usps.t.bz2, usps.t, usps.h5.
    """
    reader = _READERS[entry.reader]
    try:
        raw = reader(entry, folder, split, variant)
    except _DAMAGE as error:
        raise DataError(f"{entry.title} in {folder} cannot be read: {error}.") from error
    _check_labels(raw.labels, len(raw.class_names), entry.title)
    return raw


def wanted(entry: Entry, split: str) -> tuple[str, ...]:
    """The official files that a split needs, as published.

    Examples
    --------
    >>> from lowdim.data.images.catalogue import CATALOGUE
    >>> wanted(CATALOGUE["usps"], "test")
    ('usps.t.bz2',)
    """
    names = [file.name for file in entry.files]
    if entry.reader == "idx":
        prefix = "train" if split == "train" else "t10k"
        names = [name for name in names if name.startswith(prefix)]
    elif entry.reader == "usps":
        names = ["usps.bz2" if split == "train" else "usps.t.bz2"]
    elif entry.reader == "svhn":
        names = [f"{split}_32x32.mat"]
    return tuple(names)


# --- files, folders and archives ------------------------------------------------------------------


def _one_of(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise DataError(f"{folder} has none of: {', '.join(names)}.")


def _bytes(path: Path) -> bytes:
    """The content of a file, unpacked if its name says that it is packed."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as stream:
                return stream.read()
        if path.suffix == ".bz2":
            with bz2.open(path) as stream:
                return stream.read()
        return path.read_bytes()
    except _DAMAGE as error:
        raise DataError(f"{path} is damaged or cut short: {error}.") from error


def _members(path: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Some members of a folder, tar or zip, in one pass; a missing one is named.

    Archives are read where they are and never unpacked; links in them are no members.
    """
    names = set(names)
    if out := sorted(name for name in names if name.startswith("/") or ".." in name.split("/")):
        raise DataError(f"the lists in {path} name {out[0]}, which is not inside it.")
    found: dict[str, bytes] = {}
    try:
        if path.is_dir():
            found = {name: (path / name).read_bytes() for name in names if (path / name).is_file()}
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                there = names & set(archive.namelist())
                found = {name: archive.read(name) for name in there}
        else:
            with tarfile.open(path) as archive:
                for member in archive:
                    name = member.name.removeprefix("./")
                    if name in names and member.isfile():
                        content = archive.extractfile(member)
                        assert content is not None  # as of every regular file
                        found[name] = content.read()
                    if len(found) == len(names):
                        break
    except _DAMAGE as error:
        raise DataError(f"{path} is damaged or cut short: {error}.") from error
    if missing := sorted(names - set(found)):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(f"{path} does not hold {missing[0]}{more}.")
    return found


def _names(path: Path) -> list[str]:
    """The names of all files in a folder or zip."""
    if path.is_dir():
        return sorted(str(p.relative_to(path)).replace("\\", "/") for p in path.rglob("*.*"))
    with zipfile.ZipFile(path) as archive:
        return sorted(archive.namelist())


def _photographs(path: Path, names: list[str]) -> Callable[[np.ndarray, int | None], np.ndarray]:
    """Images by name in a folder or archive, each squashed to a square of the side asked for."""

    def take(chosen: np.ndarray, side: int | None) -> np.ndarray:
        asked = [names[i] for i in chosen]
        content = _members(path, asked)
        out = np.empty((len(asked), side or 32, side or 32, 3), np.uint8)
        for row, name in enumerate(asked):
            try:
                with Image.open(io.BytesIO(content[name])) as image:
                    size = (out.shape[1], out.shape[2])
                    out[row] = np.asarray(
                        image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
                    )
            except (UnidentifiedImageError, OSError, SyntaxError) as error:
                raise DataError(f"{name} in {path} is not a sound image: {error}.") from error
        return out

    return take


def _held(images: np.ndarray) -> Callable[[np.ndarray, int | None], np.ndarray]:
    """Images that are in memory already, at their own size unless another is asked for."""

    def take(chosen: np.ndarray, side: int | None) -> np.ndarray:
        some = images[chosen]
        if side is None or some.shape[1:3] == (side, side):
            return some
        resized = [Image.fromarray(a).resize((side, side), Image.Resampling.LANCZOS) for a in some]
        return np.stack([np.asarray(image) for image in resized])

    return take


# --- checks ---------------------------------------------------------------------------------------


def _check_labels(labels: np.ndarray, classes: int, title: str) -> None:
    if len(labels) == 0:
        raise DataError(f"{title}: there are no labels.")
    if labels.min() < 0 or labels.max() >= classes:
        raise DataError(
            f"{title}: labels run from {labels.min()} to {labels.max()}, "
            f"but there are {classes} classes."
        )


def _same_number(images: int, labels: int, what: str) -> None:
    if images != labels:
        raise DataError(f"{what}: {images} images but {labels} labels.")


# --- formats --------------------------------------------------------------------------------------


def idx_array(content: bytes, name: str) -> np.ndarray:
    """An array from IDX bytes: magic number, big-endian sizes, then unsigned bytes.

    Raises
    ------
    DataError
        If the magic number is another one or the length does not fit the sizes.

    Examples
    --------
    >>> idx_array(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), "labels").tolist()
    [7, 9]
    """
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or content[3] not in (1, 3):
        raise DataError(f"{name} is not an IDX file of bytes: it begins with {content[:4].hex()}.")
    axes = content[3]
    if len(content) < 4 + 4 * axes:
        raise DataError(f"{name} is cut short: {len(content)} bytes do not hold its header.")
    shape = tuple(np.frombuffer(content, ">u4", axes, 4).astype(int))
    expected = 4 + 4 * axes + int(np.prod(shape))
    if len(content) != expected:
        raise DataError(
            f"{name} should have {expected} bytes for its sizes {tuple(map(int, shape))}, "
            f"but has {len(content)}."
        )
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def _idx_pair(images: tuple[bytes, str], labels: tuple[bytes, str]) -> tuple[np.ndarray, ...]:
    pictures, marks = idx_array(*images), idx_array(*labels)
    if pictures.ndim != 3 or marks.ndim != 1:
        raise DataError(
            f"{images[1]} and {labels[1]} should hold images and labels, but have "
            f"{pictures.ndim} and {marks.ndim} axes: were they exchanged?"
        )
    _same_number(len(pictures), len(marks), images[1])
    return pictures, marks.astype(np.int64)


def _idx(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    prefix = "train" if split == "train" else "t10k"
    paths = [
        _one_of(folder, f"{prefix}-{kind}-ubyte.gz", f"{prefix}-{kind}-ubyte")
        for kind in ("images-idx3", "labels-idx1")
    ]
    images, labels = _idx_pair(*((_bytes(path), path.name) for path in paths))
    return Raw(labels, entry.class_names, tuple(paths), _held(images))


def _emnist_classes(variant: str) -> tuple[str, ...]:
    digits, upper, lower = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
    if variant in ("mnist", "digits"):
        return tuple(digits)
    if variant == "letters":
        return tuple(lower)
    merged = [c for c in lower if variant == "byclass" or c not in "cijklmopsuvwxyz"]
    return (*digits, *upper, *merged)


def _emnist(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    variant = variant or entry.variants[0]
    source = _one_of(folder, "gzip.zip", "gzip")
    inside = "gzip/" if source.suffix == ".zip" else ""
    names = [
        f"{inside}emnist-{variant}-{split}-{kind}-ubyte.gz"
        for kind in ("images-idx3", "labels-idx1")
    ]
    packed = _members(source, names)
    try:
        pair = [(gzip.decompress(packed[name]), name) for name in names]
    except _DAMAGE as error:
        raise DataError(f"{names[0]} in {source} is damaged: {error}.") from error
    images, labels = _idx_pair(*pair)
    if variant == "letters":
        labels = labels - 1  # published from 1
    return Raw(labels, _emnist_classes(variant), (source,), _held(images))


class _Plain(pickle.Unpickler):
    """A pickle of plain values and numpy arrays; anything else is refused, and never run."""

    def find_class(self, module: str, name: str) -> object:
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return multiarray._reconstruct
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):
            import codecs

            return codecs.encode
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _cifar10(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    source = _one_of(folder, "cifar-10-python.tar.gz", "cifar-10-batches-py")
    inside = "" if source.is_dir() else "cifar-10-batches-py/"
    batches = [f"data_batch_{k}" for k in range(1, 6)] if split == "train" else ["test_batch"]
    content = _members(source, [inside + name for name in batches])
    images, labels = [], []
    for name in batches:
        try:
            batch = _Plain(io.BytesIO(content[inside + name]), encoding="latin1").load()
            rows, marks = batch["data"], batch["labels"]
        except Exception as error:
            raise DataError(f"{name} in {source} is not a CIFAR batch: {error}.") from error
        if getattr(rows, "shape", (0, 0))[1:] != (3072,) or rows.dtype != np.uint8:
            raise DataError(f"{name} in {source} should hold rows of 3072 bytes.")
        _same_number(len(rows), len(marks), name)
        images.append(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        labels.extend(marks)
    return Raw(
        np.array(labels, np.int64), entry.class_names, (source,), _held(np.concatenate(images))
    )


def _svhn(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    path = _one_of(folder, f"{split}_32x32.mat")
    content = _mat(path)
    if not {"X", "y"} <= set(content) or content["X"].shape[:3] != (32, 32, 3):
        raise DataError(f"{path} should hold X of shape (32, 32, 3, N) and y.")
    images, labels = content["X"].transpose(3, 0, 1, 2), content["y"].ravel().astype(np.int64)
    _same_number(len(images), len(labels), path.name)
    if labels.min() < 1 or labels.max() > 10:
        raise DataError(f"{path}: labels should run from 1 to 10.")
    return Raw(labels % 10, entry.class_names, (path,), _held(images))  # 10 stands for the digit 0


def _mat(path: Path) -> dict:
    try:
        return scipy.io.loadmat(path)
    except Exception as error:
        raise DataError(f"{path} is damaged or not a MATLAB file: {error}.") from error


def _stl10(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    source = _one_of(folder, "stl10_binary.tar.gz", "stl10_binary")
    inside = "" if source.is_dir() else "stl10_binary/"
    names = [inside + f"{split}_{kind}.bin" for kind in "Xy"]
    content = _members(source, names)
    pixels = np.frombuffer(content[names[0]], np.uint8)
    labels = np.frombuffer(content[names[1]], np.uint8).astype(np.int64) - 1  # published from 1
    if pixels.size % 27_648:
        raise DataError(f"{names[0]} in {source} is cut short: {pixels.size} bytes.")
    images = pixels.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)  # columns come first
    _same_number(len(images), len(labels), names[0])
    return Raw(labels, entry.class_names, (source,), _held(images))


def _usps(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    packed = "usps.bz2" if split == "train" else "usps.t.bz2"
    path = _one_of(folder, packed, packed.removesuffix(".bz2"), "usps.h5")
    if path.suffix == ".h5":
        try:
            with h5py.File(path) as file:
                values = np.asarray(file[split]["data"])
                labels = np.asarray(file[split]["target"]).astype(np.int64)
        except (OSError, KeyError) as error:
            raise DataError(f"{path} is damaged or has no {split} split: {error}.") from error
    else:
        values, labels = _libsvm(_bytes(path), path)
        values, labels = (values + 1) / 2, labels - 1  # published from -1 to 1, and from 1
    if values.ndim != 2 or values.shape[1] != 256 or values.min() < 0 or values.max() > 1:
        raise DataError(f"{path} should hold rows of 256 grey values in its range.")
    _same_number(len(values), len(labels), path.name)
    images = np.floor(255 * values).astype(np.uint8).reshape(-1, 16, 16)
    return Raw(labels, entry.class_names, (path,), _held(images))


def _libsvm(content: bytes, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `label index:value …`, with every index from 1 to 256 present."""
    labels, rows = [], []
    for number, line in enumerate(content.decode("ascii", "replace").splitlines(), 1):
        mark, *pairs = line.split()
        try:
            row = [pair.split(":") for pair in pairs]
            assert [int(index) for index, _ in row] == list(range(1, 257))
            rows.append([float(value) for _, value in row])
            labels.append(int(mark))
        except (ValueError, AssertionError):
            raise DataError(f"line {number} of {path} is not a label and 256 values.") from None
    return np.array(rows), np.array(labels, np.int64)


def _flowers102(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    source = _one_of(folder, "102flowers.tgz", "jpg")
    sets, marks = _one_of(folder, "setid.mat"), _one_of(folder, "imagelabels.mat")
    key = {"train": "trnid", "val": "valid", "test": "tstid"}[split]
    ids, labels = _mat(sets).get(key), _mat(marks).get("labels")
    if ids is None or labels is None:
        raise DataError(f"{sets} should hold {key}, and {marks} labels.")
    ids, labels = ids.ravel().astype(int), labels.ravel().astype(np.int64) - 1
    if ids.min() < 1 or ids.max() > len(labels):
        raise DataError(f"{sets} names image {ids.max()}, but {marks} has {len(labels)} labels.")
    inside = "" if source.is_dir() else "jpg/"
    names = [f"{inside}image_{i:05d}.jpg" for i in ids]
    return Raw(
        labels[ids - 1], entry.class_names, (source, sets, marks), _photographs(source, names)
    )


def _food101(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    source = _one_of(folder, "food-101.tar.gz", "food-101")
    inside = "" if source.is_dir() else "food-101/"
    wanted = [f"{inside}meta/classes.txt", f"{inside}meta/{split}.txt"]
    meta = _members(source, wanted)
    classes = tuple(meta[wanted[0]].decode().split())
    labels, names = _by_class(meta[wanted[1]].decode(), classes, f"meta/{split}.txt", source)
    files = [f"{inside}images/{name}.jpg" for name in names]
    return Raw(labels, classes, (source,), _photographs(source, files))


def _dtd(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    source = _one_of(folder, "dtd-r1.0.1.tar.gz", "dtd")
    inside = "" if source.is_dir() else "dtd/"
    lists = {name: f"{inside}labels/{name}1.txt" for name in ("train", "val", "test")}
    texts = {name: text.decode() for name, text in _members(source, lists.values()).items()}
    classes = tuple(sorted({line.partition("/")[0] for t in texts.values() for line in t.split()}))
    labels, names = _by_class(texts[lists[split]], classes, f"labels/{split}1.txt", source)
    return Raw(
        labels, classes, (source,), _photographs(source, [f"{inside}images/{n}" for n in names])
    )


def _by_class(
    text: str, classes: tuple[str, ...], listing: str, source: Path
) -> tuple[np.ndarray, list[str]]:
    """Labels and names from lines of `class/name`."""
    lines, number = text.split(), {name: k for k, name in enumerate(classes)}
    for line in lines:
        if line.count("/") != 1 or line.partition("/")[0] not in number:
            raise DataError(
                f"{listing} in {source}: '{line}' is not one of its classes and a name."
            )
    return np.array([number[line.partition("/")[0]] for line in lines], np.int64), lines


def _oxford_pets(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    pictures = _one_of(folder, "images.tar.gz", "images")
    notes = _one_of(folder, "annotations.tar.gz", "annotations")
    inside = "" if notes.is_dir() else "annotations/"
    lists = [f"{inside}{name}.txt" for name in ("trainval", "test")]
    texts = _members(notes, lists)
    rows = [line.split() for line in texts[f"{inside}{split}.txt"].decode().splitlines()]
    rows = [row for row in rows if row and not row[0].startswith("#")]
    if bad := [row for row in rows if len(row) != 4 or not row[1].isdigit()]:
        raise DataError(f"{split}.txt in {notes}: '{' '.join(bad[0])}' is not a name and numbers.")
    labels = np.array([int(row[1]) for row in rows], np.int64) - 1
    known = {int(row[1]): row[0].rpartition("_")[0] for row in rows}
    classes = tuple(known.get(k, str(k)) for k in range(1, max(known) + 1))
    inside = "" if pictures.is_dir() else "images/"
    files = [f"{inside}{row[0]}.jpg" for row in rows]
    return Raw(labels, classes, (pictures, notes), _photographs(pictures, files))


def _eurosat(entry: Entry, folder: Path, split: str, variant: str | None) -> Raw:
    source = _one_of(folder, "EuroSAT.zip", "2750")
    inside = "" if source.is_dir() else "2750/"
    number = {name: k for k, name in enumerate(entry.class_names)}
    files, labels = [], []
    for name in _names(source):
        if not name.startswith(inside) or not name.endswith(".jpg"):
            continue
        folder_name = name.removeprefix(inside).partition("/")[0]
        if folder_name not in number:
            raise DataError(f"{source} holds {name}, which is in none of its ten classes.")
        files.append(name)
        labels.append(number[folder_name])
    return Raw(
        np.array(labels, np.int64), entry.class_names, (source,), _photographs(source, files)
    )


_READERS = {
    "idx": _idx, "emnist": _emnist, "cifar10": _cifar10, "svhn": _svhn, "stl10": _stl10,
    "usps": _usps, "flowers102": _flowers102, "food101": _food101, "dtd": _dtd,
    "oxford_pets": _oxford_pets, "eurosat": _eurosat,
}  # fmt: skip
assert {entry.reader for entry in CATALOGUE.values()} == set(_READERS)
