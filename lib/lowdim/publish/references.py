"""What the tests compare each chapter with: its verdict table, and every number that it says.

`tests/references/<part>/<chapter>.json` keeps, for the chapter's run with its CI parameters, the
text of every cell tagged `nbval-check-output`, and each value with how far it may be off. Words
are not in it: rewording makes no reference stale. `lowdim references` writes them by running the
chapter several times; nobody edits them.

How far a value may be off is measured. The chapter is run on one thread, then on two threads with
other instructions, as another processor would have (so measure on one that has AVX-512: elsewhere
the two are alike but for the threads). A value that does not move is held to
:data:`EXACT`; one that moves came out of something that amplifies rounding, such as training or a
search, and is held to what that run, and one with another seed, make of it. In chapters that train
real numbers have at least the room :data:`TRAINED`: whatever emulation says, two real processors
were seen to differ there. And where a real processor of another kind is at hand, :func:`widen` asks
it: what is there stays, with the room that this processor's run needs as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lowdim.publish import content, records
from lowdim.publish.chapters import Chapter
from lowdim.publish.execute import obtain
from lowdim.publish.executor import ChapterFailed, execute
from lowdim.publish.records import write_atomically
from lowdim.publish.running import book_root

if TYPE_CHECKING:
    from nbformat import NotebookNode

TAG = "nbval-check-output"
PRESET = "ci"
EXACT = 5e-6  # relative: the last of the six digits that a record keeps
ROUNDING = 1e-12  # absolute: what is below it is rounding, and another library rounds otherwise
# Of what comes out of training, relative and absolute: training amplifies rounding, and accuracies
# on some hundred points move by one or two of them. Counts are never loosened.
TRAINED = (0.02, 0.015)
NO_TRAINING = ("lowdim.evidence", "lowdim.linalg", "lowdim.publish")  # gradients for other ends
ROOM = 3.0  # times what was measured between two processors, of which there are more than two
# What another processor would do to rounding: the kernels that torch, MKL, oneDNN, OpenBLAS and
# numpy have for one without AVX-512, and two threads. (Those for one without AVX2 are slow.)
OTHER_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "2"),
    "OMP_WAIT_POLICY": "passive",  # threads that wait for one another do not take the core
}


class ReferenceProblem(ValueError):
    """One sentence: what is wrong with a reference, and the command that refreshes it."""


def reference_path(chapter: Chapter) -> Path:
    """Where the chapter's reference is kept."""
    return book_root(chapter) / "tests" / "references" / chapter.part / f"{chapter.stem}.json"


def ci_values(chapter: Chapter) -> dict[str, Any]:
    """What the tests put in place of the defaults: the preset `ci`, if the chapter has one."""
    return dict(chapter.presets.get(PRESET, {}))


def check_cells(nb: NotebookNode) -> list[NotebookNode]:
    """The cells to compare, in order."""
    return [
        cell
        for cell in nb.cells
        if cell.cell_type == "code" and TAG in cell.metadata.get("tags", [])
    ]


def kept(outputs: Iterable[Any]) -> list[dict[str, Any]]:
    """What is compared of a cell's outputs: printed text, joined, and `text/plain`.

    >>> kept([{"output_type": "stream", "name": "stdout", "text": "a"},
    ...       {"output_type": "stream", "name": "stderr", "text": "b"},
    ...       {"output_type": "stream", "name": "stdout", "text": "c"}])
    [{'name': 'stdout', 'output_type': 'stream', 'text': 'ac'}]
    """
    printed, shown = "", []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream" and output["name"] == "stdout":
            printed += output["text"]
        elif kind in ("display_data", "execute_result") and "text/plain" in output["data"]:
            text = output["data"]["text/plain"]
            shown.append(
                {"data": {"text/plain": text}, "metadata": {}, "output_type": "display_data"}
            )
    stream = {"name": "stdout", "output_type": "stream", "text": printed}
    return ([stream] if printed else []) + shown


