"""When to measure, and how far along a run is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable

import numpy as np
from tqdm import tqdm


def resolve(schedule: str | int | Iterable[int], steps: int) -> list[int]:
    """The steps at which to measure, rising, always with 0 and ``steps``.

    ``"log"`` gives at most about 60 steps, evenly spread on a log axis; a whole number k gives
    every k-th step; a sequence gives its own.

    Raises
    ------
    ValueError
        If the schedule is none of these, or leaves 0 … ``steps``.

    Examples
    --------
    >>> resolve(4, 10), resolve([3], 10), resolve("log", 4)
    ([0, 4, 8, 10], [0, 3, 10], [0, 1, 2, 3, 4])
    """
    wanted = f"a whole number of 1 or more, or whole numbers from 0 to {steps}"
    if isinstance(schedule, str):
        if schedule != "log":
            raise ValueError(f"schedule must be 'log', {wanted}; you gave {schedule!r}.")
        inner = np.unique(np.rint(np.geomspace(1, steps, 60)).astype(int)).tolist() if steps else []
    elif isinstance(schedule, int | np.integer):
        if isinstance(schedule, bool) or schedule < 1:
            raise ValueError(f"schedule must be 'log', {wanted}; you gave {schedule!r}.")
        inner = list(range(0, steps + 1, int(schedule)))
    else:
        try:
            values = [float(s) for s in schedule]
        except (TypeError, ValueError):
            raise ValueError(f"schedule must be 'log', {wanted}; you gave {schedule!r}.") from None
        bad = [v for v in values if not (0 <= v <= steps and v == int(v))]
        if bad:
            raise ValueError(f"schedule must be 'log', {wanted}; you gave {bad[0]:g} among others.")
        inner = [int(v) for v in values]
    return sorted({0, steps, *inner})


class Progress:
    """A bar on a terminal for runs of more than two seconds; nothing elsewhere.

    Examples
    --------
    >>> with Progress(10) as bar:
    ...     bar.add(3)
    """

    delay = 2.0

    def __init__(self, total: int) -> None:
        self.total = total
        self.bar: tqdm | None = None
        self.lock = threading.Lock()

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self.bar = tqdm(
                total=self.total,
                desc="training",
                unit="step",
                unit_scale=True,
                delay=self.delay,
                leave=False,
                file=sys.stderr,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def add(self, steps: int) -> None:
        """Count ``steps`` more steps of one trial."""
        if self.bar is not None:
            with self.lock:
                self.bar.update(steps)
