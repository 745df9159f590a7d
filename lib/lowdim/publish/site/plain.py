r"""A chapter's MyST as Markdown that any notebook viewer shows: no directive, no role is left.

Theorems, claims, evidence and slips become block quotes, exercises headings, solutions
``<details>``, labels of equations tags; roles become the text that the book shows in their place,
with the numbers of one run. :class:`Plain` converts the cells of one chapter, in their order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import lowdim.evidence.values as measured
from lowdim.evidence.vocabulary import ID, claim_name
from lowdim.publish import words
from lowdim.publish.source import first_heading
from lowdim.publish.words import Block

LEARN = "You will learn"  # the term of a masthead whose text is a list, set apart by semicolons
FEW = 2  # as in the book: of more kept runs than these, an evidence repeats the paper's alone
_LABEL = re.compile(r"^\(([^()\s]+)\)=\s*$")
_EQUATION = re.compile(r"\$\$(.+?)\$\$[ \t]*\(([\w.-]+)\)", re.S)
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.S)
_LITERAL = re.compile(
    r"(?<!\\)\$\$.+?\$\$|(?<!\\)\$(?:\\.|[^$\\])+\$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)",
    re.S,
)  # mathematics and code
_ROLE = re.compile(
    r"\{(?P<role>[a-z]+(?::[a-z]+)?)\}(?P<mark>`+)(?P<said>.+?)(?<!`)(?P=mark)(?!`)", re.S
)
_EITHER = re.compile(f"{_ROLE.pattern}|(?P<literal>{_LITERAL.pattern})", re.S)
_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!https?:|mailto:)[^()\s]*\)")
_BAR = re.compile(r"\\\||\|")


class Plain:
    """Converts the Markdown of the chapter ``part/chapter`` under ``root``.

    Numbers come from ``record``; without one each stands as the name of its value. Equations and
    exercises are counted from one conversion to the next, so a chapter's cells go through one
    object, from the first to the last.

    Examples
    --------
    >>> plain = Plain(Path("nowhere"), "preserve/weyl", {"claims": [], "values": {"a": 0.25}})
    >>> print(plain.markdown("```{claim} lemma-1\\n:source: by hand\\nIt is {value}`a:.1f`.\\n```"))
    > **Lemma 1.** It is 0.2.
    >
    > *Not run.* Source: by hand.
    """

    def __init__(self, root: Path, chapter: str, record: Mapping[str, Any] | None) -> None:
        self.root, self.chapter = root, chapter
        self.record: Mapping[str, Any] = record or {"claims": [], "values": {}, "parameters": {}}
        self.values = words.values_of(self.record) if record else None
        self.part = chapter.partition("/")[0]
        path = root / "book" / "references.bib"
        self.bibliography = path.read_text(encoding="utf-8") if path.is_file() else ""
        self.cited: list[str] = []
        self._exercises = 0
        self._equations: dict[str, int] = {}
        source = root / "notebooks" / f"{chapter}.md"
        text = source.read_text(encoding="utf-8") if source.is_file() else ""
        for match in _EQUATION.finditer(text):  # a reference may come before its equation
            self._equations.setdefault(match[2], len(self._equations) + 1)

    def markdown(self, text: str) -> str:
        """All of a cell or of a block's body."""
        pieces = []
        for piece in segments(text):
            if isinstance(piece, Block):
                pieces.append(self._block(piece))
            elif re.match(r"^(`{3,}|~{3,})", piece):
                pieces.append(piece)  # code, to be read
            else:
                pieces.append(self._prose(piece))
        return re.sub(r"\n{3,}", "\n\n", "\n\n".join(p.strip("\n") for p in pieces if p.strip()))

    def inline(self, text: str) -> str:
        """Roles, links within the book and values in a line or a paragraph."""
        text = self._filled(text)
        text = _EQUATION.sub(self._tagged, text)
        # Whichever begins first: `{a}` is code, and what follows it is not the content of a role.
        text = _EITHER.sub(lambda m: self._role(m) if m["role"] else m[0], text)
        return re.sub(r"[ \t]+\n", "\n", without_links(text))

    def _prose(self, text: str) -> str:
        lines = [line for line in text.splitlines() if not re.match(r"^(\+\+\+|%)", line)]
        return self.inline("\n".join(line for line in lines if not _LABEL.match(line)))

    def _filled(self, text: str) -> str:
        if self.values is None:  # no run: the names of the values, and both sentences' first
            text = re.sub(
                r"\{when\}(`+)[^|]*\|(.*?)(?:\|.*?)?(?<!`)\1(?!`)", lambda m: m[2].strip(), text
            )
            return re.sub(r"\{value\}`+([^`]+)`+", lambda m: f"`{m[1]}`", text)
        try:
            return words.fill(text, self.values)
        except words.WordsError as problem:
            raise words.WordsError(f"notebooks/{self.chapter}.md: {problem}") from None

    def _tagged(self, match: re.Match[str]) -> str:
        tag = "" if r"\tag" in match[1] else rf" \tag{{{self._number(match[2])}}}"
        return f"$${match[1]}{tag}$$"

    def _number(self, label: str) -> int:
        return self._equations.setdefault(label, len(self._equations) + 1)

    def _role(self, match: re.Match[str]) -> str:
        name, content = match["role"], match["said"].strip()
        shown = re.fullmatch(r"(.+?)\s*<([^<>]+)>", content, re.S)
        if name.startswith("cite"):
            return self._cite(name, content)
        if name == "math":
            return f"${content}$"
        if name == "eq":
            return f"({self._number(content)})" if content in self._equations else "(above)"
        if name == "badge":
            return self._verdict(content)
        if shown:
            return shown[1]
        if name == "prf:ref" and ID.match(content):
            return claim_name(content)
        return headings(self.root).get(content, content)

    def _cite(self, name: str, content: str) -> str:
        keys = [key.strip() for key in content.split(",")]
        self.cited += [key for key in keys if key not in self.cited]
        names = [words.cited(f"{{cite}}`{key}`", self.bibliography) for key in keys]
        names = [unaccented(each) for each in names]
        if name == "cite:t":
            names = [re.sub(r" (\d{4})$", r" (\1)", each) for each in names]
        return ", ".join(names)

    # Blocks

    def _block(self, block: Block) -> str:
        if block.name.startswith("prf:"):
            return self._statement(block)
        known: dict[str, Callable[[Block], str]] = {
            "claim": self._claim,
            "evidence": self._evidence,
            "erratum": self._erratum,
            "kept": self._kept,
            "map": self._map,
            "when": self._when,
            "exercise": self._exercise,
            "solution": self._solution,
            "masthead": self._masthead,
            "math": lambda b: f"$$\n{b.body}\n$$",
        }
        if block.name in known:
            return known[block.name](block)
        if block.name in ("code-block", "code", "code-cell"):
            return f"```{block.argument}\n{block.body}\n```"
        title = f"**{self.inline(block.argument)}**\n\n" if block.argument else ""
        return quoted(title + self.markdown(block.body))  # a note, a tip

    def _masthead(self, block: Block) -> str:
        """The list at the head of a chapter: no viewer of notebooks knows definition lists.

        What the page sets beside it (verdicts, minutes, neighbours, the graph) is left out: the
        verdicts stand below each statement, and the neighbours are other notebooks.
        """
        said = []
        for term, text in definitions(block.body):
            if term == LEARN:
                listed = "\n".join(f"- {self.inline(goal)}" for goal in goals(block.body))
                said.append(f"**{term}:**\n\n{listed}")
            else:
                said.append(f"**{term}.** {self.inline(text)}")
        return quoted("\n\n".join(said))

    def _statement(self, block: Block) -> str:
        kind = block.name.removeprefix("prf:").title()
        title = self.inline(block.argument)
        if kind == "Proof":
            return f"*Proof{f' ({title})' if title else ''}.* {self.markdown(block.body)}"
        # "Theorem 2.4, as printed" names itself; "A conserved vector" does not say what it is.
        named = title.lower().startswith(kind.lower())
        head = f"**{title if named else ': '.join(filter(None, [kind, title]))}.**"
        source = self._source(block.options.get("label", ""), block.options)
        return quoted("\n\n".join(filter(None, [head, self.markdown(block.body), source])))

    def _claim(self, block: Block) -> str:
        name = f"{self.part}.{block.argument}"
        body = f"**{claim_name(name)}.** {self.markdown(block.body)}"
        return quoted(f"{body}\n\n{self._source(name, block.options)}")

    def _source(self, name: str, given: Mapping[str, str]) -> str:
        """Verdict, source and reading of a claim, as one paragraph."""
        if not ID.match(name) or not given.get("source"):
            return ""
        said = [f"*{self._verdict(name).capitalize()}.*"]
        said.append(f"Source: {self.inline(given['source']).rstrip('.')}.")
        if given.get("reading"):
            said.append(f"Our reading: {self.inline(given['reading'])}")
        return " ".join(said)

    def _ruling(self, name: str) -> Mapping[str, Any] | None:
        known = {claim["id"]: claim for claim in self.record["claims"]}
        return known.get(name) or known.get(f"{self.part}.{name}")

    def _verdict(self, name: str) -> str:
        return ruled(self._ruling(name))

    def _evidence(self, block: Block) -> str:
        name = f"{self.part}.{block.argument}"
        said = [f"**{claim_name(name)}** ({self._verdict(name)}). {self.markdown(block.body)}"]
        asked = words.names(block.body)
        kept = kept_records(self.root, self.chapter) if asked and self.values is not None else []
        if len(kept) > FEW:
            kept = [record for record in kept if record["preset"] == "paper"]
        for record in kept:
            values = words.values_of(record)
            here = any(claim["id"] == name for claim in record["claims"])
            if here and asked <= set(values):
                then = words.fill(block.body, values)
                if then != words.fill(block.body, self.values or {}):
                    line = " ".join(self.inline(then).split())
                    said.append(f"*In the kept run ({record['preset']}):* {line}")
        return quoted("\n\n".join(said))

    def _erratum(self, block: Block) -> str:
        lines = [f"**Slip: {self.inline(block.options.get('where', ''))}**", ""]
        for field in words.FIELDS[1:]:
            if field in block.options:
                lines.append(f"- *{field.title()}:* {self.inline(block.options[field])}")
        return quoted("\n".join(lines))

    def _when(self, block: Block) -> str:
        holds = self.values is None or words.holds(block.argument, self.values)
        return self.markdown(block.body) if holds else ""

    def _exercise(self, block: Block) -> str:
        self._exercises += 1
        title = f": {self.inline(block.argument)}" if block.argument else ""
        return f"### Exercise {self._exercises}{title}\n\n{self.markdown(block.body)}"

    def _solution(self, block: Block) -> str:
        body = self.markdown(block.body)
        return f"<details>\n<summary>Solution</summary>\n\n{body}\n\n</details>"

    def _kept(self, block: Block) -> str:
        records = kept_records(self.root, self.chapter)
        if preset := block.options.get("preset"):
            records = [record for record in records if record["preset"] == preset]
        if not records:
            return "No larger run of this chapter was kept."
        if "lines" in block.options:
            wanted = block.options["lines"].split()
            return "\n\n".join(self._lines(record, wanted) for record in records)
        rows = [["claim", "today", *map(run_name, records)]]
        for claim in self.record["claims"]:
            row = [claim_name(claim["id"]), ruled(claim, facts=True)]
            for record in records:
                then = next((c for c in record["claims"] if c["id"] == claim["id"]), None)
                row.append(ruled(then, facts=True) if then else "–")
            rows.append(row)
        return table(rows)

    def _map(self, block: Block) -> str:
        from lowdim.publish.site import maps  # which draws, and needs Sphinx

        said, rows = maps.markdown(self.root, self.chapter, block.options, block.body)
        return f"{self.markdown(said)}\n\n{table(rows)}"

    def _lines(self, record: Mapping[str, Any], wanted: Sequence[str]) -> str:
        rows = [["reading", "quantity", "reported", "measured", "agrees"]]
        for claim in record["claims"]:
            if not wanted or claim["id"].partition(".")[2] in wanted:
                for line in claim["lines"]:
                    agrees = {True: "yes", False: "no", None: "–"}[line["agrees"]]
                    found = (measured.text(line[k]) for k in ("reported", "measured"))
                    cells = (line["reading"], line["quantity"], *found)
                    rows.append([*(self.inline(cell) if cell else "–" for cell in cells), agrees])
        return f"*{run_name(record).capitalize()}*\n\n{table(rows)}" if len(rows) > 1 else ""


