r"""What is kept of three networks on one set of images, and the rule for a panel of Figures 6-9.

A :class:`Portrait` is made of numbers only: distances of the layers before and after training,
clusters read off projectors, what the images show without any network. Made anew by
:func:`portrait` or taken from a run that was kept, it answers the same questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.evidence.archive import Kept
from lowdim.evidence.values import Share
from lowdim.evidence.verdicts import compared
from lowdim.linalg import clusters, subspaces
from lowdim.preserve import blocks
from lowdim.preserve.imagenets import Course, Fitted

__all__ = [
    "FIGURES", "KINDS", "NEAR", "READINGS", "TARGETS", "Portrait", "change", "over_sets", "overall",
    "portrait", "restored", "three", "word",
]  # fmt: skip

FIGURES = {
    6: ("mnist", "cifar10", "emnist"),
    7: ("fashion_mnist", "food101", "kmnist"),
    8: ("oxford_pets", "stl10", "usps"),
    9: ("svhn", "eurosat", "dtd"),
}
TARGETS = ("autoencoder", "classifier", "shuffled")
KINDS = ("its own input", "the data")
READINGS = tuple((target, kind) for target in TARGETS[:2] for kind in (0, 1))
NEAR = 0.9  # ACC, NMI and ARI of near-perfect clusters
FALLS = 0.95  # a distance falls if it ends below this share of its start,
MOST = 0.9  # in at least this share of the draws


def word(seen: Sequence[Sequence[bool]]) -> str:
    """The verdict on a panel; rows are readings, columns r: all of one row, some, or none.

    Examples
    --------
    >>> word([[True, False], [True, True]]), word([[True, False]]), word([[False]])
    ('reproduced', 'partly', 'not-reproduced')
    """
    if any(map(all, seen)):
        return "reproduced"
    return "partly" if any(map(any, seen)) else "not-reproduced"


def overall(words: Sequence[str], *, missing: int = 0) -> str:
    """What several panels are together: all alike, or partly; with one ``missing`` at most that.

    Examples
    --------
    >>> overall(["reproduced"] * 2), overall(["reproduced"], missing=1), overall([])
    ('reproduced', 'partly', 'undecidable')
    """
    if not words:
        return "undecidable"
    alike = words[0] if len(set(words)) == 1 else "partly"
    return "partly" if alike == "reproduced" and missing else alike


def three(scores: Sequence[float]) -> str:
    """ACC, NMI and ARI as a cell shows them.

    Examples
    --------
    >>> three([1.0, 0.456, -0.001]).split()
    ['1.00', '0.46', '0.00']
    """
    return "\N{NO-BREAK SPACE}".join(f"{round(float(x), 2) + 0.0:.2f}" for x in scores)


def change(start: float, end: float) -> str:
    """A distance before and after training as a cell shows it.

    Examples
    --------
    >>> change(0.5, 0.25).split()
    ['0.50', '→', '0.25']
    """
    return "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}".join(f"{v:.2f}" for v in (start, end))


@dataclass(frozen=True)
class Portrait:
    """Numbers of three networks on one set of images, in so many ``draws``.

    ``values`` by name, lists over the R dimensions r of ``swept``. For each of :data:`TARGETS`:
    ``_projector`` (R, 3) and ``_kmeans`` (3,), ACC, NMI and ARI of the last layer; ``_start``,
    ``_end``, ``_falls`` (R, 2), mean distances and the share of draws in which they fall;
    ``_layers``, ``_low``, ``_high`` (looks, 2, 5), at ``drawn``. Of the images: ``data`` (R, 3),
    ``price``, ``gap``, ``chance`` (R,) and others.
    """

    values: Mapping[str, Any]
    draws: int

    @property
    def place(self) -> int:
        """Where the drawn r is in the sweep."""
        return list(self.values["swept"]).index(self.values["drawn"])

    @property
    def counted(self) -> list[int]:
        """Places of the r that count: those from K on, or the drawn one."""
        found = [i for i, r in enumerate(self.values["swept"]) if r >= self.values["groups"]]
        return found or [self.place]

    @property
    def at_classes(self) -> int | None:
        """The place of r = K in the sweep; None if it was not swept."""
        ranks = [int(r) for r in self.values["swept"]]
        K = int(self.values["groups"])
        return ranks.index(K) if K in ranks else None

    def went(self, target: str, kind: int, at: int | None = None) -> tuple[float, float]:
        """Mean distance over layers and draws before and after, at the drawn r unless said."""
        at = self.place if at is None else at
        start, end = (self.values[f"{target}_{when}"][at][kind] for when in ("start", "end"))
        return start, end

    def falls(self, target: str, kind: int, at: int) -> bool:
        """Whether the distance falls, in at least nine of ten draws."""
        return bool(self.values[f"{target}_falls"][at][kind] >= MOST)

    def near(self, target: str, at: int) -> bool:
        """Whether the last layer's clusters are near-perfect, by its projector or by k-means."""
        ways = (self.values[f"{target}_projector"][at], self.values[f"{target}_kmeans"])
        return bool(max(min(scores) for scores in ways) >= NEAR)

    def nears(self, target: str) -> bool:
        """Whether they are at some r that counts."""
        return any(self.near(target, i) for i in self.counted)

    def both(self, readings: Sequence[tuple[str, int]] = READINGS) -> list[tuple[str, int, int]]:
        """The readings (target, kind, r) in which one network does both."""
        return [
            (target, kind, int(self.values["swept"][i]))
            for target, kind in readings
            for i in self.counted
            if self.falls(target, kind, i) and self.near(target, i)
        ]

    def panel(self) -> str:
        """The verdict on the set's panel: the distance falls."""
        return word([[self.falls(t, kind, i) for i in self.counted] for t, kind in READINGS])

    def together(self) -> str:
        """The same for Section 8: the distance falls, and the clusters are near-perfect."""
        seen = [
            [self.falls(t, kind, i) and self.near(t, i) for i in self.counted]
            for t, kind in READINGS
        ]
        return word(seen)

    def best(self, name: str) -> list[float]:
        """ACC, NMI and ARI under ``name`` (``data``, ``classifier_projector``) at their best r."""
        return max((list(self.values[name][i]) for i in self.counted), key=min)

    def top(self, name: str) -> float:
        """The largest entry (of rows, the largest first entry) under ``name`` where r counts."""
        return float(max(np.ravel(self.values[name][i])[0] for i in self.counted))

    def kinds(self) -> set[int]:
        """The distances with which one network does both: 0 from its own input, 1 from the data."""
        return {kind for _, kind, _ in self.both()}

    def corner(self, target: str) -> tuple[np.ndarray, np.ndarray]:
        """Distances, end over start (counted r, 2), and accuracies (counted r,)."""
        start, end = (np.asarray(self.values[f"{target}_{w}"], float) for w in ("start", "end"))
        accuracy = np.asarray(self.values[f"{target}_projector"], float)[self.counted, 0]
        return (end / start)[self.counted], accuracy

    def ends(self) -> list[float]:
        """Mean distance from a layer's own input, first and last look: autoencoder, classifier."""
        curves = [np.asarray(self.values[f"{t}_layers"])[:, 0].mean(1) for t in TARGETS[:2]]
        return [float(curve[at]) for curve in curves for at in (0, -1)]

    def score_cells(self) -> tuple[str, ...]:
        """Scores at the drawn r, of the images and of two last layers, and answers kept aside."""
        names = ("data", "autoencoder_projector", "classifier_projector")
        shown = (three(self.values[name][self.place]) for name in names)
        return *shown, f"{self.values['fresh_answers']:.2f}"

    def change_cells(self) -> tuple[str, ...]:
        """Distances before and after at the drawn r, and the r at which one network does both."""

        def where(targets: Sequence[str], kind: int) -> str:
            found = self.both([(target, kind) for target in targets])
            return ", ".join(str(r) for *_, r in found) or "none"

        pair = TARGETS[:2]
        each = (change(*self.went(target, kind)) for target, kind in READINGS)
        return *each, where(pair, 0), where(pair, 1), where(TARGETS[2:], 0)

    def form_line(self, title: str) -> dict[str, object]:
        """And for the closed form: scores of the images themselves at the best r."""
        scores = self.best("data")
        return compared(
            f"ACC, NMI, ARI of P(X) on {title}",
            "how near-perfect networks cluster",
            [round(v, 2) for v in scores],
            "no network, best r",
            min(scores) >= NEAR,
        )

    def panel_lines(self, title: str) -> list[dict[str, object]]:
        """Reported beside measured, a line for each reading: does the distance fall at every r?"""
        found = []
        for target, kind in READINGS:
            fallen = [self.falls(target, kind, i) for i in self.counted]
            reading = (
                f"{target}, from {KINDS[kind]}, r = {self.values['drawn']}; "
                f"falls at {sum(fallen)} of {len(fallen)} r"
            )
            ends = [round(float(d), 2) for d in self.went(target, kind)]
            reported = "falls over the epochs"
            found.append(compared(f"distance on {title}", reported, ends, reading, all(fallen)))
        return found

    def section_lines(self, title: str) -> list[dict[str, object]]:
        """The same for Section 8, a line for each target: scores at the best r, and falls."""
        found = []
        for target in TARGETS[:2]:
            fallen = [i for i in self.counted if any(self.falls(target, k, i) for k in (0, 1))]
            where = ", ".join(str(self.values["swept"][i]) for i in fallen) or "none"
            reading = f"{target}, last layer's projector, best r; distances fall at r = {where}"
            scores = [round(v, 2) for v in self.best(f"{target}_projector")]
            does = any(each[0] == target for each in self.both())
            reported = "perfect or near-perfect, distances falling"
            found.append(compared(f"ACC, NMI, ARI on {title}", reported, scores, reading, does))
        return found


