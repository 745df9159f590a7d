"""Run chapters under unlikely parameters and seeds, and tell what does not hold then.

    python tools/soak.py                            every chapter, every kind: hours
    python tools/soak.py lemma_4_1 theorem_3_1      these chapters
    python tools/soak.py --kinds smallest,seeds --seeds 3 --preset small

Kinds of runs: `smallest` (every whole number at the least that its range allows), `lists` (every
list with its first element alone, then with its last), `unusual` (three sets drawn from the ranges,
no size above its default), `seeds` (the defaults at other seeds), and, if asked for, `each` (one
whole number at a time at its least) and `one` (one list at a time with one element).

Of each run it tells: what raised; verdicts that are not the book's; claims that the run does not
support; sentences that cannot be said of it, because a condition or a value is missing or not a
finite number. All sentences with values in them, as each run has them, are written to
`<output>/<part>/<chapter>/sentences.md`: whether they are true is for a reader to judge. Runs are
kept: the same command makes only what is new. Exit code 1 if anything raised or cannot be said.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowdim.publish import chapters, comparison, running, words
from lowdim.publish.chapters import Chapter, UsageError
from lowdim.publish.parameters import Parameter, Range
from lowdim.publish.sweeps import coordinator, pools, shelf

KINDS = ("smallest", "lists", "unusual", "seeds")
MORE = ("each", "one")
UNUSUAL = 3  # sets that are drawn for a chapter
SEED = "seed"
_LOST = re.compile(r"(?<![\w–-])(?:nan|inf|–)(?![\w–])", re.IGNORECASE)  # not a range, 3–5


@dataclass
class Found:
    """What one run of a chapter is to be told for, a sentence each."""

    kind: str
    values: Mapping[str, Any]
    raised: str = ""
    moved: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)

    @property
    def bad(self) -> bool:
        """Whether the chapter cannot stay as it is."""
        return bool(self.raised or self.unsaid)


def least(allowed: Range) -> int | None:
    """The smallest whole number of a range, None if it has none.

    >>> from lowdim.publish.parameters import parse_range
    >>> least(parse_range("above 0", int)), least(parse_range("any integer", int))
    (1, None)
    """
    if allowed.choices is not None:
        return min(allowed.choices)
    if allowed.low == float("-inf"):
        return None
    low = int(-(-allowed.low // 1))
    return low + 1 if allowed.open_low and low == allowed.low else low


def wanted(
    chapter: Chapter, kinds: Iterable[str], *, seeds: int = 10, base: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, Any]]]:
    """The runs to be made, each with its kind; those that two kinds have in common once.

    `base` holds values in place of the defaults, of a preset perhaps.

    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = "n = 5  # n; 2 or more\\nsizes = [1, 2]  # N; a list, each 1 or more"
    >>> cell += "\\nseed = 0  # any integer"
    >>> chapter = Chapter("a/b", Path("b.md"), "B", (), tuple(parse_cell(cell)))
    >>> wanted(chapter, ["smallest", "lists", "seeds"], seeds=2, base={})
    [('smallest', {'n': 2}), ('lists', {'sizes': [1]}), ('lists', {'sizes': [2]}), \
('seeds', {'seed': 1}), ('seeds', {'seed': 2})]
    """
    base = dict(base or {})
    start = {**chapter.defaults, **base}
    sizes = {p.name: least(p.allowed) for p in chapter.parameters if p.type is int}
    sizes = {name: low for name, low in sizes.items() if low is not None and low < start[name]}
    lists = [p.name for p in chapter.parameters if p.type is list and len(start[p.name]) > 1]
    runs: list[tuple[str, dict[str, Any]]] = []
    for kind in kinds:
        if kind == "smallest" and sizes:
            runs.append((kind, {**base, **sizes}))
        elif kind == "each":
            runs += [(kind, {**base, name: low}) for name, low in sizes.items()]
        elif kind == "lists" and lists:
            runs += [(kind, base | {n: [start[n][at]] for n in lists}) for at in (0, -1)]
        elif kind == "one":
            runs += [(kind, {**base, n: [start[n][at]]}) for n in lists for at in (0, -1)]
        elif kind == "unusual":
            for number in range(UNUSUAL):
                draw = random.Random(f"{chapter.name} {number}")
                runs.append((kind, {**base, **unusual(chapter.parameters, start, draw)}))
        elif kind == "seeds":
            runs += [(kind, {**base, SEED: start[SEED] + more}) for more in range(1, seeds + 1)]
    seen: set[str] = set()
    return [run for run in runs if (key := repr(run[1])) not in seen and not seen.add(key)]


def unusual(
    parameters: Sequence[Parameter], start: Mapping[str, Any], draw: random.Random
) -> dict[str, Any]:
    """Allowed values of about half of the parameters, no size larger than in `start`.

    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = parse_cell("n = 9  # n; 2 or more\\nnoise = 0.1  # size; above 0")
    >>> drawn = [unusual(cell, {"n": 9, "noise": 0.1}, random.Random(k)) for k in range(50)]
    >>> all(2 <= d.get("n", 2) <= 9 and d.get("noise", 1.0) > 0 for d in drawn)
    True
    """
    chosen: dict[str, Any] = {}
    for parameter in parameters:
        now = start[parameter.name]
        if parameter.name == SEED:
            chosen[SEED] = draw.randrange(1000, 2000)
        elif draw.random() < 0.5 and (value := _drawn(parameter, now, draw)) != now:
            chosen[parameter.name] = value
    return chosen


def _drawn(parameter: Parameter, now: Any, draw: random.Random) -> Any:
    if parameter.type is bool:
        return not now
    if parameter.type is list:
        count = draw.randrange(1, len(now) + 1)
        return [now[place] for place in sorted(draw.sample(range(len(now)), count))]
    allowed = parameter.allowed
    if allowed.choices is not None:
        there = [choice for choice in allowed.choices if choice in _at_hand(allowed.choices)]
        if parameter.type is int:
            there = [choice for choice in there if choice <= now]
        return draw.choice(there)
    if parameter.type is int:
        low = least(allowed)
        return now if low is None or low > now else draw.randint(low, now)
    if allowed.low > float("-inf") and allowed.high < float("inf"):
        value = draw.uniform(allowed.low, allowed.high)
    else:
        value = now * 4 ** draw.uniform(-1, 1) if now else draw.uniform(0, 1)
    value = float(f"{value:.3g}")
    return value if allowed.holds(value) else now


def _at_hand(choices: Sequence[Any]) -> set[Any]:
    """The choices without the data sets whose files are not on this machine."""
    from lowdim.data import images
    from lowdim.data.images.catalogue import CATALOGUE

    there = images.available() if set(choices) & set(CATALOGUE) else {}
    return {choice for choice in choices if choice not in CATALOGUE or choice in there}


def sentences(text: str, values: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Each paragraph of a chapter with values in it: its line, itself as a page has it, a problem.

    Passages that the page would leave out are left out.

    >>> list(sentences("One.\\n\\nIt is {value}`a:.1f`.\\n\\nAnd {value}`b`.", {"a": 2.0}))
    [(3, 'It is 2.0.', ''), (5, '', "'b': no cell says 'b'; said are: a.")]
    """
    text = words.without_maps(_code_blanked(text))
    for block in words.blocks(text):
        if block.name == "when":
            try:
                if not words.holds(block.argument, values):
                    text = text.replace(block.body, "\n" * block.body.count("\n"), 1)
            except Exception as error:
                yield block.line, "", f"'{block.argument}': {_flat(error)}"
    for match in re.finditer(r"(?:^.*\S.*\n?)+", text, flags=re.MULTILINE):
        roles = list(words._ROLE.finditer(match[0]))
        roles = [role for role in roles if "::" not in role[3]]  # of another chapter's run
        if not roles:
            continue
        line = text.count("\n", 0, match.start()) + 1
        shown, problem = match[0], ""
        for role in roles:
            try:
                said = words.fill(role[0], values)
            except Exception as error:
                problem = problem or f"'{role[3][:60]}': {_flat(error)}"
                continue
            shown = shown.replace(role[0], said, 1)
            if lost := _LOST.search(said if role[1] == "value" else _values_in(role[3], values)):
                told = lost[0] == "–" and re.search(r"\bA dash\b", match[0])  # what it means
                problem = problem or ("" if told else f"'{role[3][:60]}' shows '{lost[0]}'")
        yield line, "" if problem else " ".join(shown.split()), problem


