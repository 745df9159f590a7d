"""Measure everything, print a table, and write the figures under _build.

``python -m bench NAME …`` measures only the ratios named, and writes nothing.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from lowdim.evidence import plots
from lowdim.evidence.tables import Table

from bench import bench_distances, bench_grading, bench_instruments, bench_sweep, bench_training

OUT = Path("_build")
# name: (function, floor, wanted, what is divided by what)
RATIOS = {
    "train_100_vs_bare": (
        bench_training.train_100_vs_bare, 0.75, 0.9, "five bare products / training",
    ),
    "train_100_vs_loop": (
        bench_training.train_100_vs_loop, 1.4, 2.0, "nn.Sequential and SGD in a loop / training",
    ),
    "distance_100_vs_naive": (
        bench_distances.distance_100_vs_naive, 4.0, 10.0, "SVD and projectors / thin bases",
    ),
    "distance_tracked_vs_naive": (
        bench_distances.distance_tracked_vs_naive, 15.0, 40.0, "the same / tracked along a run",
    ),
    "lemma_10000_vs_scipy": (
        bench_distances.lemma_10000_vs_scipy, 8.0, 20.0, "a loop with scipy / in one batch",
    ),
    "sweep_50_vs_papermill": (
        bench_sweep.sweep_50_vs_papermill, 10.0, 20.0, "a kernel each / a fork of a warm worker",
    ),
    "instruments_vs_forward": (
        bench_instruments.instruments_vs_forward, 0.8, 1.0, "ten forward passes / four instruments",
    ),
    "recorder_share": (
        bench_instruments.recorder_share, 1.0, 1.2, "a twentieth / a recorder's share of the time",
    ),
    "streaming_memory": (
        bench_instruments.streaming_memory, 1.0, 2.0, "1 GB / memory of a million more points",
    ),
}  # fmt: skip
if reason := bench_grading.missing():
    print(f"not measured: grade_30_vs_nbgrader ({reason})", file=sys.stderr)
else:
    RATIOS["grade_30_vs_nbgrader"] = (
        bench_grading.grade_30_vs_nbgrader, 5.0, 10.0, "nbgrader autograde / in jails",
    )  # fmt: skip


def exponent(values: list[float], seconds: list[float]) -> float:
    """The slope of log seconds against log value, by least squares."""
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])


def scaling() -> dict:
    """Cost against each size with fitted exponents: {what: {axis: {values, seconds, exponent}}}."""
    raw = {
        "a training step": (bench_training.train_scaling(), "seconds_per_step"),
        "three distances": (bench_distances.distance_scaling(), "seconds"),
    }
    result: dict = {}
    for what, (found, key) in raw.items():
        result[what] = {"base": found["base"]}
        for axis in ("trials", "n", "m", "depth"):
            if axis in found:
                values, seconds = found[axis]["values"], found[axis][key]
                result[what][axis] = {
                    "values": values, "seconds": seconds, "exponent": exponent(values, seconds),
                }  # fmt: skip
    return result


def draw(found: dict) -> str:
    """The scaling as SVG text: one panel for each axis, both costs, exponents in the legend."""
    fig, axes = plots.figure(7.6, 5.6, nrows=2, ncols=2, sharey=True)
    for ax, axis in zip(axes.flat, ("trials", "n", "m", "depth"), strict=True):
        for what, lines in found.items():
            if axis in lines:
                line = lines[axis]
                label = f"{what}: exponent {line['exponent']:.2f}"
                ax.loglog(line["values"], line["seconds"], "o-", label=label)
        sizes = sorted(
            {v for lines in found.values() if axis in lines for v in lines[axis]["values"]}
        )
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        ax.set(xlabel=axis, ylabel="seconds")
        ax.legend(fontsize=8, loc="upper left")
    top = axes.flat[0].get_ylim()[1]
    axes.flat[0].set_ylim(top=6 * top)  # room for the legends; the panels share this axis
    return plots.svg(fig)


def state(ratio: float, floor: float, wanted: float) -> str:
    """How a ratio stands to its two figures."""
    return "as wanted" if ratio >= wanted else "above floor" if ratio >= floor else "BELOW FLOOR"


def notes(details: dict) -> list[str]:
    """What the ratios do not say: agreement, errors, the profile where a floor is missed."""
    lines = []
    if near := details.get("distance_100_vs_naive"):
        lines.append(
            f"distances agree with the naive ones to {near['digits']:.1f} digits; where spaces "
            f"nearly coincide, absolutely to 1e-{near['digits_near_coincidence']:.1f}."
        )
    if tracked := details.get("distance_tracked_vs_naive"):
        lines.append(
            f"tracked: largest certified error {tracked['stated_error']:.1e}, largest true error "
            f"{tracked['true_error']:.1e}, distances agree to {tracked['digits']:.1f} digits."
        )
    if lemma := details.get("lemma_10000_vs_scipy"):
        lines.append(f"lemma: both sides agree with scipy to {lemma['digits']:.1f} digits.")
    if each := details.get("instruments_vs_forward"):
        for what, key in (("alone", "multiple_of_each_alone"), ("spent on", "spent")):
            parts = ", ".join(f"{k} {v:.1f}" for k, v in each[key].items())
            lines.append(
                f"instruments: {each['multiple']:.1f} forward passes in all; {what} {parts}."
            )
    if share := details.get("recorder_share"):
        lines.append(
            f"recorder: {share['share']:.1%} of the time, {len(share['records'])} records."
        )
    if memory := details.get("streaming_memory"):
        lines.append(
            f"streaming: {memory['bytes'] / 1e6:.0f} MB more for {memory['points']:,} points."
        )
    if lemma and lemma["ratio"] < RATIOS["lemma_10000_vs_scipy"][1]:
        spent = lemma["profile_seconds"]
        parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in spent.items())
        lines.append(
            f"lemma, why not more: {parts}; were all but LAPACK free, the ratio would be "
            f"{lemma['ratio_if_only_lapack']:.1f}."
        )
    return lines


def measured(names: Iterable[str]) -> dict:
    """What each of these ratios found."""
    details: dict = {}
    for name in names:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        details[name] = RATIOS[name][0]()
    return details


def show(details: dict) -> None:
    """The table of ratios and what they do not say."""
    rows = []
    for name, (_, floor, wanted, what) in RATIOS.items():
        if name in details:
            ratio = float(details[name]["ratio"])
            rows.append((name, f"{ratio:.2f}", floor, wanted, state(ratio, floor, wanted), what))
    print(Table(("name", "ratio", "floor", "wanted", "", "reference / ours"), rows))
    print()
    print("\n".join(notes(details)))


def main(names: Sequence[str] = ()) -> int:
    """Run the benchmark, or of it what is named; the exit code."""
    for name in names:
        if name not in RATIOS:
            print(f"there is no ratio {name!r}; there are {', '.join(RATIOS)}", file=sys.stderr)
            return 2
    torch.set_num_threads(2)
    if names:
        show(measured(names))
        return 0
    OUT.mkdir(exist_ok=True)
    start = time.perf_counter()
    details = measured(RATIOS)
    print("measuring how the cost grows", file=sys.stderr, flush=True)
    details["scaling"] = scaling()
    details["machine"] = {
        "processor": platform.machine(), "cores": os.cpu_count(), "threads": 2,
        "torch": torch.__version__, "numpy": np.__version__,
        "load_per_core_at_end": round(os.getloadavg()[0] / (os.cpu_count() or 1), 2),
        "seconds_in_all": round(time.perf_counter() - start, 1),
    }  # fmt: skip
    ratios = {name: float(details[name]["ratio"]) for name in RATIOS}
    for file, content in (("bench.json", ratios), ("bench_details.json", details)):
        (OUT / file).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (OUT / "bench_scaling.svg").write_text(draw(details["scaling"]), encoding="utf-8")
    show(details)
    growth = [
        (what, axis, line["values"][0], line["values"][-1], f"{line['exponent']:.2f}")
        for what, lines in details["scaling"].items()
        for axis, line in lines.items()
        if axis != "base"
    ]
    print()
    print(Table(("cost of", "against", "from", "to", "exponent"), growth))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
