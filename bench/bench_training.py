"""Training 100 autoencoders against bare matrix products and against a plain loop over trials.

Compared variants take turns, and a ratio is the median of the turns' ratios: on a shared machine
both sides of one turn meet much the same neighbours.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from lowdim.nets import networks, training
from torch import Tensor, nn

TRIALS, WIDTH, INNER, SAMPLES, RATE = 100, 400, 80, 400, 1e-3


def _data(trials: int, m: int, n: int) -> Tensor:
    return torch.randn(trials, m, n, generator=torch.Generator().manual_seed(0)) / m**0.5


def _seconds(work: Callable[[], object]) -> float:
    return _clock(work)[0]


def _clock(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the wall, and how many cores were had on average."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    seconds = time.perf_counter() - start
    return seconds, (time.process_time() - cpu) / seconds


def _turns(first: Callable[[], object], ours: Callable[[], object], repeats: int) -> dict:
    """Seconds of both, turn about, after one turn to warm up; ratio = first / ours.

    Fewer cores than threads in ``cores_*`` mean that something else was running: a reference that
    synchronizes threads at every product then suffers most. ``ratio_fastest`` compares each side's
    fastest turn.
    """
    pairs = [(_clock(first), _clock(ours)) for _ in range(repeats + 1)][1:]
    reference, mine = [a for a, _ in pairs], [b for _, b in pairs]
    ratios = [a[0] / b[0] for a, b in pairs]
    return {
        "ratio": statistics.median(ratios),
        "ratio_fastest": min(reference)[0] / min(mine)[0],
        "ratios": ratios,
        "seconds_reference": [seconds for seconds, _ in reference],
        "seconds_ours": [seconds for seconds, _ in mine],
        "cores_reference": [cores for _, cores in reference],
        "cores_ours": [cores for _, cores in mine],
        "threads": torch.get_num_threads(),
    }


def _ours(X: Tensor, steps: int) -> tuple[networks.Dense, networks.Weights, Callable[[], object]]:
    net = networks.autoencoder(WIDTH, INNER, activation="relu", bias=False)
    weights = net.init(trials=len(X), seed=0)

    def work() -> training.Run:
        task = training.Objective(net, X)
        return training.train(task, weights, training.GD(RATE), steps, schedule=[steps])

    return net, weights, work


def _settings(steps: int, repeats: int, trials: int) -> dict:
    return {
        "trials": trials,
        "widths": [WIDTH, INNER, WIDTH],
        "samples": SAMPLES,
        "steps": steps,
        "repeats": repeats,
        "dtype": "float32",
    }


def train_100_vs_bare(*, steps: int = 60, repeats: int = 5, trials: int = TRIALS) -> dict:
    """Five bare batched products a step, into memory that is there, over our whole training."""
    X = _data(trials, WIDTH, SAMPLES)
    _, ((W1, _), (W2, _)), ours = _ours(X, steps)
    H, D = torch.empty(trials, INNER, SAMPLES), torch.empty(trials, INNER, SAMPLES)
    R = torch.empty(trials, WIDTH, SAMPLES)
    G1, G2 = torch.empty_like(W1), torch.empty_like(W2)

    def bare() -> None:
        for _ in range(steps):
            torch.bmm(W1, X, out=H)
            torch.bmm(W2, H, out=R)
            torch.bmm(R, H.mT, out=G2)
            torch.bmm(W2.mT, R, out=D)
            torch.bmm(D, X.mT, out=G1)

    return _turns(bare, ours, repeats) | _settings(steps, repeats, trials)


def train_100_vs_loop(*, steps: int = 60, repeats: int = 3, trials: int = TRIALS) -> dict:
    """A loop over trials with nn.Sequential and torch.optim.SGD over our whole training."""
    X = _data(trials, WIDTH, SAMPLES)
    _, weights, ours = _ours(X, steps)
    rows = X.mT.contiguous()

    def loop() -> None:
        for t in range(trials):
            model = nn.Sequential(
                nn.Linear(WIDTH, INNER, bias=False), nn.ReLU(), nn.Linear(INNER, WIDTH, bias=False)
            )
            with torch.no_grad():
                model[0].weight.copy_(weights[0][0][t])
                model[2].weight.copy_(weights[1][0][t])
            optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
            for _ in range(steps):
                optimizer.zero_grad()
                nn.functional.mse_loss(model(rows[t]), rows[t], reduction="sum").backward()
                optimizer.step()

    return _turns(loop, ours, repeats) | _settings(steps, repeats, trials)


def train_scaling(*, steps: int = 40, repeats: int = 5) -> dict:
    """Seconds of a step against trials, samples n, width m (inner m/5) and depth, one at a time.

    The fastest of ``repeats`` runs counts, start and final evaluation included.
    """
    base = {"trials": 20, "n": 200, "m": 200, "depth": 2}
    axes = {
        "trials": [5, 10, 20, 40, 80],
        "n": [50, 100, 200, 400, 800],
        "m": [50, 100, 200, 400],
        "depth": [2, 4, 6, 8],
    }
    result: dict = {"base": base | {"steps": steps, "repeats": repeats}}
    for axis, values in axes.items():
        seconds = []
        for value in values:
            point = base | {axis: value}
            inner = [point["m"] // 5, point["m"]] * (point["depth"] // 2)
            net = networks.Dense((point["m"], *inner), bias=False)
            X = _data(point["trials"], point["m"], point["n"])
            weights = net.init(trials=point["trials"])

            def work(net=net, weights=weights, X=X) -> None:
                task = training.Objective(net, X)
                training.train(task, weights, training.GD(1e-5), steps, schedule=[steps])

            work()
            seconds.append(min(_seconds(work) for _ in range(repeats)) / steps)
        result[axis] = {"values": values, "seconds_per_step": seconds}
    return result


if __name__ == "__main__":
    for function in (train_100_vs_bare, train_100_vs_loop):
        figures = function()
        turns = " ".join(f"{r:.2f}" for r in figures["ratios"])
        fastest = figures["ratio_fastest"]
        print(
            f"{function.__name__}: {figures['ratio']:.2f}  (turns {turns}; fastest {fastest:.2f})"
        )
    for name, line in train_scaling().items():
        print(name, line)