def _values_in(content: str, values: Mapping[str, Any]) -> str:
    """The values that the chosen text of a role `when` inserts, and none of its own words."""
    chosen = words.chosen(content.strip(), values)
    return " ".join(words.fill(role[0], values) for role in words._ROLE.finditer(chosen))


def _code_blanked(text: str) -> str:
    """The text with the code of its cells gone; lines keep their numbers, captions stay."""

    def blank(cell: re.Match[str]) -> str:
        whole, head = cell[0], cell[2] or ""
        return "\n" + head + "\n" * (whole.count("\n") - head.count("\n") - 1)

    return words._CODE.sub(blank, text)


def judge(kind: str, row: shelf.Row, chapter: Chapter, book: Mapping[str, str]) -> Found:
    """What is to be told of one run; `book` has the book's verdicts by the claims' ids."""
    found = Found(kind, row.parameters)
    if row.record is None:
        found.raised = row.error
        return found
    for claim in row.record["claims"]:
        name, verdict = claim["id"], claim["verdict"]
        if not claim["supported"]:
            found.unsupported.append(f"{name} ({verdict})")
        elif book and verdict != book.get(name):
            found.moved.append(f"{name}: {book.get(name, 'nothing')} → {verdict}")
    text = chapter.path.read_text(encoding="utf-8")
    said = words.read(text, part=chapter.part)
    found.unsaid += words.problems(said, row.record, where=f"notebooks/{chapter.name}.md")
    for line, _, problem in sentences(text, words.values_of(row.record)):
        if problem:
            found.unsaid.append(f"line {line}: {problem}")
    return found


