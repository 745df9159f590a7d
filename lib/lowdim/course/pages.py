"""Pages that open without a network: feedback for a student, answers to read, a summary.

They show points and sentences about properties. No hidden input, no output of anyone's code and no
traceback is in them; whatever a student wrote is escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from lowdim.course.grading import Graded, Result
from lowdim.course.source import Assignment

STYLE = """\
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{padding:.3rem .5rem;text-align:left;
border-bottom:1px solid #8886;vertical-align:top}td.n,th.n{text-align:right;white-space:nowrap}
pre{white-space:pre-wrap;border:1px solid #8886;padding:.5rem}
table.bars td:first-child{white-space:nowrap}table.bars td:last-child{width:60%}
"""


def _page(title: str, body: Sequence[str]) -> str:
    head = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}'
        '</title><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'\"><style>{STYLE}</style></head><body>"
    )
    return "\n".join([head, f"<h1>{html.escape(title)}</h1>", *body, "</body></html>", ""])


def _row(*cells: str, head: bool = False) -> str:
    name = "th" if head else "td"
    made = [f'<{name} class="n">{c[1:]}</{name}>' if c[:1] == "#" else f"<{name}>{c}</{name}>"
            for c in cells]  # fmt: skip
    return f"<tr>{''.join(made)}</tr>"


def verdict(question: Graded, prop: str) -> str:
    """What is said of one property.

    Examples
    --------
    >>> verdict(Graded({"rank": 0.0}, {"rank": 1}), "rank")
    'does not hold'
    """
    if question.by_hand:
        return "is graded by a person"
    if question.points[prop] == question.out_of[prop]:
        return "holds"
    return "could not be asked" if question.reason else "does not hold"


def _marked(question: Graded, prop: str) -> str:
    """The same for a table, where what is missing is seen at once."""
    said = verdict(question, prop)
    return said if said == "holds" else f"<strong>{said}</strong>"


def feedback(result: Result, assignment: Assignment, by_hand: Mapping[str, tuple[str, str]]) -> str:
    """The page of one student; ``by_hand`` has points and comment by question, as texts.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> from lowdim.course.source import parse
    >>> page = feedback(Result("<Ada>", "It is a link."), parse(SMALL, name="small"), {})
    >>> "&lt;Ada&gt;" in page, "It is a link." in page
    (True, True)
    """
    body = [f"<p>{html.escape(result.student)}</p>"]
    if result.refused:
        body.append(f"<p>Not graded. {html.escape(result.refused)}</p>")
        return _page(assignment.title, body)
    given = sum(_number(points) for points, _ in by_hand.values())
    left = [sum(q.out_of.values()) for name, q in result.questions.items()
            if q.by_hand and not by_hand.get(name, ("", ""))[0]]  # fmt: skip
    waits = f" {sum(left):g} of these are still to be given by a person." if left else ""
    body.append(f"<p>{result.total + given:g} of {assignment.total:g} points.{waits}</p>")
    for name, question in result.questions.items():
        told = by_hand.get(name, ("", ""))
        points = question.total + _number(told[0])
        most = sum(question.out_of.values())
        waiting = question.by_hand and not told[0]
        said = "to be graded" if waiting else f"{points:g} of {most:g}"
        body.append(f"<h2>{html.escape(name)}: {said}</h2>")
        if question.reason and not told[0]:
            body.append(f"<p>{html.escape(question.reason)}</p>")
        if told[1]:
            body.append(f"<p>{html.escape(told[1])}</p>")
        says = assignment.questions[name].says
        rows = [
            _row(html.escape(says[p]), _marked(question, p), f"#{question.points[p]:g} of {most:g}")
            if not question.by_hand
            else _row(html.escape(says[p]), "", f"#{most:g}")
            for p, most in question.out_of.items()
        ]
        body += ["<table>", *rows, "</table>"]
    return _page(assignment.title, body)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


def to_read(results: Sequence[Result], assignment: Assignment) -> str:
    """The page with all answers in words, and the rubric, for whoever gives points by hand.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> from lowdim.course.source import parse
    >>> "nothing to read" in to_read([], parse(SMALL, name="small"))
    True
    """
    body: list[str] = []
    for name, question in assignment.questions.items():
        if question.by_hand:
            body.append(f"<h2>{html.escape(name)}: {question.total:g} points</h2>")
            body += [f"<pre>{html.escape(cell.source)}</pre>" for cell in question.rubric]
            for result in results:
                said = result.refused or result.questions[name].text or "Not answered."
                body.append(f"<h3>{html.escape(result.student)}</h3>")
                body.append(f"<pre>{html.escape(said)}</pre>")
    return _page(
        f"{assignment.title}: answers in words", body or ["<p>There is nothing to read.</p>"]
    )


def summary(results: Sequence[Result], assignment: Assignment) -> str:
    """The page for the lecturer: distribution, hardest questions, properties that failed most.

    Points by hand are left out: the page is about what was graded here.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> from lowdim.course.source import parse
    >>> "Not graded: 1." in summary([Result("Ada", "A link.")], parse(SMALL, name="small"))
    True
    """
    graded = [result for result in results if not result.refused]
    most = sum(q.total for q in assignment.questions.values() if not q.by_hand)
    totals = sorted(result.total for result in graded)
    body = [f"<p>Graded: {len(graded)}. Not graded: {len(results) - len(graded)}.</p>"]
    if totals:
        n = len(totals)
        middle = (totals[(n - 1) // 2] + totals[n // 2]) / 2
        body.append(f"<p>Of {most:g} points without those by hand: least {totals[0]:g}, median "
                    f"{middle:g}, most {totals[-1]:g}.</p>")  # fmt: skip
        body += ["<h2>Distribution</h2>", _bars(totals, most)]
        body += ["<h2>Questions, the hardest first</h2>", *_hardest(graded, assignment)]
        body += ["<h2>Properties, most often missed first</h2>", *_missed(graded, assignment)]
    if refused := [result for result in results if result.refused]:
        rows = [_row(html.escape(r.student), html.escape(r.refused)) for r in refused]
        body += ["<h2>Not graded</h2>", "<table>", *rows, "</table>"]
    return _page(f"{assignment.title}: summary", body)


def _bars(totals: Sequence[float], most: float) -> str:
    """How many students have how many tenths of the points, as a table and a drawing in one."""
    counts = [0] * 10
    for total in totals:
        counts[min(9, int(10 * total / most)) if most else 0] += 1
    rows = [_row("points", "#students", "", head=True)]
    for k, count in enumerate(counts):
        wide = round(100 * count / max(counts))
        bar = f'<svg width="{wide}%" height="12"><rect width="100%" height="12" fill="#47a"/></svg>'
        rows.append(_row(f"{k * most / 10:g} to {(k + 1) * most / 10:g}", f"#{count}", bar))
    return f'<table class="bars">{"".join(rows)}</table>'


def _hardest(graded: Sequence[Result], assignment: Assignment) -> list[str]:
    shares = {
        name: sum(r.questions[name].total for r in graded) / (len(graded) * question.total)
        for name, question in assignment.questions.items()
        if not question.by_hand
    }
    rows = [
        _row(html.escape(name), f"#{100 * share:.0f} % of the points")
        for name, share in sorted(shares.items(), key=lambda item: (item[1], item[0]))
    ]
    return ["<table>", *rows, "</table>"]


def _missed(graded: Sequence[Result], assignment: Assignment) -> list[str]:
    missed: list[tuple[int, str, str]] = []
    for name, question in assignment.questions.items():
        for prop in question.points if not question.by_hand else ():
            count = sum(r.questions[name].points[prop] == 0 for r in graded)
            missed.append((-count, name, prop))
    rows = [
        _row(html.escape(name), html.escape(assignment.questions[name].says[prop]), f"#{-count}")
        for count, name, prop in sorted(missed)
    ]
    return ["<table>", *rows, "</table>"]
