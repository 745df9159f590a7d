r"""A ladder as a page shows it: rungs as a list, each with its bar on one logarithmic axis.

The drawing is HTML in the font of whatever page it stands on. Formulas are typeset by that page,
bars are inline SVG whose places are percentages, so that they follow the width; colours are those
of the page where it has the book's, and legible ones elsewhere. It brings its own small style
sheet, and so looks the same in a notebook that was downloaded.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import torch

from lowdim.evidence.tables import _typeset, short

if TYPE_CHECKING:
    from torch import Tensor

    from lowdim.evidence.ladder import Ladder, Step

TICKS = 5  # at most: the axis has to fit a phone
NOTHING = "≤ 0"  # what an axis of logarithms has no place for stands at its left end
HINT = "Point at a rung, tap it or reach it with the Tab key for its numbers."
SIGNS = {"": "", "<=": r"\le ", "=": "= "}

STYLE = """<style>
.lowdim-ladder{--bad:var(--lowdim-bad,#b3261e);--bar:var(--pst-color-link,#0a56b0);
--line:var(--lowdim-line,#9aa0a8);container-type:inline-size;text-align:left;line-height:1.45}
.lowdim-ladder .rungs{position:relative;max-width:52rem}
.lowdim-ladder ol{list-style:none;margin:0;padding:0}
.lowdim-ladder p{margin:0;max-width:none;line-height:inherit}
.lowdim-ladder :is(.rung,.rung-axis){display:grid;gap:0 1rem;margin:0;padding:.35rem .5rem;
grid-template-columns:minmax(0,5fr) minmax(0,6fr);max-width:none}
.lowdim-ladder .rung{border-top:1px solid var(--line)}
.lowdim-ladder .rung:is(:hover,:focus){background:color-mix(in srgb,currentColor 8%,transparent)}
.lowdim-ladder .rung:focus-visible{outline:2px solid var(--bar);outline-offset:-2px}
.lowdim-ladder .rung-title{font-weight:600;padding:0 .5rem .3rem}
.lowdim-ladder .rung-name{overflow:auto hidden;padding-block:1px}
.lowdim-ladder .rung-why{font-size:.88em}
.lowdim-ladder .rung-said{font-weight:600}
.lowdim-ladder .rung-broken :is(.rung-name,.rung-said,svg){color:var(--bad)}
.lowdim-ladder .rung-bar{position:relative;min-height:1.9rem}
.lowdim-ladder svg{position:absolute;inset:-.35rem 0;width:100%;height:calc(100% + .7rem);
overflow:visible;color:var(--bar)}
.lowdim-ladder .rung-grid{stroke:var(--line);opacity:.6}
.lowdim-ladder .rung-range{stroke:currentColor;stroke-width:8;stroke-linecap:round;opacity:.4}
.lowdim-ladder .rung-median{fill:currentColor}
.lowdim-ladder .rung-axis{padding-block:0;border-top:1px solid var(--line)}
.lowdim-ladder .rung-axis svg{inset:0;color:inherit}
.lowdim-ladder text{fill:currentColor;font-size:.8rem;text-anchor:middle}
.lowdim-ladder .rung-foot{height:3.4rem}
.lowdim-ladder .rung-read{position:absolute;inset:auto .5rem 0;height:3.2rem;font-size:.88em}
.lowdim-ladder .rung-read span{display:inline-block;margin-right:.6em}
.lowdim-ladder .rung-numbers{opacity:0;pointer-events:none}
.lowdim-ladder .rung:is(:hover,:focus) .rung-numbers{opacity:1}
.lowdim-ladder ol:has(.rung:hover) .rung:focus:not(:hover) .rung-numbers{opacity:0}
.lowdim-ladder ol:has(.rung:is(:hover,:focus))~.rung-hint{visibility:hidden}
.lowdim-ladder details{padding:0 .5rem}
.lowdim-ladder summary{cursor:pointer;font-size:.88em}
@container (max-width:34rem){
.lowdim-ladder :is(.rung,.rung-axis){grid-template-columns:minmax(0,1fr)}
.lowdim-ladder .rung-foot{height:6rem}
.lowdim-ladder .rung-read{height:5.8rem}}
@media print{
.lowdim-ladder :is(.rung-hint,.rung-foot){display:none}
.lowdim-ladder .rung{break-inside:avoid}
.lowdim-ladder .rung-numbers{position:static;height:auto;opacity:1;grid-column:1/-1}}
</style>"""


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis from ``low`` to ``high``; what is not positive stands at ``floor``."""

    low: float
    high: float
    floor: float | None

    def place(self, value: float) -> float:
        """Where a value stands, in percent of the width.

        Examples
        --------
        >>> axis = Axis(0.1, 10.0, None)
        >>> axis.place(0.1), axis.place(1.0), axis.place(10.0)
        (0.0, 50.0, 100.0)
        """
        if value <= 0 and self.floor is not None:
            value = self.floor
        width = math.log10(self.high / self.low)
        return min(100.0, max(0.0, 100 * math.log10(max(value, self.low) / self.low) / width))

    def ticks(self) -> list[tuple[float, str]]:
        """Places in percent and what is written there, at most six.

        Examples
        --------
        >>> [text for _, text in Axis(0.05, 2000.0, None).ticks()]
        ['10⁻¹', '1', '10', '10²', '10³']
        >>> [text for _, text in Axis(0.8, 6.0, None).ticks()]
        ['1', '2', '5']
        """
        start = self.low if self.floor is None else self.floor * 10**0.5
        marked = [] if self.floor is None else [(self.place(self.floor), NOTHING)]
        return marked + [(self.place(value), _tick(value)) for value in _round(start, self.high)]


def axis(values: Sequence[Tensor]) -> Axis:
    """The axis on which all values (instances,) of all rungs are seen.

    Examples
    --------
    >>> axis([torch.tensor([1.0, 0.0]), torch.tensor([100.0, 1.0])]).floor
    0.1
    """
    every = torch.cat([v.double() for v in values])
    positive = every[every > 0]
    if not positive.numel():
        return Axis(0.1, 10.0, 0.1)
    low, high = float(positive.min()), float(positive.max())
    floor = low / 10 if positive.numel() < every.numel() else None
    low = low if floor is None else floor
    room = max((high / low) ** 0.06, 1.05)
    # Of the least numbers that there are no smaller ones can be made.
    return Axis(max(low / room, sys.float_info.min), min(high * room, sys.float_info.max), floor)


def html(rungs: Ladder, *, alt: str) -> str:
    """The whole drawing as HTML; ``alt`` says it in words.

    Examples
    --------
    >>> from lowdim.evidence.ladder import Ladder
    >>> rungs = Ladder("demo")
    >>> rungs.start("a", [3.0]); rungs.leq("b", [2.0], because="hope")
    >>> "broken on 1 of 1 instance<" in html(rungs, alt="demo")
    True
    """
    on = axis([rung.values for rung in rungs.rungs])
    steps: list[Step | None] = [None, *rungs.check()]
    items = []
    for rung, step in zip(rungs.rungs, steps, strict=True):
        name = escape(SIGNS[rung.relation] + rung.name.replace("$", ""))
        lines = [f'<p class="rung-name">{_typeset(name)}</p>']
        if rung.because:
            lines.append(f'<p class="rung-why">{_words(rung.because)}</p>')
        bad = step is not None and step.violations > 0
        if step is not None and bad:
            said = f"broken on {step.violations:,} of {_count(step.instances)}"
            lines.append(f'<p class="rung-why rung-said">{said}</p>')
        items.append(
            f'<li class="rung{" rung-broken" if bad else ""}" tabindex="0"><div>{"".join(lines)}'
            f"</div>{_bar(on, rung.values)}"
            f'<p class="rung-read rung-numbers">{_numbers(rung.values, step)}</p></li>'
        )
    texts = "".join(
        f'<text x="{place:.2f}%" y="1.05rem"{_anchor(place)}>{text}</text>'
        for place, text in on.ticks()
    )
    table = rungs.table()._repr_html_()
    return (
        f'{STYLE}<div class="lowdim-ladder" role="group" aria-label="{escape(alt)}">'
        f'<div class="rungs"><p class="rung-title">{_words(rungs.title)}</p>'
        f'<ol role="list">{"".join(items)}</ol>'
        f'<div class="rung-axis" aria-hidden="true"><span></span>'
        f'<div class="rung-bar"><svg>{texts}</svg></div></div>'
        f'<div class="rung-foot"></div><p class="rung-read rung-hint">{HINT}</p></div>'
        f"<details><summary>The steps as a table</summary>{table}</details></div>"
    )


def _bar(on: Axis, values: Tensor) -> str:
    """Range and median of one rung, over the lines of the axis."""
    low, middle, high = (on.place(v) for v in _three(values))
    lines = "".join(
        f'<line class="rung-grid" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="100%"/>'
        for x, _ in on.ticks()
    )
    return (
        f'<div class="rung-bar"><svg aria-hidden="true">{lines}<line class="rung-range" '
        f'x1="{low:.2f}%" x2="{high:.2f}%" y1="50%" y2="50%"/><circle class="rung-median" '
        f'cx="{middle:.2f}%" cy="50%" r="5.5"/></svg></div>'
    )


def _numbers(values: Tensor, step: Step | None) -> str:
    """What is known of a rung, for whoever points at it, listens or prints."""
    low, middle, high = _three(values)
    facts = [_count(values.numel()), f"median {_number(middle)}"]
    facts.append(f"range {_number(low)} to {_number(high)}")
    if step is not None:
        facts.append(f"violations {step.violations:,}")
        what = "worst ratio" if step.relation == "<=" else "largest relative gap"
        facts.append(f"{what} {_number(step.worst)}, at index {step.worst_at}")
    return " ".join(f"<span>{fact}{',' if fact != facts[-1] else '.'}</span>" for fact in facts)


def _count(instances: int) -> str:
    return f"{instances:,} instance{'' if instances == 1 else 's'}"


def _three(values: Tensor) -> tuple[float, float, float]:
    return float(values.min()), float(values.median()), float(values.max())


def _number(value: float) -> str:
    """A number as it is set in a text."""
    text = short(value).replace("-", "−").replace("inf", "∞")
    found = re.fullmatch(r"(.+)e([+−])0*(\d+)", text)
    if not found:
        return text
    return f"{found[1]}·10<sup>{found[2].replace('+', '')}{found[3]}</sup>"


def _words(text: str) -> str:
    """A sentence; what stands between dollars is typeset."""
    return re.sub(r"\$([^$]+)\$", lambda found: _typeset(found[1]), escape(text))


def _round(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high``: powers of ten, or closer where there are few."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 3:
        step = -(-len(powers) // TICKS)
        return [10.0**k for k in powers if k % step == 0]
    near = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
    near = [value for value in near if low <= value <= high]
    if 2 <= len(near) <= TICKS:
        return near
    if len(near) > TICKS:
        return [10.0**k for k in powers]
    unit = 10.0 ** math.floor(math.log10(high - low))
    apart = next(m * unit for m in (0.2, 0.5, 1, 2) if (high - low) / (m * unit) <= TICKS)
    return [k * apart for k in range(math.ceil(low / apart), math.floor(high / apart) + 1)]


def _anchor(place: float) -> str:
    """What is written at an end of the axis stays within its width."""
    side = "start" if place < 6 else "end" if place > 94 else ""
    return f' style="text-anchor:{side}"' if side else ""


def _tick(value: float) -> str:
    """A round number, as text: SVG has no raised figures."""
    digits, _, power = f"{value:.3e}".partition("e")
    factor, exponent = f"{float(digits):g}", int(power)
    if exponent in (0, 1) or (factor != "1" and -3 < exponent < 5):
        return f"{value:.4g}"
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if factor == "1" else f"{factor}·10{raised}"