def load(chapter: Chapter) -> dict[str, Any]:
    """The chapter's reference; `ReferenceProblem` if it is missing, damaged, stale or empty."""
    refresh = f"run `lowdim references {chapter.name}`, look at the difference and commit it."
    path = reference_path(chapter)
    if not path.is_file():
        raise ReferenceProblem(f"{chapter.name} has no reference: {refresh}")
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        cells, parameters, _ = stored["cells"], stored["parameters"], stored["values"].items()
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise ReferenceProblem(f"The reference of {chapter.name} is damaged: {refresh}") from None
    if parameters != chapter.defaults | ci_values(chapter):
        raise ReferenceProblem(
            f"The reference of {chapter.name} is stale, its parameters changed: {refresh}"
        )
    if not cells or not all(kept(outputs) for outputs in cells):
        raise ReferenceProblem(
            f"The reference of {chapter.name} has a check cell without output: {refresh}"
        )
    return stored


def _trains(chapter: Chapter) -> bool:
    """Whether code that the chapter imports follows gradients, found by reading it."""
    library = content.Library.of(book_root(chapter))
    imports = content.read_chapter_code(chapter.path.read_bytes()).imports
    return any(
        b".backward(" in raw or b"autograd.grad(" in raw
        for module in library.closure(imports)
        if not module.startswith(NO_TRAINING)
        for raw in [library.modules[module].read_bytes()]
    )


def differences(
    values: Mapping[str, Any], reference: Mapping[str, Any], *, trained: bool = False
) -> list[str]:
    """How values that a run said differ from the reference, a sentence each.

    Real numbers of a chapter that trains have at least the room :data:`TRAINED`.

    >>> differences({"a": 1.05}, {"a": {"is": 1.0, "within": 0.001}})
    ['a is 1.05, but the reference has 1.0, within 0.001']
    >>> differences({"a": 1.015}, {"a": {"is": 1.0, "within": 0}}, trained=True)
    []
    """
    found = [f"{name} is said, but the reference has none" for name in values.keys() - reference]
    found += [f"{name} is not said any more" for name in reference.keys() - values]
    for name in sorted(values.keys() & reference.keys()):
        expected, within = reference[name]["is"], reference[name]["within"]
        if not _agree(values[name], expected, within, trained=trained):
            rooms = within if isinstance(within, list) else [within]
            near = f", within {', '.join(f'{each:g}' for each in rooms)}" if any(rooms) else ""
            found.append(f"{name} is {values[name]}, but the reference has {expected}{near}")
    return sorted(found)


def _agree(
    value: Any, expected: Any, within: float | list[float], *, trained: bool = False
) -> bool:
    pairs = list(_pairs(value, expected))
    rooms = within if isinstance(within, list) else [within] * len(pairs)
    return len(rooms) == len(pairs) and all(
        pair is not None and _near(*pair, room, trained=trained)
        for pair, room in zip(pairs, rooms, strict=True)
    )


def _near(a: Any, b: Any, within: float, *, trained: bool = False) -> bool:
    if _is_real(a) and _is_real(b):
        exact = isinstance(a, int) and isinstance(b, int)
        share, least = TRAINED if trained else (EXACT, ROUNDING)
        return abs(a - b) <= (within if exact else max(within, share * abs(b), least))
    return a == b


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any] | None]:
    """The leaves of two values side by side; None where their shapes differ."""
    if isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        for key in a:
            yield from _pairs(a[key], b[key])
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for left, right in zip(a, b, strict=True):
            yield from _pairs(left, right)
    elif isinstance(a, Mapping | list) or isinstance(b, Mapping | list):
        yield None
    else:
        yield a, b


