"""Real data: official formats byte by byte, damage of every kind, subsets, and downloads."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import http.server
import io
import os
import pickle
import struct
import tarfile
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import h5py
import numpy as np
import pytest
import scipy.io
from lowdim.data import images
from lowdim.data.images import DataError, catalogue, download, load, readers
from lowdim.publish import cli
from PIL import Image


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def idx(array: np.ndarray) -> bytes:
    """IDX by its definition: two zero bytes, 8 for bytes, the number of axes, sizes, data."""
    sizes = b"".join(struct.pack(">I", size) for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


def tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def jpeg(colour: tuple[int, int, int], size: tuple[int, int] = (40, 30)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "JPEG", quality=95)
    return stream.getvalue()


def colours(count: int) -> list[tuple[int, int, int]]:
    return [(20 * (k % 12), 255 - 20 * (k % 12), 15 * (k % 16)) for k in range(count)]


def near(images: np.ndarray, expected: list[tuple[int, int, int]]) -> bool:
    """Plain images survive JPEG up to a few grey levels."""
    mean = images.reshape(len(images), -1, 3).mean(1)
    return np.abs(mean - np.array(expected)).max() < 6


# --- official formats -----------------------------------------------------------------------------


@pytest.fixture
def mnist(tmp_path, rng):
    home = tmp_path / "mnist"
    home.mkdir()
    images = rng.integers(0, 256, (30, 28, 28))
    labels = np.arange(30) % 10
    (home / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
    (home / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    return tmp_path, images, labels


@pytest.mark.parametrize("packed", [True, False])
def test_idx_files_are_read_as_they_were_written(mnist, packed):
    folder, images, labels = mnist
    if not packed:
        for path in (folder / "mnist").glob("*.gz"):
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            path.unlink()
    found = load("mnist", at=folder, verify=False)
    assert (found.images == images).all()
    assert (found.labels == labels).all()
    assert found.class_names == tuple("0123456789")
    kept = found.provenance
    assert (kept.kind, kept.split, kept.whole, kept.checked) == (
        "official files",
        "train",
        True,
        False,
    )
    np.testing.assert_allclose(found.columns()[:, 3], images[3].ravel() / 255)
    with pytest.raises(DataError, match="ask for one of: train, test"):
        load("mnist", split="all", at=folder)


def test_published_checksums_and_counts_are_compared(mnist, monkeypatch):
    folder, *_ = mnist
    with pytest.raises(DataError, match="is not the published file: its MD5 sum is"):
        load("mnist", at=folder)
    entry = catalogue.CATALOGUE["mnist"]
    files = tuple(
        replace(f, md5=hashlib.md5(path.read_bytes()).hexdigest())
        if (path := folder / "mnist" / f.name).exists() else f
        for f in entry.files
    )  # fmt: skip
    monkeypatch.setitem(catalogue.CATALOGUE, "mnist", replace(entry, files=files))
    with pytest.raises(DataError, match="30 images, but 60000 were published"):
        load("mnist", at=folder)
    monkeypatch.setitem(
        catalogue.CATALOGUE, "mnist", replace(entry, files=files, counts={"train": 30, "test": 9})
    )
    assert load("mnist", at=folder).provenance.checked


@pytest.mark.parametrize(
    ("file", "spoil", "words"),
    [
        ("images-idx3", lambda c: gzip.compress(gzip.decompress(c)[:-5]), "should have"),
        ("images-idx3", lambda c: c[: len(c) // 2], "damaged or cut short"),
        ("images-idx3", lambda c: b"not gzip at all", "damaged or cut short"),
        (
            "images-idx3",
            lambda c: gzip.compress(b"\x00\x00\x0d\x03" + bytes(40)),
            "not an IDX file",
        ),
        (
            "images-idx3",
            lambda c: gzip.compress(b"\x00\x00\x08\x03\x00"),
            "do not hold its header",
        ),
        ("images-idx3", lambda c: gzip.compress(idx(np.zeros(30))), "were they exchanged"),
        ("labels-idx1", lambda c: gzip.compress(idx(np.zeros(29))), "30 images but 29 labels"),
        ("labels-idx1", lambda c: gzip.compress(idx(np.full(30, 10))), "labels run from 10 to 10"),
    ],
)
def test_damaged_idx_files_are_named(mnist, file, spoil, words):
    folder, *_ = mnist
    path = folder / "mnist" / f"train-{file}-ubyte.gz"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DataError, match=words):
        load("mnist", at=folder, verify=False)


def test_a_missing_file_or_set_says_where_it_belongs(mnist):
    folder, *_ = mnist
    (folder / "mnist" / "train-labels-idx1-ubyte.gz").unlink()
    for name in ("mnist", "svhn"):
        with pytest.raises(DataError, match=f"lowdim data fetch {name}"):
            load(name, at=folder)


@pytest.mark.parametrize("variant", ["mnist", "letters", "balanced", "byclass"])
@pytest.mark.parametrize("packed", [True, False])
def test_emnist_in_its_zip_and_unpacked(tmp_path, rng, variant, packed):
    home = tmp_path / "emnist"
    home.mkdir()
    classes = {"mnist": 10, "letters": 26, "balanced": 47, "byclass": 62}[variant]
    first = int(variant == "letters")  # letters are numbered from 1
    images = rng.integers(0, 256, (classes, 28, 28))
    members = {
        f"emnist-{variant}-train-images-idx3-ubyte.gz": gzip.compress(idx(images)),
        f"emnist-{variant}-train-labels-idx1-ubyte.gz": gzip.compress(
            idx(np.arange(first, classes + first))
        ),
    }
    if packed:
        with zipfile.ZipFile(home / "gzip.zip", "w") as archive:
            for name, content in members.items():
                archive.writestr("gzip/" + name, content)
    else:
        (home / "gzip").mkdir()
        for name, content in members.items():
            (home / "gzip" / name).write_bytes(content)
    found = load("emnist", variant=variant, at=tmp_path, verify=False)
    assert (found.images == images).all()
    assert found.labels.tolist() == list(range(classes))
    assert len(found.class_names) == classes
    with pytest.raises(DataError, match="does not hold"):
        load("emnist", split="test", variant=variant, at=tmp_path, verify=False)


def cifar_batch(rng, count: int) -> tuple[np.ndarray, bytes]:
    rows = rng.integers(0, 256, (count, 3072)).astype(np.uint8)
    return rows, pickle.dumps({"data": rows, "labels": [k % 10 for k in range(count)]}, protocol=2)


@pytest.mark.parametrize("packed", [True, False])
def test_cifar_batches(tmp_path, rng, packed):
    home = tmp_path / "cifar10"
    home.mkdir()
    batches = {f"data_batch_{k}": cifar_batch(rng, 4) for k in range(1, 6)}
    members = {f"cifar-10-batches-py/{name}": content for name, (_, content) in batches.items()}
    if packed:
        tar(home / "cifar-10-python.tar.gz", members)
    else:
        (home / "cifar-10-batches-py").mkdir()
        for name, content in members.items():
            (home / name).write_bytes(content)
    found = load("cifar10", at=tmp_path, verify=False)
    rows = np.concatenate([rows for rows, _ in batches.values()])
    # a row is the red, green and blue planes, each row by row
    for i, y, x, channel in ((0, 0, 0, 0), (7, 31, 5, 1), (19, 3, 30, 2)):
        assert found.images[i, y, x, channel] == rows[i, 1024 * channel + 32 * y + x]
    assert found.labels.tolist() == [0, 1, 2, 3] * 5


def test_a_pickle_that_wants_to_run_something_is_refused(tmp_path, rng):
    home = tmp_path / "cifar10" / "cifar-10-batches-py"
    home.mkdir(parents=True)
    mark = tmp_path / "run"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(mark),)

    for k in range(1, 6):
        (home / f"data_batch_{k}").write_bytes(pickle.dumps({"data": Evil(), "labels": []}))
    with pytest.raises(DataError, match="is not a CIFAR batch: it asks for"):
        load("cifar10", at=tmp_path, verify=False)
    assert not mark.exists()


@pytest.mark.parametrize("what", ["short", "labels", "shape", "archive"])
def test_damaged_cifar_is_named(tmp_path, rng, what):
    home = tmp_path / "cifar10"
    home.mkdir()
    rows, good = cifar_batch(rng, 4)
    bad = {
        "short": good[:-20],
        "labels": pickle.dumps({"data": rows, "labels": [0, 1, 2]}),
        "shape": pickle.dumps({"data": rows[:, :99], "labels": [0, 1, 2, 3]}),
        "archive": good,
    }[what]
    members = {f"cifar-10-batches-py/data_batch_{k}": good for k in range(1, 5)}
    path = home / "cifar-10-python.tar.gz"
    tar(path, members | {"cifar-10-batches-py/data_batch_5": bad})
    if what == "archive":
        path.write_bytes(path.read_bytes()[:2000])
    words = {"short": "not a CIFAR batch", "labels": "4 images but 3 labels", "shape": "3072 bytes"}
    with pytest.raises(DataError, match=words.get(what, "damaged or cut short")):
        load("cifar10", at=tmp_path, verify=False)


def test_svhn_counts_zero_as_ten(tmp_path, rng):
    home = tmp_path / "svhn"
    home.mkdir()
    images = rng.integers(0, 256, (32, 32, 3, 12)).astype(np.uint8)
    labels = (np.arange(12) % 10 + 1)[:, None]
    scipy.io.savemat(home / "test_32x32.mat", {"X": images, "y": labels})
    found = load("svhn", split="test", at=tmp_path, verify=False)
    assert (found.images[5] == images[..., 5]).all()
    assert found.labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]
    scipy.io.savemat(home / "test_32x32.mat", {"X": images, "y": labels - 1})
    with pytest.raises(DataError, match="from 1 to 10"):
        load("svhn", split="test", at=tmp_path, verify=False)
    scipy.io.savemat(home / "test_32x32.mat", {"X": images})
    with pytest.raises(DataError, match="should hold X"):
        load("svhn", split="test", at=tmp_path, verify=False)
    (home / "test_32x32.mat").write_bytes(b"no matlab here")
    with pytest.raises(DataError, match="not a MATLAB file"):
        load("svhn", split="test", at=tmp_path, verify=False)


def test_stl_puts_columns_first(tmp_path, rng):
    home = tmp_path / "stl10"
    home.mkdir()
    pixels = rng.integers(0, 256, (3, 3, 96, 96)).astype(np.uint8)  # image, channel, column, row
    members = {
        "stl10_binary/train_X.bin": pixels.tobytes(),
        "stl10_binary/train_y.bin": bytes([1, 10, 4]),
    }
    tar(home / "stl10_binary.tar.gz", members)
    found = load("stl10", at=tmp_path, verify=False)
    assert found.images[1, 7, 50, 2] == pixels[1, 2, 50, 7]
    assert found.labels.tolist() == [0, 9, 3]
    tar(home / "stl10_binary.tar.gz", members | {"stl10_binary/train_X.bin": pixels.tobytes()[:-1]})
    with pytest.raises(DataError, match="is cut short"):
        load("stl10", at=tmp_path, verify=False)


def libsvm(values: np.ndarray, labels: list[int]) -> bytes:
    lines = (
        f"{label} " + " ".join(f"{k}:{v:.6g}" for k, v in enumerate(row, 1))
        for label, row in zip(labels, values, strict=True)
    )
    return "\n".join(lines).encode() + b"\n"


def test_usps_in_both_forms(tmp_path, rng):
    home = tmp_path / "usps"
    home.mkdir()
    values = rng.uniform(-1, 1, (6, 256)).round(4)
    (home / "usps.bz2").write_bytes(bz2.compress(libsvm(values, [1, 2, 3, 4, 5, 10])))
    found = load("usps", at=tmp_path, verify=False)
    assert found.labels.tolist() == [0, 1, 2, 3, 4, 9]
    expected = np.floor(255 * (values + 1) / 2).reshape(6, 16, 16)
    assert np.abs(found.images.astype(int) - expected).max() <= 1
    (home / "usps.bz2").write_bytes(bz2.compress(b"3 1:0.5 3:0.1\n"))
    with pytest.raises(DataError, match="line 1 of"):
        load("usps", at=tmp_path, verify=False)
    (home / "usps.bz2").unlink()
    with h5py.File(home / "usps.h5", "w") as file:
        for split, rows in (("train", (values + 1) / 2), ("test", (values[:2] + 1) / 2)):
            group = file.create_group(split)
            group["data"], group["target"] = rows, np.arange(len(rows))
    assert (load("usps", at=tmp_path, verify=False).images == found.images).all()
    assert len(load("usps", split="test", at=tmp_path, verify=False).labels) == 2
    (home / "usps.h5").write_bytes(b"no")
    with pytest.raises(DataError, match="damaged or has no train split"):
        load("usps", at=tmp_path, verify=False)


def photographs(tmp_path, name: str) -> tuple[list, list]:
    """A tiny copy of each set of photographs in its official form; colours and labels expected."""
    home = tmp_path / name
    home.mkdir()
    shades = colours(6)
    pictures = [jpeg(shade, (30 + k, 20 + 2 * k)) for k, shade in enumerate(shades)]
    if name == "eurosat":
        classes = catalogue.CATALOGUE[name].class_names
        with zipfile.ZipFile(home / "EuroSAT.zip", "w") as archive:
            for k, picture in enumerate(pictures):
                archive.writestr(f"2750/{classes[k]}/{classes[k]}_{k}.jpg", picture)
        return shades, list(range(6))
    if name == "flowers102":
        tar(
            home / "102flowers.tgz",
            {f"jpg/image_{k + 1:05d}.jpg": p for k, p in enumerate(pictures)},
        )
        scipy.io.savemat(home / "imagelabels.mat", {"labels": [[5, 5, 102, 1, 7, 9]]})
        scipy.io.savemat(
            home / "setid.mat", {"trnid": [[3, 1]], "valid": [[2]], "tstid": [[4, 5, 6]]}
        )
        return [shades[2], shades[0]], [101, 4]
    if name == "food101":
        members = {f"food-101/images/{'ab'[k % 2]}/{k}.jpg": p for k, p in enumerate(pictures)}
        members |= {"food-101/meta/classes.txt": b"a\nb\n", "food-101/meta/test.txt": b"a/4\n"}
        tar(home / "food-101.tar.gz", members | {"food-101/meta/train.txt": b"b/1\na/0\nb/3\n"})
        return [shades[1], shades[0], shades[3]], [1, 0, 1]
    if name == "dtd":
        members = {f"dtd/images/{'ab'[k % 2]}/{k}.jpg": p for k, p in enumerate(pictures)}
        members |= {"dtd/labels/train1.txt": b"a/2.jpg\nb/5.jpg\n"}
        tar(
            home / "dtd-r1.0.1.tar.gz",
            members | {"dtd/labels/val1.txt": b"a/0.jpg\n", "dtd/labels/test1.txt": b"b/1.jpg\n"},
        )
        return [shades[2], shades[5]], [0, 1]
    tar(
        home / "images.tar.gz", {f"images/{'Ab'[k % 2]}_{k}.jpg": p for k, p in enumerate(pictures)}
    )
    lists = {
        "annotations/trainval.txt": b"# name class species breed\nA_0 1 1 1\nb_3 2 2 1\n",
        "annotations/test.txt": b"A_2 1 1 1\n",
    }
    tar(home / "annotations.tar.gz", lists)
    return [shades[0], shades[3]], [0, 1]


@pytest.mark.parametrize("name", ["eurosat", "flowers102", "food101", "dtd", "oxford_pets"])
@pytest.mark.parametrize("packed", [True, False])
def test_photographs_by_their_official_lists(tmp_path, name, packed):
    shades, labels = photographs(tmp_path, name)
    home = tmp_path / name
    if not packed:
        for path in list(home.iterdir()):
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    archive.extractall(home)
            elif path.suffix in (".gz", ".tgz"):
                with tarfile.open(path) as archive:
                    archive.extractall(home, filter="data")
            if path.suffix != ".mat":
                path.unlink()
    found = load(name, at=tmp_path, verify=False)
    assert found.images.shape == (len(labels), 32, 32, 3)
    assert found.labels.tolist() == labels
    assert near(found.images, shades)
    assert load(name, at=tmp_path, side=16, verify=False).images.shape[1:3] == (16, 16)


def test_lists_and_pictures_must_agree(tmp_path):
    photographs(tmp_path, "food101")
    path = tmp_path / "food101" / "food-101.tar.gz"
    with tarfile.open(path) as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive}
    for change, words in (
        ({"food-101/meta/train.txt": b"b/77\n"}, "does not hold food-101/images/b/77.jpg"),
        ({"food-101/meta/train.txt": b"c/1\n"}, "'c/1' is not one of its classes"),
        ({"food-101/images/b/1.jpg": b"no picture"}, "is not a sound image"),
        (
            {"food-101/images/b/1.jpg": members["food-101/images/b/1.jpg"][:400]},
            "not a sound image",
        ),
    ):
        tar(path, members | change)
        with pytest.raises(DataError, match=words):
            load("food101", at=tmp_path, verify=False)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", ["../../secret", "/secret", "a/../../../secret"])
def test_a_list_that_names_what_is_outside_is_refused(tmp_path, packed, name):
    photographs(tmp_path, "oxford_pets")
    home = tmp_path / "oxford_pets"
    (tmp_path / "secret.jpg").write_bytes(jpeg((1, 2, 3)))
    lists = {
        f"annotations/{split}.txt": f"{name} 1 1 1\n".encode() for split in ("test", "trainval")
    }
    tar(home / "annotations.tar.gz", lists)
    if not packed:
        for part in ("images", "annotations"):
            with tarfile.open(home / f"{part}.tar.gz") as archive:
                archive.extractall(home, filter="data")
            (home / f"{part}.tar.gz").unlink()
    with pytest.raises(DataError, match=r"not inside it|does not hold images//secret"):
        load("oxford_pets", at=tmp_path, verify=False)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_an_archive_that_climbs_or_links_writes_and_reads_nothing_outside(tmp_path, rng, kind):
    home = tmp_path / "data" / "cifar10"
    home.mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_bytes(cifar_batch(rng, 4)[1])
    batches = {f"cifar-10-batches-py/data_batch_{k}": cifar_batch(rng, 4)[1] for k in range(1, 6)}
    path = home / "cifar-10-python.tar.gz"
    tar(path, {"../../climbed": b"x", "/tmp/lowdim-climbed": b"x", **batches})
    assert len(load("cifar10", at=tmp_path / "data", verify=False).labels) == 20
    assert sorted(left(tmp_path)) == ["data", "data/cifar10", "data/cifar10/" + path.name, "secret"]
    assert not Path("/tmp/lowdim-climbed").exists()
    with tarfile.open(path, "w:gz") as archive:
        for name, content in list(batches.items())[:4]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("cifar-10-batches-py/data_batch_5")
        link.type, link.linkname = kind, str(secret)
        archive.addfile(link)
    with pytest.raises(DataError, match="does not hold cifar-10-batches-py/data_batch_5"):
        load("cifar10", at=tmp_path / "data", verify=False)


def test_every_set_has_a_reader_files_and_checksums():
    assert len(catalogue.CATALOGUE) == 13
    for entry in catalogue.CATALOGUE.values():
        assert entry.reader in readers._READERS
        for split in entry.splits:
            assert set(readers.wanted(entry, split)) <= {file.name for file in entry.files}
        for file in entry.files:
            assert len(file.md5) == 32
            assert int(file.md5, 16) >= 0
            assert file.url.endswith(file.name)
    sums = [file.md5 for entry in catalogue.CATALOGUE.values() for file in entry.files]
    assert len(set(sums)) == len(sums)


# --- choosing -------------------------------------------------------------------------------------


def test_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits

    found = load("digits")
    bunch = load_digits()
    assert (found.labels == bunch.target).all()
    np.testing.assert_allclose(found.columns().T, bunch.data / 16, atol=1 / 255)
    assert found.provenance.kind == "built in"


def test_per_class_draws_by_seed_and_never_twice():
    one, again, other = (load("digits", per_class=20, seed=s) for s in (1, 1, 2))
    assert (one.images == again.images).all()
    assert (one.images != other.images).any()
    assert np.bincount(one.labels).tolist() == [20] * 10
    assert (np.diff(one.labels) != 0).sum() > 100  # shuffled, not sorted
    every = load("digits")
    rows = {image.tobytes() for image in every.images}
    assert all(image.tobytes() in rows for image in one.images)
    few = load("digits", classes=3, per_class=5)
    assert set(few.labels.tolist()) == {0, 1, 2}
    assert few.class_names == ("0", "1", "2")
    assert few.provenance.classes == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "mnits"}, "mnist"),
        ({"name": "digits", "split": "train"}, "all"),
        ({"name": "digits", "per_class": 0}, "per_class"),
        ({"name": "digits", "per_class": 500}, "but per_class is 500"),
        ({"name": "mnist", "split": "extra"}, "'train', 'test', 'all'"),
        ({"name": "emnist", "variant": "x"}, "letters"),
        ({"name": "digits", "side": -1}, "side"),
    ],
)
def test_bad_requests_get_the_choices(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        load(**options, at=tmp_path)


# --- subsets --------------------------------------------------------------------------------------


def subset(path: Path, **change) -> dict:
    rng = np.random.default_rng(1)
    content = {
        "images": rng.integers(0, 256, (8, 28, 28)).astype(np.uint8),
        "labels": np.arange(8) % 4,
        "class_names": np.array(list("abcd")),
        "split": np.array(["train"] * 6 + ["test"] * 2),
    } | change
    np.savez(path, **{k: v for k, v in content.items() if v is not None})
    return content


def test_a_subset_says_that_it_is_one(tmp_path):
    content = subset(tmp_path / "mnist.npz")
    found = load("mnist", at=tmp_path)
    assert (found.images == content["images"][:6]).all()
    assert found.class_names == tuple("abcd")
    kept = found.provenance
    assert (kept.kind, kept.whole, kept.split, kept.available) == ("subset", False, "train", 6)
    assert "a subset of its train split" in str(kept)
    assert len(load("mnist", split="test", at=tmp_path).labels) == 2
    assert len(load("mnist", split="all", at=tmp_path).labels) == 8
    assert images.available(tmp_path) == {"digits": "built in", "mnist": "subset"}
    # one that holds another split than the default gives what it has, and says so
    subset(tmp_path / "mnist.npz", split=np.array(["test"] * 8))
    assert load("mnist", at=tmp_path).provenance.split == "test"
    with pytest.raises(DataError, match="has no split 'train'; it has: test"):
        load("mnist", split="train", at=tmp_path)
    subset(tmp_path / "mnist.npz", split=None)
    with pytest.raises(DataError, match="ask for 'all'"):
        load("mnist", split="train", at=tmp_path)
    assert len(load("mnist", at=tmp_path).labels) == 8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.arange(7) % 4}, "8 images, but labels of shape"),
        ({"labels": np.arange(8)}, "labels run from 0 to 7, but there are 4 classes"),
        ({"labels": None}, "has no labels"),
        ({"images": np.zeros((8, 28, 28))}, "in uint8"),
        ({"labels": np.full(8, 0.5)}, "labels of shape"),
    ],
)
def test_a_wrong_subset_is_refused(tmp_path, change, words):
    subset(tmp_path / "mnist.npz", **change)
    with pytest.raises(DataError, match=words):
        load("mnist", at=tmp_path)


def test_a_damaged_subset_is_refused(tmp_path):
    subset(tmp_path / "mnist.npz")
    content = (tmp_path / "mnist.npz").read_bytes()
    (tmp_path / "mnist.npz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"not an \.npz file"):
        load("mnist", at=tmp_path)


# --- genuine files, where there are any -----------------------------------------------------------


@pytest.mark.parametrize("name", list(catalogue.CATALOGUE))
def test_genuine_data_where_it_is_at_hand(name):
    kind = images.available().get(name)
    if kind is None:
        pytest.skip(f"{name} is not in {images.folder()} (LOWDIM_DATA names another folder)")
    found = load(name, per_class=20)
    assert len(found.labels) == 20 * len(found.class_names)
    assert found.images.dtype == np.uint8
    assert found.images.std() > 20  # pictures, not padding
    # images of a class are nearer to its mean than chance has it
    flat = found.columns().T
    means = np.stack([flat[found.labels == k].mean(0) for k in range(len(found.class_names))])
    nearest = ((flat[:, None] - means) ** 2).sum(-1).argmin(1)
    assert (nearest == found.labels).mean() > 2 / len(found.class_names)


# --- downloads, from a server on this machine -----------------------------------------------------

CONTENT = bytes(range(256)) * 4000


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT; the path says how: /whole, /wrong, /short, /drops-once, /gone."""

    requests: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self):
        wanted = self.headers.get("Range")
        Handler.requests.append((self.path, wanted))
        kind = self.path.split("/")[1]
        if kind == "gone":
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if kind == "no-range":
            start = 0
        body = CONTENT[start:] if kind != "wrong" else b"x" * len(CONTENT[start:])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        drops = kind == "short" or (kind in ("drops-once", "no-range") and len(self.requests) == 1)
        self.wfile.write(body[: len(body) // 3] if drops else body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    Handler.requests = []
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.fixture
def published(monkeypatch):
    def publish(url: str) -> None:
        file = catalogue.File("set.bin", url, hashlib.md5(CONTENT).hexdigest())
        entry = catalogue.CATALOGUE["usps"]
        monkeypatch.setitem(catalogue.CATALOGUE, "usps", replace(entry, files=(file,)))
        monkeypatch.setattr(download, "TIMEOUT", 5.0)

    return publish


def left(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


@pytest.mark.parametrize("kind", ["whole", "drops-once", "no-range"])
def test_a_download_arrives_whole(tmp_path, server, published, kind):
    published(f"{server}/{kind}/set.bin")
    (path,) = images.fetch("usps", at=tmp_path, progress=False)
    assert path.read_bytes() == CONTENT
    assert left(tmp_path) == ["usps", "usps/set.bin"]
    if kind == "drops-once":  # it went on where it broke off
        begun = int(Handler.requests[1][1].removeprefix("bytes=").rstrip("-"))
        assert 0 < begun <= len(CONTENT) // 3
    count = len(Handler.requests)
    images.fetch("usps", at=tmp_path, progress=False)
    assert len(Handler.requests) == count  # what is there and right is left alone


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("wrong", "is not the published file"),
        ("short", "stops sending"),
        ("gone", "404"),
    ],
)
def test_a_failed_download_leaves_nothing(tmp_path, server, published, kind, words):
    published(f"{server}/{kind}/set.bin")
    with pytest.raises(DataError, match=words):
        images.fetch("usps", at=tmp_path, progress=False)
    assert left(tmp_path) == []


def test_a_refused_connection_is_one_sentence(tmp_path, server, published, capsys, monkeypatch):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    published(f"http://127.0.0.1:{port}/set.bin")
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    assert cli.main(["data", "fetch", "usps"]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "could not be downloaded" in said[0]
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "where", ["usps", "usps/set.bin", "usps/.partial", "usps/.partial/set.bin"]
)
def test_a_link_out_of_the_folder_is_not_written_through(tmp_path, server, published, where):
    published(f"{server}/whole/set.bin")
    outside, folder = tmp_path / "outside", tmp_path / "data"
    link = folder / where
    link.parent.mkdir(parents=True)
    if link.suffix:
        outside.write_bytes(b"mine")
    else:
        outside.mkdir()
    link.symlink_to(outside)
    with pytest.raises(DataError, match=f"{where} is a link out of .*: remove it"):
        images.fetch("usps", at=folder, progress=False)
    assert outside.read_bytes() == b"mine" if link.suffix else not any(outside.iterdir())
    assert Handler.requests == []
    # a folder that is itself a link, to a larger disk perhaps, is the user's own choice
    link.unlink()
    (tmp_path / "elsewhere").symlink_to(folder)
    (path,) = images.fetch("usps", at=tmp_path / "elsewhere", progress=False)
    assert path.read_bytes() == CONTENT


def test_an_interrupted_download_goes_on_next_time(tmp_path, server, published, monkeypatch):
    published(f"{server}/whole/set.bin")
    plain = download._Resuming._some

    def interrupted(self, url):
        self.part.write_bytes(CONTENT[:1000])
        raise KeyboardInterrupt

    monkeypatch.setattr(download._Resuming, "_some", interrupted)
    with pytest.raises(KeyboardInterrupt):
        images.fetch("usps", at=tmp_path, progress=False)
    assert not (tmp_path / "usps" / "set.bin").exists()
    monkeypatch.setattr(download._Resuming, "_some", plain)
    (path,) = images.fetch("usps", at=tmp_path, progress=False)
    assert path.read_bytes() == CONTENT
    assert Handler.requests == [("/whole/set.bin", "bytes=1000-")]
    assert left(tmp_path) == ["usps", "usps/set.bin"]


def test_the_command_lists_and_refuses(tmp_path, capsys, monkeypatch):
    subset(tmp_path / "mnist.npz")
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    assert cli.main(["data"]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path) in out
    assert any("mnist" in line and "subset" in line for line in out.splitlines())
    for asked, words in (
        (["data", "fetch"], "none was given"),
        (["data", "fetch", "mnits"], "'mnits' is not one"),
        (["data", "fetch", "mnist", "--split", "extra"], "train, test"),
        (["data", "list", "mnist"], "takes no name"),
    ):
        assert cli.main(asked) == 2
        assert words in capsys.readouterr().err
