r"""The words of a chapter: what each claim says, its source and reading, evidence and errata.

They are Markdown in the chapter and nowhere else. A ``prf:`` block labelled with a claim's id, or a
``{claim}`` block, states it; an ``{evidence}`` block says what carries the verdict; an
``{erratum}`` block is a slip of the paper. Measured values are inserted by name, by the role
``value``, and sentences chosen by them, by the role ``when``, as in
``broken > 0 | A rung breaks. | No rung breaks.`` Words and numbers meet here (:func:`fill`,
:func:`join`), when a page is built.
"""

from __future__ import annotations

import ast
import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import lowdim.evidence.values as measured
from lowdim.evidence.vocabulary import ID, kind_of, part_of

FIELDS = ("where", "printed", "correct", "why", "consequence")
OPTIONS = ("source", "reading", "says", "uses")
_FENCE = re.compile(r"^(`{3,}|~{3,}|:{3,})\{([\w:-]+)\}[ \t]*(.*)$")
_CODE = re.compile(
    r"^(`{3,})\{code-cell\}[^\n]*\n(---\n.*?^---\n|(?::[^\n]*\n)*).*?^\1\s*$", re.S | re.M
)
_MAP = re.compile(r"^(`{3,}|:{3,})\{map\}.*?^\1\s*$", re.S | re.M)
_ROLE = re.compile(r"\{(value|when)\}(`+)(.+?)(?<!`)\2(?!`)")
_LINK = re.compile(r"\{(?:prf:)?ref\}`(?:[^`<]*<)?([\w.:-]+)>?`|\]\(([\w.-]+)\)")
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_NAME = re.compile(
    r"\b(Theorem|Lemma|Proposition|Corollary|Claim|Definition|Remark)(?:s|ies)? "
    rf"({_NUMBER}(?:(?:, | and |, and ){_NUMBER})*)"
)


class WordsError(ValueError):
    """One sentence: what is wrong with the words of a chapter, and what to do."""


@dataclass(frozen=True)
class Block:
    """A directive of a chapter: its name, argument, options, body and line."""

    name: str
    argument: str
    options: Mapping[str, str]
    body: str
    line: int


@dataclass(frozen=True)
class Statement:
    """What a claim says: ``body`` whole, ``says`` in one line, where from, under which reading."""

    id: str
    title: str
    body: str
    says: str
    source: str
    reading: str
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Words:
    """All that a chapter says of its claims, by the claims' ids in the order of the page."""

    statements: Mapping[str, Statement]
    evidence: Mapping[str, str] = field(default_factory=dict)
    errata: Mapping[str, tuple[Mapping[str, str], ...]] = field(default_factory=dict)
    used: frozenset[str] = frozenset()


