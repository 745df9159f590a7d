"""Four instruments against one forward pass, a recorder's share of a training run, and memory.

Compared variants take turns, and a ratio is the median of the turns' ratios.
"""

from __future__ import annotations

import cProfile
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from lowdim.instruments import classes, offdata, rowspaces, spectra
from lowdim.instruments.loading import data
from lowdim.instruments.measuring import INSTRUMENTS, measure
from lowdim.instruments.moments import First, Second
from lowdim.instruments.recording import Recorder
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

LAYERS, WIDTH, POINTS, CLASSES = 10, 512, 10_000, 10
GOAL = 10.0  # forward passes that all four instruments may cost
SHARE = 0.05  # of the time that a recorder may take
ROOM = 1e9  # bytes beyond the model and a batch


def _network() -> nn.Sequential:
    torch.manual_seed(0)
    parts: list[nn.Module] = []
    for _ in range(LAYERS):
        parts += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    return nn.Sequential(*parts)


def _points() -> tuple[Tensor, Tensor]:
    labels = torch.arange(POINTS) % CLASSES
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(CLASSES, WIDTH, generator=generator)
    return centres[labels] + torch.randn(POINTS, WIDTH, generator=generator), labels


# where the time goes: functions of which none calls another of them
SPENT: dict[str, tuple[Callable, ...]] = {
    "sums of the first pass": (First.add,),
    "sums of the second pass": (Second.add,),
    "spectra of values": (First.spectrum,),
    "spectra of weights": (spectra.weight_numbers,),
    "k-means": (spectra.centres,),
    "derivatives": (offdata.sensitivity_numbers,),
    "numbers and ranges": (
        rowspaces.rowspace_numbers, spectra.spectrum_numbers, classes.class_numbers,
    ),
}  # fmt: skip


def _seconds(function: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    function()
    return clock() - start


def _spent(function: Callable[[], object]) -> dict[str, float]:
    """Seconds in each part of :data:`SPENT` by the profiler; the rest is mostly forward passes."""
    profile = cProfile.Profile(timer=time.process_time)
    whole = _seconds(lambda: profile.runcall(function), time.process_time)
    profile.create_stats()
    within = {key[:2]: row[3] for key, row in profile.stats.items()}  # type: ignore[attr-defined]
    found = {}
    for what, functions in SPENT.items():
        codes = [f.__code__ for f in functions]
        found[what] = sum(within.get((c.co_filename, c.co_firstlineno), 0.0) for c in codes)
    found["forward passes and the rest"] = whole - sum(found.values())
    return found


def instruments_vs_forward(*, turns: int = 3) -> dict:
    """Ten forward passes over all four instruments, what each costs, and where the time goes.

    In processor time on one thread, which a busy machine hardly moves; by the clock and on both
    threads beside it.
    """
    model, (x, y) = _network(), _points()

    def forward() -> None:
        with torch.no_grad():
            for part in x.split(256):
                model(part)

    def run(**options: Any) -> None:
        measure(model, x, labels=y, **options)

    measure(model, x[:512], labels=y[:512])  # libraries are loaded by now
    by_clock = [_seconds(f, time.perf_counter) for f in (forward, run)]
    threads, now = torch.get_num_threads(), time.process_time
    with threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            pairs = [(_seconds(forward, now), _seconds(run, now)) for _ in range(turns)]
            one = min(a for a, _ in pairs)
            alone = {
                name: _seconds(lambda name=name: run(instruments=[name]), now) / one
                for name in INSTRUMENTS
            }
            spent = {what: seconds / one for what, seconds in _spent(run).items()}
        finally:
            torch.set_num_threads(threads)
    multiple = statistics.median(b / a for a, b in pairs)
    return {
        "ratio": GOAL / multiple, "multiple": multiple, "forward_seconds": one,
        "multiple_by_the_clock": by_clock[1] / by_clock[0], "multiple_of_each_alone": alone,
        "spent": spent, "layers": LAYERS, "width": WIDTH, "points": POINTS,
        "taps": 2 * LAYERS + 1,
    }  # fmt: skip


def _digits_network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def recorder_share(*, steps: int = 3000) -> dict:
    """A twentieth over the share of the time that the default schedule takes, on digits."""
    model = _digits_network()
    given = data("digits", model)
    x, y = given.train
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=1e-2)
    generator = torch.Generator().manual_seed(0)
    recorder = Recorder(model, given.train)
    for _ in range(steps):
        at = torch.randint(0, len(y), (64,), generator=generator)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[at]), y[at]).backward()
        optimizer.step()
        recorder.step()
    return {
        "ratio": SHARE / recorder.share, "share": recorder.share, "steps": steps,
        "records": [record.step for record in recorder.records], "seconds": recorder.elapsed,
        "seconds_of_a_record": statistics.median(r.seconds for r in recorder.records),
    }  # fmt: skip


class _Stream:
    """Batches that are made when they are asked for, the same each time."""

    def __init__(self, points: int, batch: int) -> None:
        self.points, self.batch = points, batch

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(0)
        for start in range(0, self.points, self.batch):
            n = min(self.batch, self.points - start)
            y = torch.randint(0, CLASSES, (n,), generator=generator)
            yield torch.randn(n, WIDTH, generator=generator) + y[:, None], y


def _peak() -> int:
    """The largest memory of this process so far, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def _measure_stream(points: int) -> dict:
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
    batch = next(iter(_Stream(2048, 2048)))[0]
    with torch.no_grad():
        model(batch)
    measure(model, _Stream(4096, 2048))  # libraries are loaded by now
    before = _peak()
    start = time.perf_counter()
    measure(model, _Stream(points, 2048))
    return {"bytes": _peak() - before, "base": before, "seconds": time.perf_counter() - start}


def streaming_memory(*, points: int = 1_000_000) -> dict:
    """One gigabyte over the memory that a million points take beyond four thousand."""
    code = (
        "import json; from bench import bench_instruments as b; "
        f"print(json.dumps(b._measure_stream({points})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {"ratio": ROOM / max(found["bytes"], 1e6), "points": points, **found}