def restored(run: Kept | None) -> Portrait | None:
    """The portrait of a run that was kept; None if there is none.

    Examples
    --------
    >>> record = {"parameters": {"draws": 3}, "values": {"swept": [5, 20], "drawn": 20}}
    >>> restored(Kept(record)).place, restored(None)
    (1, None)
    """
    return None if run is None else Portrait(run.record["values"], run.parameters["draws"])


def over_sets(pool: Mapping[str, Portrait]) -> dict[str, Any]:
    """Counts over several sets, and from where to where numbers go; by name.

    unmet: sets on which no network does both; apart: none with distances from the data; keeping:
    some does; perfect, perfect_ae, perfect_mixed: near-perfect classifier, autoencoder, classifier
    of shuffled labels; closed_near: near-perfect without any network; sets_fall: panels that are
    reproduced. closed_span, ae_span, fresh_span: least and largest accuracy of the images, of the
    autoencoder, of the classifier's answers on images kept aside. cliff_all: the largest gap.

    Examples
    --------
    >>> from lowdim.preserve import imagesets
    >>> data = imagesets.draw(per_class=4, classes=2, draws=2)
    >>> course = Course(data, hidden=12, ranks=(1, 3), rank=3, epochs=2, batch=8)
    >>> goals = {"autoencoder": None, "classifier": data.labels, "shuffled": data.shuffled}
    >>> one = portrait(course, {name: course.fit(goal) for name, goal in goals.items()})
    >>> over_sets({"one": one, "the same": one})["unmet"].of
    2
    """
    every = list(pool.values())

    def share(answers: Iterable[bool]) -> Share:
        return Share(sum(answers), len(every))

    def span(values: Sequence[float]) -> list[float]:
        return [min(values), max(values)]

    return {
        "unmet": share(not found.kinds() for found in every),
        "apart": share(1 not in found.kinds() for found in every),
        "keeping": share(1 in found.kinds() for found in every),
        "perfect": share(found.nears("classifier") for found in every),
        "perfect_ae": share(found.nears("autoencoder") for found in every),
        "perfect_mixed": share(found.nears("shuffled") for found in every),
        "closed_near": share(min(found.best("data")) >= NEAR for found in every),
        "sets_fall": share(found.panel() == "reproduced" for found in every),
        "closed_span": span([found.top("data") for found in every]),
        "ae_span": span([found.top("autoencoder_projector") for found in every]),
        "fresh_span": span([found.values["fresh_answers"] for found in every]),
        "cliff_all": max(found.top("gap") for found in every),
    }