def blocks(text: str, *, start: int = 1) -> Iterator[Block]:
    """The directives of a MyST text, those inside others too, but nothing inside code cells.

    >>> [b.name for b in blocks(":::{when} x\\n```{evidence} lemma-1\\nYes.\\n```\\n:::\\n")]
    ['when', 'evidence']
    """
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        fence = opening or re.match(r"^(`{3,}|~{3,})", lines[at])
        at += 1
        if not fence:
            continue
        mark, first = fence[1], at
        closing = re.compile(rf"^{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        while at < len(lines) and not closing.match(lines[at]):
            at += 1
        if opening:
            yield from _block(opening, lines[first:at], start + first - 1)
        at += 1


def _block(opening: re.Match[str], lines: list[str], line: int) -> Iterator[Block]:
    options, skip = {}, 0
    while skip < len(lines) and (option := re.match(r"^:([\w-]+):[ \t]*(.*)$", lines[skip])):
        options[option[1]] = option[2].strip()
        skip += 1
    body = "\n".join(lines[skip:])
    yield Block(opening[2], opening[3].strip(), options, body.strip(), line)
    if opening[2] != "code-cell":
        yield from blocks(body, start=line + skip + 1)


def read(text: str, *, part: str, where: str = "this chapter") -> Words:
    """The words of the chapter of ``part`` whose source is ``text``; ``where`` names it in errors.

    Raises `WordsError` if a claim is stated twice, or a block speaks of one that is not stated.
    """
    statements: dict[str, Statement] = {}
    evidence: dict[str, str] = {}
    errata: dict[str, list[Mapping[str, str]]] = {}
    for block in blocks(text):
        at = f"{where}, line {block.line}"
        if block.name.startswith("prf:") and ID.match(block.options.get("label", "")):
            _state(statements, block.options["label"], block, at)
        elif block.name == "claim":
            _state(statements, f"{part}.{block.argument}", block, at)
        elif block.name == "evidence":
            name = f"{part}.{block.argument}"
            if name in evidence:
                raise WordsError(f"{at}: a second evidence block for {name}; join the two.")
            evidence[name] = block.body
        elif block.name == "erratum":
            missing = [key for key in FIELDS if not block.options.get(key)]
            if missing:
                raise WordsError(
                    f"{at}: an erratum has the options {', '.join(FIELDS)}; "
                    f"this one lacks {', '.join(missing)}."
                )
            slip = {key: block.options[key] for key in FIELDS}
            errata.setdefault(f"{part}.{block.argument}", []).append(slip)
    for name in [*evidence, *errata]:
        if name not in statements:
            raise WordsError(
                f"{where} speaks of {name}, which no block states; it states "
                f"{', '.join(statements) or 'nothing'}. Correct the name, or add a block "
                f"```{{claim}} {name.partition('.')[2]}``` with its statement."
            )
    return Words(
        statements,
        evidence,
        {name: tuple(slips) for name, slips in errata.items()},
        frozenset(names(text)),
    )


def _state(statements: dict[str, Statement], name: str, block: Block, at: str) -> None:
    if not ID.match(name):
        raise WordsError(f"{at}: {name!r} is no claim id; an id looks like preserve.theorem-3-1.")
    if name in statements:
        raise WordsError(f"{at}: {name} is stated twice; remove one of the blocks.")
    options = block.options
    title = block.argument if block.name != "claim" else ""
    statements[name] = Statement(
        name,
        title,
        block.body,
        options.get("says") or " ".join(block.body.split()),
        options.get("source", ""),
        options.get("reading", ""),
        tuple(filter(None, re.split(r"[,\s]+", options.get("uses", "")))),
    )


def problems(words: Words, record: Mapping[str, Any], *, where: str) -> list[str]:
    """What does not fit between a chapter's words and a record of it, a sentence each.

    >>> problems(Words({}), {"claims": [], "values": {}}, where="x")
    []
    """
    ruled = [claim["id"] for claim in record["claims"]]
    said = set(record["values"]) | set(record.get("parameters", {}))
    found = [
        f"{where} rules on {name}, which no block states: add a prf: block labelled {name}, or "
        f"```{{claim}} {name.partition('.')[2]}```, with its statement."
        for name in ruled
        if name not in words.statements
    ]
    found += [
        f"{where} states {name} and does not rule on it: give verdict(...) a ruling "
        f"{name.partition('.')[2]!r}, or take the id off the block."
        for name in words.statements
        if name not in ruled
    ]
    found += [
        f"{where} says nothing of what carries the verdict on {name}: add "
        f"```{{evidence}} {name.partition('.')[2]}``` with a sentence."
        for name in words.statements
        if name in ruled and name not in words.evidence
    ]
    found += [
        f"{where} has no source for {name}: give its block the option :source:."
        for name, statement in words.statements.items()
        if not statement.source
    ]
    if unknown := sorted(words.used - said):
        known = ", ".join(sorted(said)) or "nothing"
        found.append(
            f"{where} inserts {', '.join(unknown)}, which no cell says; say(...) it in a cell. "
            f"Said are: {known}."
        )
    return found


def names(text: str) -> set[str]:
    """The values that a text inserts or asks about.

    >>> sorted(names("{value}`a:.2f`, {when}`b > c | d | e`, {value}`f[0]`"))
    ['a', 'b', 'c', 'f']
    >>> names("```{code-cell} python\\n---\\nalt: {value}`g`\\n---\\nx = '{value}`h`'\\n```\\n")
    {'g'}
    """
    text = without_maps(text)
    prose = _CODE.sub(lambda cell: cell[2], text)  # captions and alt text stay
    found: set[str] = set()
    for match in _ROLE.finditer(prose):
        content = match[3].strip()
        if match[1] == "value":
            if "::" not in content:  # another chapter's
                found.add(_reference(content)[0])
        else:
            condition, _, rest = content.partition("|")
            found |= condition_names(condition)
            found |= names(rest)
    for block in blocks(text):
        if block.name == "when":
            found |= condition_names(block.argument)
    return found


def without_maps(text: str) -> str:
    """A text without its ``{map}`` blocks, whose numbers are a kept map's; lines keep their places.

    >>> without_maps("One.\\n```{map}\\n{value}`cells` runs.\\n```\\nTwo.")
    'One.\\n\\n\\n\\nTwo.'
    """
    return _MAP.sub(lambda block: "\n" * block[0].count("\n"), text)


def condition_names(condition: str) -> set[str]:
    """The values that a condition asks about.

    >>> sorted(condition_names("not broken and slope < -1"))
    ['broken', 'slope']
    """
    tree = _condition(condition)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _condition(text: str) -> ast.Expression:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise WordsError(f"'{text.strip()}' is no condition on values.") from None
    allowed = (
        ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare,
        ast.Name, ast.Load, ast.Constant, *_COMPARE, ast.BinOp, *_ARITHMETIC, ast.Subscript,
    )  # fmt: skip
    for node in ast.walk(tree):
        if not isinstance(node, allowed):
            raise WordsError(
                f"'{text.strip()}' is no condition on values: names, numbers, comparisons, "
                "+ - * /, and, or, not are."
            )
    return tree


_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}  # fmt: skip


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition on measured values is true.

    A name alone is asked for its truth; an estimate or a share counts as its number.

    Raises `WordsError` for a condition that is none, and for a value that nobody said.

    >>> holds("slope < -0.5 and not broken", {"slope": {"value": -1.0, "error": 0.1}, "broken": 0})
    True
    """

    def value(node: ast.AST) -> Any:
        match node:
            case ast.Expression(body=body):
                return value(body)
            case ast.BoolOp(op=op, values=items):
                answers = (bool(value(item)) for item in items)
                return all(answers) if isinstance(op, ast.And) else any(answers)
            case ast.UnaryOp(op=op, operand=operand):
                return not value(operand) if isinstance(op, ast.Not) else -value(operand)
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [value(left), *(value(other) for other in others)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                return all(None not in (a, b) and _COMPARE[type(op)](a, b) for op, a, b in pairs)
            case ast.BinOp(left=left, op=op, right=right):
                return _ARITHMETIC[type(op)](value(left), value(right))
            case ast.Subscript(value=of, slice=at):
                return value(of)[value(at)]
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return _plain(_known(values, name))
        raise AssertionError(node)

    return bool(value(_condition(condition)))


def _plain(kept: Any) -> Any:
    value = measured.decode(kept)
    is_number = isinstance(value, measured.Estimate | measured.Share)
    return float(value) if is_number else value


def _known(values: Mapping[str, Any], name: str) -> Any:
    if name not in values:
        raise WordsError(f"no cell says '{name}'; said are: {', '.join(sorted(values)) or 'none'}.")
    return values[name]


def _reference(content: str) -> tuple[str, int | None, str]:
    """Name, place in a list and format of what a {value} role holds."""
    match = re.fullmatch(r"\s*([a-z]\w*)(?:\[(-?\d+)\])?\s*(?::(.*))?", content)
    if not match:
        raise WordsError(
            f"'{content}' is no value: write a name, then perhaps [0] and a format, slope:.2f."
        )
    return match[1], None if match[2] is None else int(match[2]), (match[3] or "").strip()


def inserted(content: str, values: Mapping[str, Any]) -> str:
    """What the role ``value`` with this content shows.

    >>> inserted("slope:.1f", {"slope": 0.25}), inserted("pair[1]", {"pair": [1, 2]})
    ('0.2', '2')
    >>> inserted("slope[1]:.1f", {"slope": {"value": -1.0, "error": 0.25}})
    '0.2'
    """
    name, place, spec = _reference(content)
    value = _known(values, name)
    if place is not None:
        whole = measured.decode(value)
        try:
            value = measured.encode(whole[place])
        except (TypeError, IndexError, KeyError):
            raise WordsError(
                f"'{content}' asks for a place that {name} has not; it is {measured.text(value)}."
            ) from None
    return measured.text(value, spec)


def chosen(content: str, values: Mapping[str, Any]) -> str:
    """Which of its texts the role ``when`` shows: ``condition | if so | if not``.

    >>> chosen("a > 1 | many | few", {"a": 2})
    'many'
    """
    condition, *texts = re.split(r"(?<!\\)\|", content)
    if len(texts) not in (1, 2):
        raise WordsError(f"'{content}' should read 'condition | text if it holds | text if not'.")
    texts = [part.strip().replace(r"\|", "|") for part in texts]
    return texts[0] if holds(condition, values) else (texts[1] if len(texts) == 2 else "")


def fill(text: str, values: Mapping[str, Any]) -> str:
    """A text with its values inserted and its sentences chosen.

    >>> fill("{when}`a > 1 | More | Less` than one: {value}`a:.1f`.", {"a": 2.0})
    'More than one: 2.0.'
    """

    def shown(match: re.Match[str]) -> str:
        if match[1] == "value":
            return inserted(match[3], values)
        return fill(chosen(match[3].strip(), values), values)

    return _ROLE.sub(shown, text)


def values_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a text may insert from a record: its parameters, and what its cells said."""
    return {**record.get("parameters", {}), **record.get("values", {})}


