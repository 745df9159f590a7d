"""Distances between row spaces against SVDs and projectors formed trial by trial.

Compared variants take turns, and a ratio is the median of the turns' ratios. The references walk
through trials one by one, so each turn runs them on some of the trials, others each time, and
multiplies; ours always does all of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import scipy.linalg
import torch
from lowdim.data import unions
from lowdim.linalg import subspaces
from lowdim.linalg.parallel import over_batch
from lowdim.nets import networks, training
from torch import Tensor

TRIALS, AMBIENT, INNER, SAMPLES, RANK = 100, 400, 80, 400, 16
PAIRS = ((0, 1), (0, 2), (1, 2))


def _clock(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _digits(difference: float) -> float:
    """How many digits agree."""
    return float(-np.log10(max(difference, 1e-17)))


def _input(trials: int, m: int = AMBIENT, n: int = SAMPLES) -> Tensor:
    """Noisy points of four subspaces of dimension 4: (trials, m, n)."""
    dims, sizes = (4,) * 4, (n // 4,) * 4
    union = unions.union_of_subspaces(trials=trials, ambient=m, dims=dims, sizes=sizes, noise=0.01)
    return union.noisy


def _layer(W: Tensor, X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    pre = W @ X
    return X, pre, pre.clamp_min(0)


def _weights(trials: int, m: int = AMBIENT, inner: int = INNER) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(trials, inner, m, generator=generator, dtype=torch.float64) / m**0.5


def naive(matrices: tuple[Tensor, ...], trials: range) -> np.ndarray:
    """The three distances (trials, 3) by an SVD and an n-by-n projector for each matrix."""
    rows = []
    for i in trials:
        formed = []
        for A in matrices:
            right = np.linalg.svd(A[i].numpy(), full_matrices=False)[2][:RANK]
            formed.append(right.T @ right)
        rows.append([np.linalg.norm(formed[a] - formed[b]) for a, b in PAIRS])
    return np.array(rows)


def ours(matrices: tuple[Tensor, ...]) -> Tensor:
    """The three distances (trials, 3) from thin bases."""
    bases = [subspaces.principal(A, RANK).basis for A in matrices]
    return torch.stack([subspaces.distance(bases[a], bases[b]) for a, b in PAIRS], -1)


def _settings(**more: object) -> dict:
    base = {
        "trials": TRIALS, "ambient": AMBIENT, "inner": INNER, "samples": SAMPLES, "rank": RANK,
        "dtype": "float64", "noise": 0.01, "threads": torch.get_num_threads(),
    }  # fmt: skip
    return base | more


def distance_100_vs_naive(*, turns: int = 5, sample: int = 5) -> dict:
    """Three distances of 100 trials by thin bases, over SVDs and projectors trial by trial."""
    X = _input(TRIALS)
    matrices = _layer(_weights(TRIALS), X)
    ours(matrices)
    seconds, difference = [], 0.0
    for turn in range(turns):
        some = range(turn * sample, (turn + 1) * sample)
        slow, expected = _clock(lambda some=some: naive(matrices, some))
        fast, found = _clock(lambda: ours(matrices))
        seconds.append((slow * TRIALS / sample, fast))
        chosen = found[list(some)].numpy()
        difference = max(difference, float(np.abs(chosen / expected - 1).max()))
    # Spaces that nearly coincide: formed projectors carry 1e-15 of their own, so absolutely.
    noise = torch.randn(X.shape, generator=torch.Generator().manual_seed(2), dtype=X.dtype)
    near = tuple(X[:sample] + size * noise[:sample] for size in (0.0, 1e-8, 1e-6))
    coincident = float(np.abs(ours(near).numpy() - naive(near, range(sample))).max())
    assert difference < 1e-8, f"our distances differ from the naive ones by {difference}"
    assert coincident < 1e-13, f"distances of nearly coinciding spaces differ by {coincident}"
    return _settings(turns=turns, sample=sample) | {
        "ratio": statistics.median(slow / fast for slow, fast in seconds),
        "seconds_reference": [slow for slow, _ in seconds],
        "seconds_ours": [fast for _, fast in seconds],
        "digits": _digits(difference),
        "digits_near_coincidence": _digits(coincident),
        "distances_near_coincidence": ours(near).mean(0).tolist(),
    }


def _run(steps: int, every: int) -> tuple[Tensor, list[Tensor]]:
    """Input (trials, m, n) and the first layer's weights along a training run."""
    X = _input(TRIALS)
    net = networks.autoencoder(AMBIENT, INNER, activation="relu", bias=False)
    kept: list[Tensor] = []

    def keep(state: training.State) -> Tensor:
        kept.append(state.weights[0][0].double())
        return torch.zeros(TRIALS)

    task, start = training.Objective(net, X.float()), net.init(trials=TRIALS, seed=0)
    optimizer = training.GD(1e-3)
    training.train(task, start, optimizer, steps, schedule=every, measure={"keep": keep})
    return X, kept