def room(value: Any, elsewhere: Any, seeded: Any = None) -> float | list[float]:
    """How far each number of a value may be off, in the order of its leaves; a number for one leaf.

    ``elsewhere`` is what it was on another processor, ``seeded`` what it was with another seed. A
    number that is the same elsewhere has no room, whatever a seed does to it; infinite is the room
    of what is no number and differs, and of a value that has another shape elsewhere.

    >>> room([0.5, 2], [0.51, 2], [0.6, 3])
    [0.1, 0]
    >>> room("GELU", "ReLU")
    inf
    """
    pairs = list(_pairs(elsewhere, value))
    if None in pairs:
        return float("inf")
    seeds: list[Any] = list(_pairs(seeded, value))
    if None in seeds or len(seeds) != len(pairs):
        seeds = [(None, None)] * len(pairs)
    found = []
    for pair, (other, _) in zip(cast(list[tuple[Any, Any]], pairs), seeds, strict=True):
        there, here = pair
        within = 0.0
        if not _near(there, here, 0.0):
            if not (_is_real(there) and _is_real(here)):
                return float("inf")
            by_seed = abs(other - here) if _is_real(other) else 0.0
            within = max(ROOM * abs(there - here), by_seed)
        found.append(float(f"{within:.2g}") if within else 0)
    return found[0] if len(found) == 1 else found