def verdicts(root: Path, chapter: Chapter) -> dict[str, str]:
    """The book's verdicts by claim: of its current run, else of the committed reference."""
    if (kept := comparison.of_book(root, chapter.name)) is not None:
        return {claim["id"]: claim["verdict"] for claim in kept["claims"]}
    path = root / "tests" / "references" / f"{chapter.name}.json"
    if not path.is_file():
        return {}
    found = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell:
            for line in output.get("data", {}).get("text/plain", "").splitlines()[1:]:
                name, *rest = re.split(r"\s{2,}", line.strip())
                if f"{chapter.part}.{name}" in chapter.claims and rest:
                    found[f"{chapter.part}.{name}"] = re.split(r"[ ,·(]", rest[0])[0]
    return found


def soak(chapter: Chapter, runs: Sequence[tuple[str, dict[str, Any]]], folder: Path, asked: Any
         ) -> list[Found]:  # fmt: skip
    """Make the runs of one chapter that are not kept yet, and judge all of them."""
    root = running.book_root(chapter)
    place = folder / chapter.name
    planned = coordinator.plan(chapter, [values for _, values in runs], place, retry=asked.retry)
    pool = pools.Local(asked.workers)
    coordinator.sweep(planned, place, pool=pool, limit=asked.limit, progress=True)
    with shelf.Shelf(place) as kept:
        rows = list(kept.rows(planned.runs))
    book = verdicts(root, chapter)
    by_values = {json.dumps(values, sort_keys=True): kind for kind, values in runs}
    told, lines = [], [f"# Sentences of {chapter.name}, as each run has them\n"]
    text = chapter.path.read_text(encoding="utf-8")
    for row in rows:
        kind = by_values[json.dumps(row.parameters, sort_keys=True)]
        told.append(judge(kind, row, chapter, book))
        if row.record is not None:
            lines.append(f"\n## {kind}: {again(chapter, row.parameters)}\n")
            for line, shown, problem in sentences(text, words.values_of(row.record)):
                lines.append(f"- {line}: {shown or '**' + problem + '**'}")
    (place / "sentences.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return told


def again(chapter: Chapter, values: Mapping[str, Any]) -> str:
    """The command that makes a run again."""
    moved = [comparison.Moved(name, None, value) for name, value in values.items()]
    return comparison.command(chapter.name, moved)


def report(chapter: Chapter, told: Sequence[Found]) -> str:
    """What was found of one chapter, as lines; one line if all is well."""
    counts = {
        "raised": sum(bool(f.raised) for f in told),
        "have sentences that cannot be said": sum(bool(f.unsaid) for f in told),
        "moved a verdict": sum(bool(f.moved) for f in told),
        "do not support a claim": sum(bool(f.unsupported) for f in told),
    }
    some = "; ".join(f"{count} {what}" for what, count in counts.items() if count)
    lines = [f"{chapter.name}: {len(told)} runs; {some or 'all is well'}"]
    for found in told:
        said = [("raised", found.raised)] if found.raised else []
        said += [("unsaid", each) for each in found.unsaid]
        said += [("moved", each) for each in found.moved]
        said += [("unsupported", ", ".join(found.unsupported))] if found.unsupported else []
        if said:
            lines.append(f"  {found.kind}: {again(chapter, found.values)}")
            lines += [f"    {what}: {each}" for what, each in said]
    return "\n".join(lines)


def _flat(error: BaseException) -> str:
    told = " ".join(str(error).split())
    ours = isinstance(error, words.WordsError)
    return told if ours else f"{type(error).__name__}: {told}".removesuffix(": ")


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0 if all is well, 1 if not, 2 if it was asked for wrongly."""
    parser = argparse.ArgumentParser(
        description="Chapters under unlikely parameters and seeds.", allow_abbrev=False
    )
    parser.add_argument("chapter", nargs="*", metavar="CHAPTER", help="only these (default: all)")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS + MORE)}")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="how many other seeds")
    parser.add_argument("--preset", metavar="NAME", help="in place of the defaults, where there")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="runs at once")
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS", help="of one run")
    parser.add_argument("--retry", action="store_true", help="make again what failed")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="default: _build/soak")
    asked = parser.parse_args(argv)
    try:
        kinds = [kind.strip() for kind in asked.kinds.split(",") if kind.strip()]
        if strange := [kind for kind in kinds if kind not in KINDS + MORE]:
            raise UsageError(
                f"There is no kind '{strange[0]}'; kinds are: {', '.join(KINDS + MORE)}."
            )
        if asked.seeds < 1 or asked.workers < 1 or not asked.limit > 0:
            raise UsageError("--seeds and --workers must be 1 or more, --limit above 0.")
        root = chapters.find_root()
        named = asked.chapter or chapters.discover(root)
        found = [chapters.resolve(name, root=root) for name in named]
        folder = (asked.output or root / "_build" / "soak").expanduser().resolve()
        running.check_output(folder)
        bad = 0
        for chapter in found:
            if asked.preset and asked.preset not in chapter.presets:
                print(f"{chapter.name}: no preset {asked.preset}", flush=True)
                continue
            base = chapter.presets[asked.preset] if asked.preset else None
            runs = wanted(chapter, kinds, seeds=asked.seeds, base=base)
            told = soak(chapter, runs, folder, asked) if runs else []
            print(report(chapter, told), flush=True)
            bad += any(each.bad for each in told)
    except (UsageError, coordinator.Changed) as error:
        print(f"soak: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("soak: interrupted; the same command goes on.", file=sys.stderr)
        return 130
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