def portrait(course: Course, runs: Mapping[str, Fitted]) -> Portrait:
    """Measure networks that were trained in a ``course``, one for each of :data:`TARGETS`.

    Examples
    --------
    >>> from lowdim.preserve import imagesets
    >>> data = imagesets.draw(per_class=4, classes=2, draws=2)
    >>> course = Course(data, hidden=12, ranks=(1, 3), rank=3, epochs=2, batch=8)
    >>> goals = {"autoencoder": None, "classifier": data.labels, "shuffled": data.shuffled}
    >>> found = portrait(course, {name: course.fit(goal) for name, goal in goals.items()})
    >>> found.counted, len(found.values["price"])
    ([1], 2)
    """
    values = _of_images(course)
    for target in TARGETS:
        labels = course.data.shuffled if target == "shuffled" else course.data.labels
        values |= {f"{target}_{k}": v for k, v in _of(runs[target], labels, course).items()}
    data, judge = course.data, runs["classifier"]
    on_fresh = judge.on(data.fresh)
    V = subspaces.principal_rows(on_fresh[4].double(), course.swept[course.drawn])
    values["fresh"] = _cut(V, data.fresh_labels, data.groups)
    values["fresh_answers"] = (on_fresh[-1].argmax(1).numpy() == data.fresh_labels).mean()
    values["answers"] = (judge.outputs[-1].argmax(1).numpy() == data.labels).mean()
    plain = {name: np.asarray(value, float).tolist() for name, value in values.items()}
    whole = {"swept": course.swept, "looks": course.looks, "drawn": course.swept[course.drawn]}
    whole |= {"groups": data.groups, "points": data.X.shape[-1]}
    return Portrait({**plain, **whole}, len(data.X))