def tolerances(
    values: Mapping[str, Any], elsewhere: Mapping[str, Any], seeded: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    """Each value with how far it may be off, from what it was elsewhere and with another seed.

    >>> tolerances({"a": 1, "b": 0.5}, {"a": 1, "b": 0.51}, {"a": 2, "b": 0.6})["b"]["within"]
    0.1
    >>> tolerances({"a": 1}, {"a": 1}, {"a": 2})["a"]["within"]
    0
    """
    found = {}
    for name, value in values.items():
        within = room(value, elsewhere.get(name), (seeded or {}).get(name))
        if isinstance(within, list) and not any(within):
            within = 0
        found[name] = {"is": value, "within": within}
    return found


def widened(
    reference: Mapping[str, Any], said: Mapping[str, Any], *, trained: bool = False
) -> dict[str, dict[str, Any]]:
    """The values of a reference, with room for what they are on this, another, processor.

    What agrees stays as it is; what does not gets :data:`ROOM` times the difference.

    >>> widened({"a": {"is": 2.0, "within": 0.1}, "n": {"is": 3, "within": 0}}, {"a": 2.2, "n": 3})
    {'a': {'is': 2.0, 'within': 0.6}, 'n': {'is': 3, 'within': 0}}
    """
    found = {}
    for name, entry in reference.items():
        if not _agree(said.get(name), entry["is"], entry["within"], trained=trained):
            more, less = room(entry["is"], said.get(name)), entry["within"]
            if isinstance(more, list):
                less = less if isinstance(less, list) else [less] * len(more)
                more = [max(pair) for pair in zip(more, less, strict=True)]
            entry = {"is": entry["is"], "within": more}
        found[name] = entry
    return found


def widen(chapter: Chapter) -> bool:
    """Let the chapter's reference hold on this processor too; return whether it did already.

    Raises `ReferenceProblem` if the run on this processor has another verdict table, says other
    names, or says something else that is no number: that is more than rounding.

    >>> try:
    ...     widen(Chapter("a/b", Path("nowhere/notebooks/a/b.md"), "B", (), (), {}))
    ... except ReferenceProblem as problem:
    ...     print(problem)
    a/b has no reference: run `lowdim references a/b`, look at the difference and commit it.
    """
    reference = load(chapter)
    run = obtain(book_root(chapter), chapter.name, ci_values(chapter))
    if run.error:
        raise ReferenceProblem(f"{chapter.name} has no run to compare with: {run.error}")
    said = _said(run.made, chapter)
    if [kept(cell.outputs) for cell in check_cells(run.made)] != reference["cells"]:
        raise ReferenceProblem(
            f"{chapter.name} shows another verdict table here: that is no matter of rounding."
        )
    values = widened(reference["values"], said, trained=_trains(chapter))
    torn = [name for name, entry in values.items() if entry["within"] == float("inf")]
    if torn := sorted({*torn, *(said.keys() ^ values.keys())}):
        raise ReferenceProblem(
            f"{chapter.name} says {', '.join(torn)} otherwise here, and that is no matter of "
            "rounding."
        )
    if values == reference["values"]:
        return True
    write_atomically(reference_path(chapter), _text({**reference, "values": values}))
    return False


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def measure(chapter: Chapter, *, progress: bool = False) -> str:
    """Run the chapter with its CI parameters; return the reference file's new text.

    Its current run on one thread is taken, or made; then it runs as on another processor, and with
    another seed if that moved anything. Raises `ChapterFailed`, and `ReferenceProblem` if a check
    cell shows nothing to compare, if a value differs elsewhere and is no number, or if this run
    does not carry a verdict.
    """
    root, values = book_root(chapter), ci_values(chapter)
    run = obtain(root, chapter.name, values)
    if run.error:
        raise ReferenceProblem(f"{chapter.name} has no run to compare with: {run.error}")
    nb = run.made
    record = records.extract(nb, chapter=chapter.name)
    cells = [kept(cell.outputs) for cell in check_cells(nb)]
    if not cells or not all(cells):
        raise ReferenceProblem(
            f"notebooks/{chapter.name}.md needs a cell tagged '{TAG}', and each must show text."
        )
    if lost := [claim["id"] for claim in record["claims"] if not claim.get("supported", True)]:
        raise ReferenceProblem(
            f"{chapter.name} cannot have a reference: its own run does not carry the verdict on "
            f"{', '.join(lost)}."
        )
    elsewhere = _said(_on_another_processor(chapter, progress=progress), chapter)
    seeded = None
    said = _said(nb, chapter)
    if not all(_agree(elsewhere.get(name), value, 0.0) for name, value in said.items()):
        seed = {**values, "seed": record["seed"] + 1}
        try:
            again = execute(root, chapter.name, seed, one_thread=True, progress=progress)
            seeded = _said(again, chapter)
        except ChapterFailed:
            seeded = None  # another seed may be one that the chapter refuses
    found = tolerances(said, elsewhere, seeded)
    if torn := [name for name, entry in found.items() if entry["within"] == float("inf")]:
        raise ReferenceProblem(
            f"{chapter.name} says {', '.join(torn)} otherwise on another processor, and it is no "
            "number: say what it is chosen by."
        )
    document = {
        "cells": cells,
        "chapter": chapter.name,
        "parameters": chapter.defaults | values,
        "values": found,
    }
    return _text(document)


def _on_another_processor(chapter: Chapter, *, progress: bool) -> NotebookNode:
    root, values = book_root(chapter), ci_values(chapter)
    try:
        return execute(root, chapter.name, values, environment=OTHER_PROCESSOR, progress=progress)
    except ChapterFailed:  # batched LU with MKL's other kernels is known to raise
        others = {k: v for k, v in OTHER_PROCESSOR.items() if k != "MKL_ENABLE_INSTRUCTIONS"}
        return execute(root, chapter.name, values, environment=others, progress=progress)


def refresh(chapter: Chapter, *, check: bool = False, progress: bool = False) -> bool:
    """Run the chapter and bring its reference up to date; return whether it was already.

    With `check` nothing is written: the chapter is compared as the tests do.
    """
    path = reference_path(chapter)
    if check:
        return not compare(chapter)
    new = measure(chapter, progress=progress)
    current = path.is_file() and path.read_text(encoding="utf-8") == new
    if not current:
        write_atomically(path, new)
    return current


def compare(chapter: Chapter) -> list[str]:
    """What of the chapter's current run is not as its reference has it, a sentence each."""
    reference = load(chapter)
    run = obtain(book_root(chapter), chapter.name, ci_values(chapter))
    if run.error:
        return [run.error]
    nb = run.made
    cells = [kept(cell.outputs) for cell in check_cells(nb)]
    found = [] if cells == reference["cells"] else ["a compared cell shows something else"]
    said = _said(nb, chapter)
    return found + differences(said, reference["values"], trained=_trains(chapter))


def _said(nb: NotebookNode, chapter: Chapter) -> dict[str, Any]:
    return records.extract(nb, chapter=chapter.name).get("values", {})
