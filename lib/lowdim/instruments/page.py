"""One page about one network, complete in itself: no script, no font, no address is loaded.

It is made from the machine-readable form alone, of one network or of two beside one another.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from lowdim.instruments import sentences
from lowdim.instruments.drawing import Line, chart
from lowdim.instruments.sentences import Found
from lowdim.instruments.theorems import THEOREMS

__all__ = ["page"]

TITLES = {
    "preserve": ("I", "Does it keep the structure of its inputs?"),
    "collapse": ("II", "Does it collapse to low rank?"),
    "embedded": ("III", "How sensitive is it off its data?"),
    "hashing": ("IV", "Does it hash its classes?"),
}
# name of a number: (label of its line, what the tile and the tables call it)
SERIES = {
    "preserve": {"to_input": "from the input", "to_previous": "from the layer before",
                 "to_labels": "from the classes"},
    "collapse": {"within_share": "variance within classes, as a share",
                 "tail": "squares beyond rank K, as a share"},
    "embedded": {"normal": "normal to the data", "along": "along the data",
                 "normal_step": "normal, by a small step"},
    "hashing": {"rho_mean": "ρ, mean over mean", "rho": "ρ, worst pair",
                "rho_plain": "ρ of plain distances"},
}  # fmt: skip
TILES = {
    "preserve": ("to_input", "distance of the last layer's row space from the input's, 0 to 1"),
    "collapse": ("within_share", "of the last layer's variance lies within classes"),
    "embedded": ("ratio", "times as sensitive normal to the data as along them"),
    "hashing": ("rho_mean", "is ρ, squared distances between classes over within"),
}
CAPTIONS = {
    "preserve": "Distances of principal row spaces of dimension r, from 0 (the same) to 1.",
    "collapse": "Shares from 0 to 1, on a logarithmic axis; whiskers are 95 % ranges.",
    "embedded": "Root mean square lengths of derivatives in unit directions.",
    "hashing": "Ratios of distances between classes and within; pure noise is at 2 for squares.",
}


def _e(text: object) -> str:
    return html.escape(str(text))


def _line(label: str, found: Sequence[Found | None]) -> Line:
    values = [None if f is None else float(f["value"]) for f in found]
    lows = [None if f is None or f["low"] is None else _real(f["low"]) for f in found]
    highs = [None if f is None or f["high"] is None else _real(f["high"]) for f in found]
    return Line(label, values, lows, highs)


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _lines(m: Found, part: str, *, prefix: str = "") -> list[Line]:
    lines = []
    for name, label in SERIES[part].items():
        found = [sentences.number(layer, part, name) for layer in m["layers"]]
        if any(f is not None for f in found):
            lines.append(_line(prefix + label, found))
    if part == "hashing":
        for split, told in (("held_out", "held out"), ("unseen", "unseen classes")):
            if split in m["splits"]:
                found = [sentences.number(x, part, "rho_mean", split) for x in m["layers"]]
                if any(f is not None for f in found):
                    lines.append(_line(f"{prefix}ρ, mean over mean, {told}", found))
    return lines


def _legend(lines: Sequence[Line]) -> str:
    items = []
    for k, line in enumerate(lines):
        mark = (
            f'<rect class="dot c{k}" x="9" y="3" width="7" height="7"/>' if k % 2
            else f'<circle class="dot c{k}" cx="12" cy="7" r="3.6"/>'
        )  # fmt: skip
        items.append(
            f'<li><svg width="26" height="14" aria-hidden="true"><path class="line c{k}" '
            f'stroke-width="2" d="M1 7H25"/>{mark}</svg>{_e(line.label)}</li>'
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _figure(
    title: str,
    names: Sequence[str],
    lines: Sequence[Line],
    part: str,
    identifier: str,
    caption: str,
) -> str:
    if not lines:
        return ""
    level = (2.0, "noise: 2") if part == "hashing" else None
    drawn = chart(
        title, names, lines, log=part in ("collapse", "hashing"), unit=part == "preserve",
        level=level, identifier=identifier,
    )  # fmt: skip
    return (
        f'<figure>{_legend(lines)}<div class="plot">{drawn}</div>'
        f"<figcaption>{_e(caption)}</figcaption></figure>"
    )


def _glance(m: Found) -> str:
    """The layers as columns whose heights are their widths, on a logarithmic scale."""
    boxes, at = [], 0
    for layer in m["layers"]:
        width = 1
        for length in layer["shape"]:
            width *= length
        height = 8 + 8 * max(width, 1).bit_length()
        kind = layer["kind"] if layer["kind"] in ("data", "functional") else ""
        boxes.append(
            f'<rect class="{kind}" x="{at}" y="{112 - height}" width="16" height="{height}" rx="3">'
            f"<title>{_e(layer['name'])}, {_e(layer['kind'])}: {width} values</title></rect>"
        )
        at += 20
    listed = "; ".join(f"{x['name']} ({x['kind']})" for x in m["layers"][:40])
    told = f"{len(m['layers'])} places in the order of the forward pass: {listed}"
    return (
        f'<div class="glance"><svg width="{at}" height="116" role="img" '
        f'aria-label="{_e(told)}">'
        f"{''.join(boxes)}</svg></div>"
    )


def _facts(m: Found) -> str:
    train = m["splits"]["train"]
    facts = [
        (f"{m['parameters']:,}", "parameters"),
        (len(m["layers"]), "places measured"),
        (f"{train['points']:,}", "points"),
    ]
    if train["classes"]:
        facts.append((train["classes"], "classes"))
    for split, told in (("train", "accuracy on these points"), ("held_out", "accuracy held out")):
        if split in m["accuracy"]:
            facts.append((f"{m['accuracy'][split]:.1%}", told))
    items = "".join(f"<li><strong>{_e(a)}</strong><span>{_e(b)}</span></li>" for a, b in facts)
    return f'<ul class="facts">{items}</ul>'


def _last(m: Found, part: str, name: str) -> Found | None:
    there = [sentences.number(x, part, name) for x in m["layers"] if x["kind"] != "data"]
    return next((f for f in reversed(there) if f is not None), None)


def _tiles(m: Found) -> str:
    items = []
    for part, (name, told) in TILES.items():
        found = _last(m, part, name)
        value = "–" if found is None else f"{found['value']:.3g}"
        range_ = ""
        if (
            found is not None
            and _real(found["low"]) is not None
            and _real(found["high"]) is not None
        ):
            range_ = f"<small>95 %: {found['low']:.3g} to {found['high']:.3g}</small>"
        items.append(
            f'<li><a href="#{part}"><small>Part {TITLES[part][0]}</small><strong>{value}</strong>'
            f"{range_}<small>{_e(told)}</small></a></li>"
        )
    return f'<ul class="tiles">{"".join(items)}</ul>'


def _table(m: Found, part: str) -> str:
    names = sorted({n for x in m["layers"] for p in x["numbers"].values() for n in p.get(part, {})})
    rows = []
    for layer in m["layers"]:
        for split, parts in layer["numbers"].items():
            if part not in parts:
                continue
            cells = []
            for name in names:
                found = parts[part].get(name)
                if found is None:
                    cells.append("<td>–</td>")
                elif not isinstance(found["value"], int | float):
                    cells.append(f'<td class="why">{_e(found["reason"] or found["value"])}</td>')
                else:
                    error = _real(found["error"])
                    off = "" if error is None else f"<br>± {error:.1g}"
                    needs = ", ".join(found["needs"]) or "nothing"
                    told = f"{found['points']} points; needs {needs}"
                    cells.append(f'<td title="{_e(told)}">{_e(sentences.shown(found))}{off}</td>')
            rows.append(
                f"<tr><th scope='row'>{_e(layer['name'])}</th>"
                f"<td>{_e(split.replace('_', ' '))}</td>{''.join(cells)}</tr>"
            )
    head = "".join(f"<th scope='col'>{_e(n.replace('_', ' '))}</th>" for n in names)
    return (
        f"<details><summary>Every number, with its range and the error of its computation (±)"
        f"</summary><div class='scroll'><table><thead><tr><th scope='col'>layer</th>"
        f"<th scope='col'>points</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "</div></details>"
    )


def _theorem(part: str, book: str | None) -> str:
    theorem = THEOREMS[part]
    address = (
        f"{book.rstrip('/')}/notebooks/{theorem.chapter}.html#{theorem.claim}" if book else None
    )
    told = f"chapter {theorem.chapter} of the book"
    link = f'<a href="{_e(address)}">{_e(told)}</a>' if address else _e(told)
    return (
        f'<div class="theorem"><p><strong>{_e(theorem.name)}.</strong> {_e(theorem.says)}</p>'
        f"{theorem.formula}<p class='part'>Its proof, and what breaks it: {link}.</p></div>"
    )


def _over_training(history: Sequence[Found], part: str) -> str:
    names = [f"step {h['step']}" for h in history]
    lines = []
    for name, label in SERIES[part].items():
        found = [_last(h, part, name) for h in history]
        if any(f is not None for f in found):
            lines.append(_line(f"{label}, last layer", found))
    title = f"Part {TITLES[part][0]} over training"
    return _figure(title, names, lines, part, f"{part}-training", "The last layer over training.")


def _section(m: Found, part: str, book: str | None, other: Found | None, history: Any) -> str:
    number, title = TITLES[part]
    names = [layer["name"] for layer in m["layers"]]
    parts = [
        f'<section id="{part}"><p class="part">Part {number}</p><h2>{_e(title)}</h2>',
        f'<p class="lead">{_e(sentences.says(m, part))}</p>',
        _figure(f"Part {number} over layers", names, _lines(m, part), part, part, CAPTIONS[part]),
    ]
    if history:
        parts.append(_over_training(history, part))
    if other is not None:
        others = [layer["name"] for layer in other["layers"]]
        parts += [
            f"<h3>{_e(other['title'])}</h3><p>{_e(sentences.says(other, part))}</p>",
            _figure(
                f"Part {number} over layers of {other['title']}", others, _lines(other, part), part,
                f"{part}-other", CAPTIONS[part],
            ),
        ]  # fmt: skip
    limits = "".join(f"<li>{_e(text)}</li>" for text in sentences.hypotheses(m, part))
    parts += [
        "<h3>The theorem behind it</h3>", _theorem(part, book),
        "<h3>What the theorem does not say here</h3>",
        f'<div class="limits"><ul>{limits}</ul></div>', _table(m, part), "</section>",
    ]  # fmt: skip
    return "".join(parts)


def _compared(m: Found, other: Found) -> str:
    rows = []
    for part, (name, told) in TILES.items():
        a, b = _last(m, part, name), _last(other, part, name)
        cells = "".join(f"<td>{_e('–' if f is None else sentences.shown(f))}</td>" for f in (a, b))
        verdict = "–"
        if a is not None and b is not None and None not in (a["low"], b["low"]):
            apart = a["high"] < b["low"] or b["high"] < a["low"]
            verdict = "they differ" if apart else "their ranges overlap"
        rows.append(
            f"<tr><th scope='row'>Part {TITLES[part][0]}</th><td class='why'>{_e(told)}</td>{cells}"
            f"<td>{verdict}</td></tr>"
        )
    return (
        '<section id="compare"><h2>Side by side</h2><div class="scroll"><table><thead><tr>'
        f"<th scope='col'></th><th scope='col'></th><th scope='col'>{_e(m['title'])}</th>"
        f"<th scope='col'>{_e(other['title'])}</th><th scope='col'></th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def page(
    m: Found, *, book: str | None = None, compare: Found | None = None,
    history: Sequence[Found] = (),
) -> str:  # fmt: skip
    """The page as HTML text; ``m`` and ``compare`` are reports' JSON, ``history`` a recorder's.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from lowdim.instruments.measuring import measure
    >>> model = nn.Linear(3, 2)
    >>> found = measure(model, torch.randn(30, 3), labels=torch.arange(30) % 2)
    >>> page({"title": "mine", **found.as_json()})[:15]
    '<!DOCTYPE html>'
    """
    style = (files("lowdim.instruments") / "report.css").read_text(encoding="utf-8")
    shown = [p for p in TITLES if any(p in s for x in m["layers"] for s in x["numbers"].values())]
    unseen = "".join(
        f"<li><code>{_e(u['name'])}</code>: {_e(u['reason'])}.</li>" for u in m["unseen"]
    )
    notes = [*m["notes"], *(f"{x['name']}: {x['note']}" for x in m["layers"] if x["note"])]
    noted = "".join(f"<li>{_e(note)}.</li>" for note in notes)
    how = m["settings"]
    mode = "training" if how["training"] else "evaluation"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_e(m['title'])}: four instruments</title><style>{style}</style></head><body>"
        f'<header><p class="kicker">One network, four instruments</p><h1>{_e(m["title"])}</h1>'
        f"{_facts(m)}{_glance(m)}{_tiles(m)}</header><main>"
        + (_compared(m, compare) if compare is not None else "")
        + "".join(_section(m, part, book, compare, history) for part in shown)
        + '<section id="unseen"><h2>What was not seen, and why</h2><ul class="unseen">'
        + (unseen or "<li>Everything was seen.</li>")
        + "</ul>"
        + (f'<h3>What else was met</h3><ul class="unseen">{noted}</ul>' if noted else "")
        + "</section></main><footer>"
        f"<p>Measured in {m['seconds']:.1f} s on {_e(how['device'])} in {_e(how['dtype'])}, in "
        f"{mode} mode, with r = {m['rank']}, K = {_e(m['clusters'])}, seed {how['seed']}, torch "
        f"{_e(how['torch'])}. Ranges are 95 %, from leaving out one of ten groups of points at a "
        "time. A model file is a program: making this report ran its code. Its checkpoint was read "
        "as weights only.</p></footer></body></html>\n"
    )