def join(record: Mapping[str, Any], words: Words, *, title: str) -> dict[str, Any]:
    """A record with the words of its chapter, values inserted: what pages and the ledger show."""
    values = values_of(record)
    claims = []
    for claim in record["claims"]:
        name = claim["id"]
        statement = words.statements[name]
        claims.append(
            {
                **claim,
                "part": part_of(name),
                "kind": kind_of(name),
                "source": fill(statement.source, values),
                "statement": fill(statement.says, values),
                "evidence": " ".join(fill(words.evidence.get(name, ""), values).split()),
                "errata": [
                    {key: fill(text, values) for key, text in slip.items()}
                    for slip in words.errata.get(name, ())
                ],
                "reported": [
                    {
                        **line,
                        "reported": measured.text(line["reported"]),
                        "measured": measured.text(line["measured"]),
                    }
                    for line in claim["lines"]
                ],
            }
        )
    return {**record, "title": title, "claims": claims}


def cited(text: str, bibliography: str) -> str:
    """A text whose citations are names and years, for where no bibliography is at hand.

    >>> cited("{cite}`weyl1912`, Satz I", "@article{weyl1912, author={Hermann Weyl}, year={1912}}")
    'Weyl 1912, Satz I'
    """

    def name(match: re.Match[str]) -> str:
        entry = re.search(
            rf"@\w+\{{{re.escape(match[1])},(.*?)(?=^@|\Z)", bibliography, re.S | re.M
        )
        if not entry:
            return match[1]
        field = r"\b{}\s*=\s*[{{\"]+(.*?)[}}\"]+\s*(?:,|$|\}})"
        people, year = (
            re.search(field.format(key), entry[1], re.S | re.M) for key in ("author", "year")
        )
        names = re.split(r"\s+and\s+", people[1]) if people else [match[1]]
        last = [each.split(",")[0] if "," in each else each.split()[-1] for each in names]
        shown = last[0] + (
            " et al." if len(last) > 2 else f" and {last[1]}" if len(last) == 2 else ""
        )
        return f"{shown} {year[1]}" if year else shown

    return re.sub(r"\{cite(?::\w+)?\}`([^`]+)`", name, text)