def distance_tracked_vs_naive(*, steps: int = 60, every: int = 5, sample: int = 3) -> dict:
    """The same along a training run: the input's basis once, the others tracked."""
    X, kept = _run(steps, every)
    once, basis = _clock(lambda: subspaces.principal(X, RANK).basis)
    trackers = [subspaces.Tracker(RANK) for _ in range(2)]
    seconds, certified, true, difference = [], 0.0, 0.0, 0.0

    def follow(layer: tuple[Tensor, Tensor, Tensor]) -> tuple[list, Tensor]:
        found = [track(A) for track, A in zip(trackers, layer[1:], strict=True)]
        bases = [basis, *(f.basis for f in found)]
        return found, torch.stack([subspaces.distance(bases[a], bases[b]) for a, b in PAIRS], -1)

    for turn, W in enumerate(kept):
        layer = _layer(W, X)
        some = [(turn * sample + i) % TRIALS for i in range(sample)]
        slow, expected = _clock(lambda layer=layer, some=some: naive(layer, some))
        fast, (found, measured) = _clock(lambda layer=layer: follow(layer))
        if turn:  # the first is a cold start
            seconds.append((slow * TRIALS / sample, fast + once / len(kept)))
        difference = max(difference, float(np.abs(measured[some].numpy() / expected - 1).max()))
        for f, A in zip(found, layer[1:], strict=True):
            exact = subspaces.principal(A[some], RANK, method="svd").basis
            apart = subspaces.distance(f.basis[some], exact, norm="spectral")
            certified, true = max(certified, f.error.max().item()), max(true, apart.max().item())
    assert difference < 1e-8, f"tracked distances differ from the naive ones by {difference}"
    assert true <= certified, f"a true error of {true} is above the stated {certified}"
    return _settings(steps=steps, every=every, sample=sample) | {
        "ratio": statistics.median(slow / fast for slow, fast in seconds),
        "seconds_reference": [slow for slow, _ in seconds],
        "seconds_ours": [fast for _, fast in seconds],
        "seconds_input_once": once,
        "digits": _digits(difference),
        "stated_error": certified,
        "true_error": true,
        "relative_move_of_weights": float((kept[-1] - kept[0]).norm() / kept[0].norm()),
    }


def _instances(count: int, m: int, n: int, r: int) -> tuple[Tensor, Tensor]:
    """Clean matrices of rank r and noise: (count, m, n) each."""
    rng = np.random.default_rng(0)
    clean = rng.standard_normal((count, m, r)) @ rng.standard_normal((count, r, n)) / 2
    return torch.from_numpy(clean), torch.from_numpy(0.1 * rng.standard_normal((count, m, n)))


def lemma_by_scipy(clean: np.ndarray, noise: np.ndarray, r: int) -> np.ndarray:
    """Both sides (instances, 2) of Lemma 4.1, one instance after another."""
    sides = []
    for A, Z in zip(clean, noise, strict=True):
        _, values, right = scipy.linalg.svd(A, full_matrices=False)
        _, noisy_values, noisy_right = scipy.linalg.svd(A + Z, full_matrices=False)
        moved = noisy_right[:r].T @ noisy_right[:r] - right[:r].T @ right[:r]
        size = scipy.linalg.svd(Z, compute_uv=False)[0]
        opening = values[r - 1] - noisy_values[r]
        sides.append((np.abs(moved).max(), (2 * r) ** 0.5 * size / opening))
    return np.array(sides)