def segments(text: str) -> Iterator[str | Block]:
    """Prose, plain code and directives of a MyST text, in order; nothing inside them is split.

    Examples
    --------
    >>> [p if isinstance(p, str) else p.name for p in segments("a\\n```{claim} x\\nb\\n```\\nc")]
    ['a', 'claim', 'c']
    """
    lines, prose, at = text.splitlines(), [], 0
    while at < len(lines):
        fence = re.match(r"^(`{3,}|~{3,}|:{3,})(?=(\{)?)", lines[at])
        if not fence or (fence[1][0] == ":" and not fence[2]):
            prose.append(lines[at])
            at += 1
            continue
        if prose:
            yield "\n".join(prose)
            prose = []
        first, closing = at, re.compile(rf"^{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*$")
        at += 1
        while at < len(lines) and not closing.match(lines[at]):
            at += 1
        at += 1
        whole = "\n".join(lines[first:at])
        yield next(words.blocks(whole)) if fence[2] else whole
    if prose:
        yield "\n".join(prose)


def definitions(text: str) -> list[tuple[str, str]]:
    """The terms of a definition list, each with its text in one line.

    Examples
    --------
    >>> definitions("We find\\n: It\\n  holds.\\n\\nYou will learn\\n: a; b")
    [('We find', 'It holds.'), ('You will learn', 'a; b')]
    """
    found = re.split(r"^(\S[^\n]*)\n(?=:[ \t])", text, flags=re.M)[1:]
    pairs = zip(found[::2], found[1::2], strict=True)
    return [(term.strip(), " ".join(said.lstrip(":").split())) for term, said in pairs]


