r"""The four instruments on a batch of networks, from their definitions: readings on one clock.

:mod:`lowdim.instruments` takes the same numbers from any network of torch, with errors; here whole
batches of small networks are read at once, and a chapter compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from lowdim.bridge import links as linked
from lowdim.bridge.runs import Run, World
from lowdim.seeds import generator

__all__ = ["NAMES", "half_times", "normal", "one_shot", "portrait", "readings", "scaled", "series"]

NAMES = {
    "distance": "I: distance to the labels",
    "tail": "II: tail beyond K",
    "within": "II: share within classes",
    "normal": "III: normal sensitivity",
    "rho": "IV: ρ, trained points",
    "rho_held_out": "IV: ρ, held-out points",
    "rho_unseen": "IV: ρ, unseen classes",
}
"""What each reading is called; its part first."""


def normal(run: Run, x: Tensor, along: Tensor, across: Tensor) -> tuple[Tensor, Tensor]:
    """Root mean square derivative (T,) of the last hidden layer normal to the data and along them.

    Over points x (n, m) and all unit vectors of the spans of ``across`` and ``along``.

    Examples
    --------
    >>> W = torch.tensor([[[3.0, 4.0]]])
    >>> run = Run(0, (W, torch.ones(1, 1, 1)), (torch.ones(1, 1), torch.zeros(1, 1)))
    >>> basis = torch.eye(2, dtype=torch.float64)
    >>> [v.item() for v in normal(run, torch.ones(1, 2), basis[:, :1], basis[:, 1:])]
    [4.0, 3.0]
    """
    hidden = run.layers(x)[:-1]
    out = []
    for basis in (across, along):
        J = (run.weights[0].double() @ basis)[:, None]
        J = (hidden[0] > 0)[..., None] * J
        for W, h in zip(run.weights[1:-1], hidden[1:], strict=True):
            J = (h > 0)[..., None] * (W.double()[:, None] @ J)
        out.append((J.square().sum((-2, -1)).mean(-1) / basis.shape[1]).sqrt())
    return out[0], out[1]


def readings(run: Run, world: World, *, probes: int = 32) -> dict[str, Tensor]:
    """Each reading of :data:`NAMES` (T,), and ``accuracy``, ``ratio``, ``nu``, ``excess`` and more.

    ratio: the normal derivative over that along the data; excess, lower, upper: of
    :mod:`lowdim.bridge.links`, over the squares of all values; ``epsilon`` with the name of a
    set: the largest variance of a class.

    Examples
    --------
    >>> from lowdim.bridge.runs import digits, train
    >>> world = digits(points=100)
    >>> found = readings(train(world, decays=(0.0,), seeds=2, width=8, steps=1)[-1], world)
    >>> set(NAMES) <= set(found), found["distance"].shape
    (True, torch.Size([2]))
    """
    x, y = world.train
    layers = run.layers(x)
    H = layers[-2].mT
    found = linked.links(H, linked.indicator(y), gram=True)
    whole = found.squares.sum(-1)
    across, along = normal(run, x[:probes], world.along, world.normal)
    out = {
        "distance": found.distance, "tail": found.tail / whole, "normal": across,
        "ratio": across / along, "excess": found.excess / whole,
        "lower": found.lower / whole, "upper": found.upper / whole,
        "gap": found.gap / found.squares[:, 0],
        "within_all": found.within / whole,
        "within": found.within / (H - H.mean(-1, keepdim=True)).square().sum((-2, -1)),
        "accuracy": (layers[-1].argmax(-1) == y).double().mean(-1),
    }  # fmt: skip
    for name, (points, labels) in world.splits().items():
        mark = "" if name == "train" else f"_{name}"
        one = linked.ratio(H if name == "train" else run.hidden(points).mT, labels)
        out[f"rho{mark}"], out[f"epsilon{mark}"], out[f"nu{mark}"] = one.rho, one.epsilon, one.nu
    held = run.layers(world.held_out[0])[-1].argmax(-1) == world.held_out[1]
    return {**out, "accuracy_held_out": held.double().mean(-1)}


def half_times(ticks: Sequence[int], series: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The step (T,) at which each series (ticks, T) has gone half of its way, first to last.

    The first time, and between two ticks linearly in the step; NaN where a series ends where it
    began.

    Examples
    --------
    >>> half_times([0, 10, 20], {"a": torch.tensor([[9.0], [4.0], [1.0]])})["a"].item()
    8.0
    """
    out = {}
    steps = np.asarray(ticks, dtype=np.float64)
    for name, values in series.items():
        path = values.double().numpy()
        way = path[-1] - path[0]
        found = np.full(path.shape[1], np.nan)
        for t in range(path.shape[1]):
            if abs(way[t]) <= 1e-12 * abs(path[0, t]):
                continue
            gone = (path[:, t] - path[0, t]) / way[t]
            i = int(np.argmax(gone >= 0.5))
            part = (0.5 - gone[i - 1]) / (gone[i] - gone[i - 1])
            found[t] = steps[i - 1] + part * (steps[i] - steps[i - 1])
        out[name] = torch.from_numpy(found)
    return out


