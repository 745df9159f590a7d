"""Proofs that run: every step of a chain of inequalities, checked on actual instances.

A proof of an inequality is a chain ``q0 <= q1 = q2 <= ... <= qk``. A :class:`Ladder` holds the
values of every rung on the same instances and checks each step on its own. A step that fails on any
instance is a *broken rung*: the proof is wrong there, whatever happens to the two ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.tables import Formula, Table, short

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

# Rungs are computed in double precision from factorizations of modest condition; a step is called
# broken only when it fails by more than this share of its size, or by an absolute rounding floor.
RELATIVE = 1e-9
ABSOLUTE = 1e-13


@dataclass(frozen=True)
class Rung:
    """One quantity of the chain: name in LaTeX, values (instances,), relation to the one before."""

    name: str
    values: Tensor
    relation: str
    because: str


@dataclass(frozen=True)
class Step:
    """What checking a step found.

    ``worst`` is the largest left/right (for ``=``: relative gap), ``worst_at`` the first instance
    that has it, ``loss`` the median factor that the step gives away.
    """

    rung: str
    relation: str
    because: str
    instances: int
    violations: int
    worst: float
    loss: float
    worst_at: int

    def record(self) -> dict[str, object]:
        """The part of a chapter's record that describes this step."""
        worst = None if self.worst != self.worst or abs(self.worst) == float("inf") else self.worst
        return {
            "rung": self.rung,
            "because": self.because,
            "instances": self.instances,
            "violations": self.violations,
            "worst": worst,
        }


class Ladder:
    """A chain of inequalities evaluated on a batch of instances.

    Examples
    --------
    >>> x = torch.tensor([[3.0, 4.0], [1.0, 0.0]], dtype=torch.float64)
    >>> rungs = Ladder("norms")
    >>> rungs.start(r"|x|_max", x.abs().amax(1))
    >>> rungs.leq(r"|x|_2", x.norm(dim=1), because="one square is at most the sum")
    >>> rungs.leq(r"|x|_2 / 2", x.norm(dim=1) / 2, because="wishful thinking")
    >>> [step.violations for step in rungs.check()]
    [0, 2]
    >>> rungs.broken
    ['|x|_2 / 2']
    """

    def __init__(
        self, title: str, *, relative: float = RELATIVE, absolute: float = ABSOLUTE
    ) -> None:
        self.title = title
        self.relative = relative
        self.absolute = absolute
        self.rungs: list[Rung] = []

    def start(self, name: str, values: object) -> None:
        """Put the first quantity, values (instances,)."""
        if self.rungs:
            raise ValueError(f"ladder {self.title!r} already starts at {self.rungs[0].name!r}.")
        self._add(name, values, "", "")

    def leq(self, name: str, values: object, *, because: str) -> None:
        """Claim that the last rung is at most this one, values (instances,)."""
        self._add(name, values, "<=", because)

    def eq(self, name: str, values: object, *, because: str) -> None:
        """Claim that the last rung equals this one, values (instances,)."""
        self._add(name, values, "=", because)

    def check(self) -> list[Step]:
        """Check every step on every instance."""
        steps = []
        for before, rung in zip(self.rungs, self.rungs[1:], strict=False):
            left, right = before.values, rung.values
            slack = self.relative * torch.maximum(left.abs(), right.abs()) + self.absolute
            if rung.relation == "=":
                fails = (left - right).abs() > slack
                size = torch.maximum(left.abs(), right.abs())
                ratio = torch.where(size > 0, (left - right).abs() / size.clamp_min(1e-300), 0.0)
            else:
                fails = left > right + slack
                ratio = torch.where(
                    right > 0, left / right.clamp_min(1e-300), torch.where(fails, torch.inf, 1.0)
                )
            factor = torch.where(left > 0, right / left.clamp_min(1e-300), torch.nan)
            loss = float(torch.nanmedian(factor)) if bool((left > 0).any()) else float("nan")
            steps.append(
                Step(
                    rung.name, rung.relation, rung.because, left.numel(), int(fails.sum()),
                    float(ratio.max()), loss, int(np.argmax(ratio.numpy())),
                )
            )  # fmt: skip
        return steps

    @property
    def broken(self) -> list[str]:
        """Names of the rungs whose step fails on some instance."""
        return [step.rung for step in self.check() if step.violations]

    def table(self) -> Table:
        """Per step: instances, violations, worst ratio and the median factor that it gives away."""
        rows = []
        for step in self.check():
            worst = step.worst if step.relation == "<=" else None
            state = "broken" if step.violations else "holds"
            sign, tex = {"<=": ("≤", r"\le"), "=": ("=", "=")}[step.relation]
            name = step.rung.replace("$", "")
            rows.append(
                (
                    Formula(f"{sign} {plain(name)}", tex=f"{tex} {name}"),
                    state,
                    step.instances,
                    step.violations,
                    short(worst),
                    short(None if step.loss != step.loss else step.loss),
                )
            )
        header = ("step", "state", "instances", "violations", "worst ratio", "median loss")
        return Table(header, rows)

    def describe(self) -> str:
        """The ladder in a sentence, from its data.

        Examples
        --------
        >>> rungs = Ladder("demo")
        >>> rungs.start("a", [1.0]); rungs.leq("b", [2.0], because="why not")
        >>> rungs.describe()
        'Ladder demo on 1 instances, medians: a 1; b 2. No rung is broken.'
        """
        medians = "; ".join(
            f"{plain(rung.name)} {short(float(rung.values.median()), 2)}" for rung in self.rungs
        )
        broken = [plain(name) for name in self.broken]
        end = f"Broken at: {', '.join(broken)}." if broken else "No rung is broken."
        count = self.rungs[0].values.numel()
        return f"Ladder {plain(self.title)} on {count} instances, medians: {medians}. {end}"

    def draw(self, *, alt: str = "") -> None:
        """Show the ladder: every rung with its reason and its bar, and the steps as a table.

        ``alt`` takes the place of the description that is made from the data.
        """
        from IPython.display import display

        from lowdim.evidence import _drawing

        told = " ".join(alt.split()) or self.describe()
        display({"text/html": _drawing.html(self, alt=told), "text/plain": told}, raw=True)

    def _add(self, name: str, values: object, relation: str, because: str) -> None:
        if relation and not self.rungs:
            raise ValueError(
                f"ladder {self.title!r} has no first rung; call start before {name!r}."
            )
        values = torch.as_tensor(values, dtype=torch.float64).detach().flatten()
        if not bool(torch.isfinite(values).all()) or values.numel() == 0:
            bad = int((~torch.isfinite(values)).sum())
            raise ValueError(
                f"rung {name!r} needs finite values; {bad} of {values.numel()} are not."
            )
        if self.rungs and values.numel() != self.rungs[0].values.numel():
            raise ValueError(
                f"rung {name!r} has {values.numel()} instances, "
                f"but {self.rungs[0].name!r} has {self.rungs[0].values.numel()}."
            )
        self.rungs.append(Rung(name, values, relation, because))


