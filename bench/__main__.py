"""Measure everything, print a table, and write the figures under _build."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
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
    near, tracked, lemma = (details[name] for name in list(RATIOS)[2:5])
    each = details["instruments_vs_forward"]
    lines = [
        f"distances agree with the naive ones to {near['digits']:.1f} digits; where spaces nearly "
        f"coincide, absolutely to 1e-{near['digits_near_coincidence']:.1f}.",
        f"tracked: largest certified error {tracked['stated_error']:.1e}, largest true error "
        f"{tracked['true_error']:.1e}, distances agree to {tracked['digits']:.1f} digits.",
        f"lemma: both sides agree with scipy to {lemma['digits']:.1f} digits.",
        f"instruments: {each['multiple']:.1f} forward passes in all; alone "
        + ", ".join(f"{k} {v:.1f}" for k, v in each["multiple_of_each_alone"].items())
        + ".",
        f"recorder: {details['recorder_share']['share']:.1%} of the time, "
        f"{len(details['recorder_share']['records'])} records.",
        f"streaming: {details['streaming_memory']['bytes'] / 1e6:.0f} MB more for "
        f"{details['streaming_memory']['points']:,} points.",
    ]
    if lemma["ratio"] < RATIOS["lemma_10000_vs_scipy"][1]:
        spent = lemma["profile_seconds"]
        parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in spent.items())
        lines.append(
            f"lemma, why not more: {parts}; were all but LAPACK free, the ratio would be "
            f"{lemma['ratio_if_only_lapack']:.1f}."
        )
    return lines


def main() -> None:
    """Run the benchmark."""
    torch.set_num_threads(2)
    OUT.mkdir(exist_ok=True)
    start = time.perf_counter()
    details: dict = {}
    for name, (function, *_) in RATIOS.items():
        print(f"measuring {name}", file=sys.stderr, flush=True)
        details[name] = function()
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
    rows = [
        (name, f"{ratios[name]:.2f}", floor, wanted, state(ratios[name], floor, wanted), what)
        for name, (_, floor, wanted, what) in RATIOS.items()
    ]
    print(Table(("name", "ratio", "floor", "wanted", "", "reference / ours"), rows))
    print()
    print("\n".join(notes(details)))
    growth = [
        (what, axis, line["values"][0], line["values"][-1], f"{line['exponent']:.2f}")
        for what, lines in details["scaling"].items()
        for axis, line in lines.items()
        if axis != "base"
    ]
    print()
    print(Table(("cost of", "against", "from", "to", "exponent"), growth))


if __name__ == "__main__":
    main()