def lemma_by_lowdim(clean: Tensor, noise: Tensor, r: int) -> Tensor:
    """Both sides (instances, 2) of Lemma 4.1, all instances at once."""
    before = subspaces.principal(clean, r)
    after = subspaces.principal(clean + noise, r + 1)  # one more, for the following value
    moved = subspaces.distance(before.basis, after.basis[..., :r], norm="max")
    opening = before.values[:, r - 1] - after.values[:, r]
    return torch.stack([moved, (2 * r) ** 0.5 * subspaces.spectral_norm(noise) / opening], -1)


def lemma_10000_vs_scipy(*, turns: int = 7, count: int = 10_000, sample: int = 1000) -> dict:
    """Both sides of Lemma 4.1 on small instances, over a Python loop with scipy."""
    m, n, r = 20, 24, 4
    clean, noise = _instances(count, m, n, r)
    lemma_by_lowdim(clean, noise, r)
    seconds, difference = [], 0.0
    for turn in range(turns):
        some = slice(turn * sample, (turn + 1) * sample)
        part = clean[some].numpy(), noise[some].numpy()
        slow, expected = _clock(lambda part=part: lemma_by_scipy(*part, r))
        fast, found = _clock(lambda: lemma_by_lowdim(clean, noise, r))
        seconds.append((slow * count / sample, fast))
        difference = max(difference, float(np.abs(found[some].numpy() / expected - 1).max()))
    assert difference < 1e-8, f"our sides differ from scipy's by {difference}"
    ratio = statistics.median(slow / fast for slow, fast in seconds)
    profile = _lemma_profile(clean, noise, r, turns)
    reference = statistics.median(slow for slow, _ in seconds)
    return {
        "ratio": ratio,
        "seconds_reference": [slow for slow, _ in seconds],
        "seconds_ours": [fast for _, fast in seconds],
        "digits": _digits(difference),
        "profile_seconds": profile,
        # what would be reached if everything but LAPACK's eigenvalue drivers were free
        "ratio_if_only_lapack": reference / profile["lapack alone"],
        "count": count, "m": m, "n": n, "r": r, "turns": turns, "sample": sample,
        "threads": torch.get_num_threads(),
    }  # fmt: skip


def _lemma_profile(clean: Tensor, noise: Tensor, r: int, turns: int) -> dict[str, float]:
    """Median seconds of the parts, and of LAPACK alone on Gram matrices that are there.

    The clean matrices have rank r and need no LAPACK driver; the noisy ones need all their
    eigenvectors, because no driver for stacks returns some of them; the noise its eigenvalues.
    """
    X = clean + noise
    before, after = (subspaces.principal(A, r).basis for A in (clean, X))
    noisy, square = X @ X.mT, noise @ noise.mT

    def lapack() -> None:
        over_batch(torch.linalg.eigh, noisy)
        over_batch(torch.linalg.eigvalsh, square)

    parts = {
        "space of the clean matrices": lambda: subspaces.principal(clean, r),
        "space of the noisy matrices": lambda: subspaces.principal(X, r + 1),
        "norm of the noise": lambda: subspaces.spectral_norm(noise),
        "largest entry": lambda: subspaces.distance(before, after, norm="max"),
        "lapack alone": lapack,
    }
    return {
        name: statistics.median(_clock(work)[0] for _ in range(turns))
        for name, work in parts.items()
    }


def distance_scaling(*, repeats: int = 3) -> dict:
    """Seconds of the three distances against trials, samples n and ambient dimension m."""
    base = {"trials": 10, "n": 200, "m": 200}
    axes = {"trials": [5, 10, 20, 40], "n": [100, 200, 400, 800], "m": [100, 200, 400, 800]}
    result: dict = {"base": base}
    for axis, values in axes.items():
        seconds = []
        for value in values:
            point = base | {axis: value}
            X = _input(point["trials"], point["m"], point["n"])
            matrices = _layer(_weights(point["trials"], point["m"], point["m"] // 5), X)
            ours(matrices)
            seconds.append(
                statistics.median(_clock(lambda a=matrices: ours(a))[0] for _ in range(repeats))
            )
        result[axis] = {"values": values, "seconds": seconds}
    return result