def of_chapter(root: Path, chapter: str) -> Words:
    """The words of ``part/chapter`` of the book under ``root``."""
    return read(
        _source(root, chapter).read_text(encoding="utf-8"),
        part=chapter.partition("/")[0],
        where=f"notebooks/{chapter}.md",
    )


def uses_problems(statements: Mapping[str, Statement]) -> list[str]:
    """What is wrong with the options ``uses`` of all claims together, a sentence each.

    >>> lemma = Statement("a.lemma-1", "", "", "", "", "", uses=("a.lemma-1",))
    >>> uses_problems({"a.lemma-1": lemma})
    ['a.lemma-1 rests on itself: a.lemma-1 uses a.lemma-1; take one of them off.']
    """
    found = []
    for statement in statements.values():
        for name in statement.uses:
            if name not in statements:
                near = difflib.get_close_matches(name, statements, n=3, cutoff=0.6)
                meant = f"; near it are {', '.join(near)}" if near else ""
                found.append(f"{statement.id} uses {name}, which no chapter states{meant}.")
    try:
        TopologicalSorter({name: said.uses for name, said in statements.items()}).prepare()
    except CycleError as circle:
        chain = circle.args[1][::-1]  # it lists what is used first
        found.append(f"{chain[0]} rests on itself: {' uses '.join(chain)}; take one of them off.")
    return found