def _cut(V: Any, labels: np.ndarray, K: int) -> np.ndarray:
    return clusters.scores(clusters.spectral(V, K, seed=0), labels).mean(0)


def _of_images(course: Course) -> dict[str, Any]:
    """What the images show without any network, at every r."""
    data, K = course.data, course.data.groups
    spaces = [course.space[..., :r] for r in course.swept]
    groups = [clusters.spectral(V, K, seed=0) for V in spaces]
    sigma = subspaces.singular_values(data.X)
    ratios = [sigma[:, r - 1] / sigma[:, r].clamp_min(1e-300) for r in course.swept]
    return {
        "chance": [subspaces.chance(data.X.shape[-1], r)[0] ** 0.5 for r in course.swept],
        "price": [blocks.price(V, data.labels).mean() for V in spaces],
        "price_shuffled": [blocks.price(V, data.shuffled).mean() for V in spaces],
        "off_block": [blocks.off_block(V, data.labels).mean() for V in spaces],
        "data": [clusters.scores(g, data.labels).mean(0) for g in groups],
        "data_shuffled": [clusters.scores(g, data.shuffled).mean(0) for g in groups],
        "images_kmeans": clusters.scores(clusters.kmeans(data.X, K, seed=0), data.labels).mean(0),
        "gap": [ratio.amax() for ratio in ratios],
    }


def _of(f: Fitted, labels: np.ndarray, course: Course) -> dict[str, Any]:
    """What a trained network shows: its last layer's clusters, and where its layers went."""
    K = course.data.groups
    V = subspaces.principal_rows(f.last.double(), course.swept[-1])
    start, end = f.distances[0].mean(-1), f.distances[-1].mean(-1)  # (T, R, 2), over layers
    curves = f.distances[:, :, course.drawn]  # (looks, T, 2, 5)
    return {
        "projector": [_cut(V[..., :r], labels, K) for r in course.swept],
        "kmeans": clusters.scores(clusters.kmeans(f.last, K, seed=0), labels).mean(0),
        "start": start.mean(0),
        "end": end.mean(0),
        "falls": (end < FALLS * start).mean(0),
        "layers": curves.mean(1),
        "low": curves.min(1),
        "high": curves.max(1),
        "rank": f.least,
    }