def one_shot(
    run: Run, world: World, *, noise: float = 0.0, keys: int = 40, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """How often (T,) the nearest of five keys, one of each unseen class, is right; and the move.

    Queries have a step of length ``noise`` normal to the data added to them; keys are clean. The
    move is the root mean square change of a query's representation. Over ``keys`` draws of keys.

    Examples
    --------
    >>> from lowdim.bridge.runs import digits, train
    >>> world = digits(points=100)
    >>> run = train(world, decays=(0.0,), seeds=1, width=8, steps=1)[-1]
    >>> right, move = one_shot(run, world, keys=2)
    >>> bool(0 <= right <= 1), move.item()
    (True, 0.0)
    """
    x, y = world.unseen
    rng, choice = generator(seed, 0, "noise"), generator(seed, 0, "keys")
    names = y.unique()
    H = run.hidden(x)
    moved = H
    if noise > 0:
        step = torch.from_numpy(rng.standard_normal((len(x), world.normal.shape[1])))
        step = noise * step / step.norm(dim=1, keepdim=True) @ world.normal.mT
        moved = run.hidden(x + step)
    move = (moved - H).square().sum(-1).mean(-1).sqrt()
    right = torch.zeros(len(H), dtype=torch.float64)
    members = [(y == k).nonzero()[:, 0].numpy() for k in names]
    for _ in range(keys):
        at = torch.tensor([int(choice.choice(own)) for own in members])
        apart = torch.cdist(moved, H[:, at], compute_mode="donot_use_mm_for_euclid_dist")
        good = names[apart.argmin(-1)] == y
        good[:, at] = False  # a key is no query
        right += good.double().sum(-1) / (len(y) - len(at)) / keys
    return right, move


def series(kept: Sequence[Run], world: World) -> dict[str, Tensor]:
    """Each of :func:`readings` along a run, (ticks, T).

    Examples
    --------
    >>> from lowdim.bridge.runs import digits, train
    >>> world = digits(points=100)
    >>> kept = train(world, decays=(0.0,), seeds=1, width=8, steps=1, ticks=(0,))
    >>> series(kept, world)["rho"].shape
    torch.Size([2, 1])
    """
    found = [readings(run, world) for run in kept]
    return {name: torch.stack([each[name] for each in found]) for name in found[0]}


def scaled(run: Run, world: World, factor: float) -> Run:
    """The same networks, the part of their first weights normal to the data times ``factor``.

    Examples
    --------
    >>> from lowdim.bridge.runs import digits, train
    >>> world = digits(points=100)
    >>> run = train(world, decays=(0.0,), seeds=1, width=8, steps=1)[-1]
    >>> bool((scaled(run, world, 0.0).weights[0] @ world.normal).abs().max() < 1e-12)
    True
    """
    first = run.weights[0].double()
    part = first @ world.normal @ world.normal.mT
    return Run(run.step, (first + (factor - 1) * part, *run.weights[1:]), run.biases)


def portrait(*, seed: int = 0) -> tuple[list[int], dict[str, Tensor]]:
    """Ticks and readings of one small network with some decay: the first picture of the part.

    Examples
    --------
    >>> ticks, found = portrait(seed=1)
    >>> len(ticks) == len(found["rho"]), bool(found["within"][-1] < found["within"][0])
    (True, True)
    """
    from lowdim.bridge.runs import digits, train

    world = digits(points=300, seed=seed)
    ticks = (0, 5, 10, 20, 40, 80, 150)
    kept = train(world, decays=(0.02,), seeds=1, width=32, steps=240, ticks=ticks, seed=seed)
    return [run.step for run in kept], series(kept, world)