_GAP = "\N{THIN SPACE}"  # after a fraction; it becomes a blank where a factor follows


def plain(latex: str) -> str:
    r"""LaTeX made readable in a line of text.

    Examples
    --------
    >>> plain(r"$\sqrt{r}\,\|Z\|_2/\delta_1$")
    '√(r) ‖Z‖_2/δ_1'
    >>> plain(r"\frac12M+\frac{a+b}{2L}")
    '1/2 M+(a+b)/(2L)'
    """
    reader, grammar = _reader()
    text = reader.latex_to_text(latex.replace("$", ""), latex_context=grammar)
    text = re.sub(rf"{_GAP}(?=[\w‖√∑∏∫⟨])", " ", text).replace(_GAP, "")
    return " ".join(text.replace("^ᵀ", "ᵀ").replace("^⊥", "⊥").split())


@cache
def _reader() -> tuple[LatexNodes2Text, Any]:
    """pylatexenc's reader, with brackets where a line of text needs them, and its grammar."""
    from pylatexenc import latexwalker, macrospec
    from pylatexenc.latex2text import (
        LatexNodes2Text,
        MacroTextSpec,
        get_default_latex_context_db,
    )

    def shown(reader: LatexNodes2Text, node: object) -> str:
        text = reader.nodelist_to_text([node]).strip()
        return text if re.fullmatch(r"\d+|\w|", text) else f"({text})"

    def fraction(node: Any, l2tobj: LatexNodes2Text) -> str:
        return "/".join(shown(l2tobj, part) for part in node.nodeargs) + _GAP

    def root(node: Any, l2tobj: LatexNodes2Text) -> str:
        return f"√({l2tobj.nodelist_to_text([node.nodeargs[-1]]).strip()})"

    known = get_default_latex_context_db()
    known.add_context_category(
        "ladders",
        prepend=True,
        macros=[
            *(MacroTextSpec(name, simplify_repl=fraction) for name in ("frac", "tfrac", "dfrac")),
            MacroTextSpec("sqrt", simplify_repl=root),
            MacroTextSpec("|", "‖"),
            MacroTextSpec("top", "ᵀ"),
            MacroTextSpec("star", "*"),
            MacroTextSpec("ne", "≠"),
        ],
    )
    grammar = latexwalker.get_default_latex_context_db()
    specs = [macrospec.std_macro(name, False, 2) for name in ("tfrac", "dfrac")]
    grammar.add_context_category("ladders", prepend=True, macros=specs)
    reader = LatexNodes2Text(latex_context=known, math_mode="text", keep_comments=True)
    return reader, grammar
