"""What is known of each data set: official files with checksums, classes, counts, licence, source.

Checksums are MD5 sums as their publishers or torchvision give them; they guard against damage and
mix-ups, not against malice. A licence marked "as usually given" could not be read at its source.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DIGITS = tuple("0123456789")


@dataclass(frozen=True)
class File:
    """One official file: its name, where it is published, its MD5 sum."""

    name: str
    url: str
    md5: str


@dataclass(frozen=True)
class Entry:
    """One data set.

    reader: which function of :mod:`lowdim.data.images.readers` understands its files;
    files: all of them; counts: images in each split; unpacked: a folder that may stand in
    place of an archive; sizes: whether the images have many sizes and are brought to one when read.
    """

    name: str
    title: str
    reader: str
    files: tuple[File, ...]
    counts: dict[str, int]
    class_names: tuple[str, ...]
    licence: str
    source: str
    citation: str
    unpacked: str | None = None
    many_sizes: bool = False
    variants: tuple[str, ...] = field(default=())

    @property
    def splits(self) -> tuple[str, ...]:
        """The official splits, the one that is taken by default first."""
        return tuple(self.counts)


def _idx(base: str, sums: tuple[str, str, str, str]) -> tuple[File, ...]:
    names = (
        "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
    )  # fmt: skip
    return tuple(File(name, base + name, md5) for name, md5 in zip(names, sums, strict=True))


def _file(url: str, md5: str) -> File:
    return File(url.rpartition("/")[2], url, md5)


_SIXTY = {"train": 60_000, "test": 10_000}
_VGG = "https://www.robots.ox.ac.uk/~vgg/data/"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
_SVHN = "http://ufldl.stanford.edu/housenumbers/"

_ENTRIES = (
    Entry(
        "mnist", "MNIST", "idx",
        _idx(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            (
                "f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
                "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c",
            ),
        ),
        _SIXTY, DIGITS, "CC BY-SA 3.0, as usually given", "http://yann.lecun.com/exdb/mnist/",
        "LeCun et al. (1998)",
    ),
    Entry(
        "fashion_mnist", "Fashion-MNIST", "idx",
        _idx(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            (
                "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
                "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310",
            ),
        ),
        _SIXTY,
        (
            "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
            "Bag", "Ankle boot",
        ),
        "MIT", "https://github.com/zalandoresearch/fashion-mnist", "Xiao et al. (2017)",
    ),
    Entry(
        "kmnist", "Kuzushiji-MNIST", "idx",
        _idx(
            "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
            (
                "bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344",
                "5c965bf0a639b31b8f53240b1b52f4d7", "7320c461ea6c1c855c0b718fb2a4b134",
            ),
        ),
        _SIXTY, ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"),
        "CC BY-SA 4.0", "https://github.com/rois-codh/kmnist", "Clanuwat et al. (2018)",
    ),
    Entry(
        "emnist", "Extended MNIST", "emnist",
        (
            _file(
                "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
                "58c8d27c78d21e728a6bc7b3cc06412e",
            ),
        ),
        _SIXTY, DIGITS, "none stated; a work of the US government, as usually given",
        "https://www.nist.gov/itl/products-and-services/emnist-dataset", "Cohen et al. (2017)",
        unpacked="gzip",
        variants=("mnist", "digits", "letters", "balanced", "bymerge", "byclass"),
    ),
    Entry(
        "usps", "USPS", "usps",
        (
            _file(_LIBSVM + "usps.bz2", "ec16c51db3855ca6c91edd34d0e9b197"),
            _file(_LIBSVM + "usps.t.bz2", "8ea070ee2aca1ac39742fdd1ef5ed118"),
        ),
        {"train": 7291, "test": 2007}, DIGITS, "none stated", _LIBSVM, "Hull (1994)",
    ),
    Entry(
        "svhn", "Street View House Numbers", "svhn",
        (
            _file(_SVHN + "train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"),
            _file(_SVHN + "test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"),
            _file(_SVHN + "extra_32x32.mat", "a93ce644f1a588dc4d68dda5feec44a7"),
        ),
        {"train": 73_257, "test": 26_032, "extra": 531_131}, DIGITS, "non-commercial use only",
        _SVHN, "Netzer et al. (2011)",
    ),
    Entry(
        "cifar10", "CIFAR-10", "cifar10",
        (
            _file(
                "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
                "c58f30108f718f92721af3b95e74349a",
            ),
        ),
        {"train": 50_000, "test": 10_000},
        (
            "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship",
            "truck",
        ),
        "none stated", "https://www.cs.toronto.edu/~kriz/cifar.html", "Krizhevsky (2009)",
        unpacked="cifar-10-batches-py",
    ),
    Entry(
        "stl10", "STL-10", "stl10",
        (
            _file(
                "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                "91f7769df0f17e558f3565bffb0c7dfb",
            ),
        ),
        {"train": 5000, "test": 8000},
        ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck"),
        "none stated; images from ImageNet", "https://cs.stanford.edu/~acoates/stl10/",
        "Coates et al. (2011)", unpacked="stl10_binary",
    ),
    Entry(
        "eurosat", "EuroSAT", "eurosat",
        (
            _file(
                "https://madm.dfki.de/files/sentinel/EuroSAT.zip",
                "c8fa014336c82ac7804f0398fcb19387",
            ),
        ),
        {"all": 27_000},
        (
            "AnnualCrop", "Forest", "HerbaceousVegetation", "Highway", "Industrial", "Pasture",
            "PermanentCrop", "Residential", "River", "SeaLake",
        ),
        "MIT, and the terms of Copernicus Sentinel data", "https://github.com/phelber/EuroSAT",
        "Helber et al. (2019)", unpacked="2750", many_sizes=True,
    ),
    Entry(
        "flowers102", "Oxford Flowers-102", "flowers102",
        (
            _file(_VGG + "flowers/102/102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
            _file(_VGG + "flowers/102/imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"),
            _file(_VGG + "flowers/102/setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c"),
        ),
        {"train": 1020, "val": 1020, "test": 6149}, tuple(str(k) for k in range(1, 103)),
        "none stated", _VGG + "flowers/102/", "Nilsback and Zisserman (2008)",
        unpacked="jpg", many_sizes=True,
    ),
    Entry(
        "food101", "Food-101", "food101",
        (
            _file(
                "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz",
                "85eeb15f3717b99a5da872d97d918f87",
            ),
        ),
        {"train": 75_750, "test": 25_250}, (),
        "none stated; images from Foodspotting, scientific fair use, as usually given",
        "https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/", "Bossard et al. (2014)",
        unpacked="food-101", many_sizes=True,
    ),
    Entry(
        "dtd", "Describable Textures", "dtd",
        (_file(_VGG + "dtd/download/dtd-r1.0.1.tar.gz", "fff73e5086ae6bdbea199a49dfb8a4c1"),),
        {"train": 1880, "val": 1880, "test": 1880}, (), "research use, as usually given",
        _VGG + "dtd/", "Cimpoi et al. (2014)", unpacked="dtd", many_sizes=True,
    ),
    Entry(
        "oxford_pets", "Oxford-IIIT Pet", "oxford_pets",
        (
            _file(_VGG + "pets/data/images.tar.gz", "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
            _file(_VGG + "pets/data/annotations.tar.gz", "95a8c909bbe2e81eed6a22bccdf3f68f"),
        ),
        {"trainval": 3680, "test": 3669}, (), "CC BY-SA 4.0, as usually given", _VGG + "pets/",
        "Parkhi et al. (2012)", many_sizes=True,
    ),
)  # fmt: skip

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