def proof_references(text: str, *, part: str) -> dict[str, set[str]]:
    """What the proof right after each claim's statement refers to.

    These are targets of links, ``theorem-3-1``, and ids of claims that it names, as in Lemma 4.2.

    >>> text = ":::{claim} lemma-2\\nx\\n:::\\n*Proof.* By Lemma 1 and [it](there). ∎\\n"
    >>> sorted(proof_references(text, part="a")["a.lemma-2"])
    ['a.lemma-1', 'there']
    """
    bare = _CODE.sub(lambda cell: "\n" * cell[0].count("\n"), text)
    events: list[tuple[int, str, str]] = []
    for block in blocks(bare):
        if block.name == "prf:proof":
            events.append((block.line, "proof", block.body))
        elif block.name.startswith("prf:"):
            events.append((block.line, "claim", block.options.get("label", "")))
        elif block.name == "claim":
            events.append((block.line, "claim", f"{part}.{block.argument}"))
    lines = bare.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("#"):  # what stands under another heading is no longer right after
            events.append((at + 1, "claim", ""))
        elif line.startswith("*Proof.*"):
            end = next((i for i in range(at, len(lines)) if not lines[i].strip()), len(lines))
            events.append((at + 1, "proof", "\n".join(lines[at:end])))
    found: dict[str, set[str]] = {}
    owner = ""
    for _, kind, content in sorted(events):
        if kind == "claim":
            owner = content if ID.match(content) else ""
        elif owner:
            found.setdefault(owner, set()).update(_referred(content, part) - {owner})
            owner = ""
    return found


def _referred(proof: str, part: str) -> set[str]:
    found = {match[1] or match[2] for match in _LINK.finditer(proof)}
    for kind, numbers in _NAME.findall(proof):
        for number in re.findall(_NUMBER, numbers):
            found.add(f"{part}.{kind.lower()}-{number.lower().replace('.', '-')}")
    return found


def unlisted(root: Path, chapters: Iterable[str]) -> list[str]:
    """References of proofs that the option ``uses`` of their claims leaves out, a sentence each.

    A claim of the same chapter must be listed itself. Of another chapter, which a proof may also
    name as a whole, any claim will do: the sharp form of a lemma stands beside the lemma.

    Examples
    --------
    >>> unlisted(Path("nowhere"), [])
    []
    """
    said = {chapter: of_chapter(root, chapter) for chapter in chapters}
    home = {name: chapter for chapter, words in said.items() for name in words.statements}
    home |= {label: chapter for chapter in said for label in _labels(root, chapter)}
    found = []
    for chapter, words in said.items():
        text = _source(root, chapter).read_text(encoding="utf-8")
        for name, targets in proof_references(text, part=chapter.partition("/")[0]).items():
            listed = words.statements[name].uses
            there = {home.get(used) for used in listed}
            for target in sorted(targets):
                known = home.get(target)
                if known == chapter:
                    fits = target in listed or target not in words.statements
                else:
                    fits = known is None or known in there
                if not fits:
                    found.append(
                        f"notebooks/{chapter}.md: the proof of {name} refers to {target}, and its "
                        f"option uses lists no claim of notebooks/{known}.md for it; add one."
                    )
    return found


def _labels(root: Path, chapter: str) -> list[str]:
    """The labels of a chapter as a whole: those before its title."""
    head = _source(root, chapter).read_text(encoding="utf-8").partition("\n# ")[0]
    return re.findall(r"^\(([\w.-]+)\)=$", head, re.M)


def _source(root: Path, chapter: str) -> Path:
    return root / "notebooks" / f"{chapter}.md"