def goals(masthead: str) -> list[str]:
    """What a chapter says that a reader will learn from it, in its own order.

    Examples
    --------
    >>> goals("We find\\n: It holds.\\n\\nYou will learn\\n: the bound; its price")
    ['the bound', 'its price']
    """
    said = dict(definitions(masthead)).get(LEARN, "")
    return [goal.strip() for goal in said.rstrip(".").split(";") if goal.strip()]


def without_links(text: str) -> str:
    """A text whose links within the book are their words; formulas and code are left alone.

    Examples
    --------
    >>> without_links("see [Lemma 1](lemma-1): $[a](b)$, [there](https://example.org)")
    'see Lemma 1: $[a](b)$, [there](https://example.org)'
    >>> without_links("[the bound $a$](lemma-1)")
    'the bound $a$'
    """
    literal: list[str] = []

    def away(match: re.Match[str]) -> str:
        literal.append(match[0])
        return f"\0{len(literal) - 1}\0"

    text = _LINK.sub(r"\1", _LITERAL.sub(away, text))
    return re.sub(r"\0(\d+)\0", lambda m: literal[int(m[1])], text)


def quoted(text: str) -> str:
    """A block quote; each displayed equation on one line, or the marks of the quote get into it.

    Examples
    --------
    >>> print(quoted("Let\\n\\n$$x\\n=1$$"))
    > Let
    >
    > $$x =1$$
    """
    text = _DISPLAY.sub(lambda m: f"$${' '.join(m[1].split())}$$", text.strip())
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; bars in formulas are written as commands, since a bar ends a cell.

    Examples
    --------
    >>> print(table([["a", "b"], ["$|x|$", "1"]]))
    | a | b |
    | --- | --- |
    | $\\vert x\\vert $ | 1 |
    """

    def cell(text: str) -> str:
        text = re.sub(r"\$[^$]+\$", lambda m: _BAR.sub(_bar, m[0]), " ".join(text.split()))
        return re.sub(r"(?<!\\)\|", r"\\|", text)

    head, *body = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return "\n".join([head, f"|{' --- |' * len(rows[0])}", *body])


def _bar(match: re.Match[str]) -> str:
    return r"\Vert " if match[0] == r"\|" else r"\vert "


def ruled(claim: Mapping[str, Any] | None, *, facts: bool = False) -> str:
    """A verdict with its tags, and with ``facts`` how often it was tried.

    Examples
    --------
    >>> ruled({"verdict": "repaired", "tags": ["typo"]})
    'repaired, typo'
    >>> ruled(None)
    'not run'
    """
    if claim is None:
        return "not run"
    said = [claim["verdict"], *claim["tags"]]
    if not claim.get("supported", True):
        said.append("this run does not support it")
    if facts and claim["trials"]:
        said.append(f"{claim['trials']:,} trials")
    if facts and claim["violations"]:
        said.append(f"{claim['violations']:,} violations")
    if facts and claim["tightness"] is not None:
        said.append(f"ratio {measured.number(claim['tightness'], '2')}")
    return ", ".join(said)


def kept_records(root: Path, chapter: str) -> list[dict[str, Any]]:
    """The committed records of larger runs of a chapter, by preset.

    Examples
    --------
    >>> kept_records(Path("nowhere"), "preserve/weyl")
    []
    """
    folder, _, name = chapter.rpartition("/")
    paths = sorted((root / "book" / "records" / folder).glob(f"{name}.*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def run_name(record: Mapping[str, Any]) -> str:
    """A kept run in a few words.

    Examples
    --------
    >>> run_name({"preset": "paper", "seconds": 12.3})
    'kept run, paper, 12 s'
    """
    data = record.get("data")
    of = f", {data['taken']} images of {data['title']}" if data else ""
    return f"kept run, {record['preset']}{of}, {record['seconds']:.0f} s"


def headings(root: Path) -> dict[str, str]:
    """What a reference to a label shows: the heading after it, for all chapters and pages.

    Examples
    --------
    >>> headings(Path("nowhere"))
    {}
    """
    if root not in _HEADINGS:
        found: dict[str, str] = {}
        for path in sorted([*root.glob("notebooks/*/*.md"), *root.glob("book/*.md")]):
            if path.parent.name == "course":  # assignments are no pages
                continue
            text = path.read_text(encoding="utf-8")
            for match in re.finditer(r"^\(([^()\s]+)\)=\s*\n+#+\s+(.+?)\s*$", text, re.M):
                found[match[1]] = match[2]
            if (title := first_heading(text)) is not None:
                found.setdefault(path.stem, title)
        _HEADINGS[root] = found
    return _HEADINGS[root]


_HEADINGS: dict[Path, dict[str, str]] = {}


def unaccented(text: str) -> str:
    r"""TeX of a bibliography as characters.

    Examples
    --------
    >>> unaccented(r"Bj{\"o}rck and St{\o}rmer")
    'Björck and Størmer'
    """
    from pylatexenc.latex2text import LatexNodes2Text

    if "\\" not in text and "{" not in text:
        return text.replace("--", "–")
    return LatexNodes2Text().latex_to_text(text)


def entry(bibliography: str, key: str) -> str:
    """A line for a list of references, with a link where the entry has a DOI or an arXiv number.

    Examples
    --------
    >>> bib = "@article{w, author={Weyl, H.}, title={Satz}, year={1912}, doi={10.1/x}}"
    >>> entry(bib, "w")
    'Weyl, H.: *Satz*, 1912. [doi:10.1/x](https://doi.org/10.1/x)'
    """
    found = re.search(rf"@\w+\{{{re.escape(key)},(.*?)(?=^@|\Z)", bibliography, re.S | re.M)
    if not found:
        return key
    fields = {
        name.lower(): unaccented(" ".join(value.split()))
        for name, value in re.findall(
            r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", found[1]
        )
    }
    people = "; ".join(fields.get("author", "").split(" and "))
    where = [fields.get(name, "") for name in ("journal", "booktitle", "publisher", "note")]
    numbers = [fields.get("volume", ""), fields.get("pages", ""), fields.get("year", "")]
    said = ", ".join(filter(None, [f"*{fields.get('title', key)}*", *where, *numbers]))
    if doi := fields.get("doi"):
        link = f" [doi:{doi}](https://doi.org/{doi.replace('(', '%28').replace(')', '%29')})"
    elif number := fields.get("eprint"):
        link = f" [arXiv:{number}](https://arxiv.org/abs/{number})"
    else:
        link = ""
    return f"{people}: {said}.{link}"
