"""Proofs that run: every step of a chain of inequalities, checked on actual instances.

A proof of an inequality is a chain ``q0 <= q1 = q2 <= ... <= qk``. A :class:`Ladder` holds the
values of every rung on the same instances and checks each step on its own. A step that fails on any
instance is a *broken rung*: the proof is wrong there, whatever happens to the two ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim.evidence.tables import Formula, Table, short

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
    """What checking a step found; ``worst`` is the largest left/right (for ``=``: relative gap)."""

    rung: str
    relation: str
    because: str
    instances: int
    violations: int
    worst: float
    loss: float

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
                    float(ratio.max()), loss,
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

    def draw(self, **options: object):
        """Draw the ladder; see :func:`lowdim.evidence.plots.ladder`."""
        from lowdim.evidence import plots

        return plots.ladder(self, **options)

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


_PLAIN = {
    r"\|": "‖", r"\le": "≤", r"\sigma": "σ", r"\sin": "sin", r"\cos": "cos", r"\tan": "tan",
    r"\Theta": "Θ", r"\theta": "θ", r"\delta": "δ", r"\epsilon": "ε", r"\varepsilon": "ε",
    r"\top": "ᵀ", r"\sqrt": "√", r"\max": "max", r"\min": "min", r"\perp": "⊥", r"\lambda": "λ",
    r"\tfrac": "", r"\frac": "", r"\,": " ", r"\;": " ", r"\!": "", r"\quad": " ", r"\star": "*",
    r"\mathrm": "", r"\operatorname": "", r"\left": "", r"\right": "", r"\cdot": "·", r"\big": "",
    r"\bar": "", r"\hat": "", r"\ne": "≠", r"\ge": "≥", r"\sum": "Σ", r"\in": "∈", r"\infty": "∞",
    r"\text": "", r"\#": "#", r"\{": "❴", r"\}": "❵", "\\ ": " ",
    r"\rho": "ρ", r"\eta": "η", r"\tau": "τ", r"\mu": "μ", r"\nabla": "∇", r"\ell": "ℓ",
    r"\alpha": "α", r"\beta": "β", r"\kappa": "κ", r"\pi": "π", r"\Delta": "Δ", r"\ln": "ln",
    r"\arctan": "arctan", r"\cdots": "⋯", r"\mathcal": "", r"\int": "∫",
    r"\nu": "ν", r"\Lambda": "Λ", r"\varphi": "φ", r"\gamma": "γ", r"\geq": "≥", r"\leq": "≤",
    r"\Omega": "Ω", r"\Pi": "Π", r"\Sigma": "Σ", r"\langle": "⟨", r"\rangle": "⟩", r"\tilde": "",
    r"\zeta": "ζ", r"\Phi": "Φ", r"\odot": "⊙", r"\ldots": "…", r"\chi": "χ", r"\xi": "ξ",
}  # fmt: skip


# Such as 12, 1{2L} or {a+b}{c} after the command: one level of braces is what ladders have.
_PART = r"(?:(\w)|\{([^{}]*)\})"
_FRACTION = re.compile(r"\\[td]?frac" + _PART + _PART + r"(?P<next>(?=\w|\\(?!right)\w))?")


def _fraction(found: re.Match[str]) -> str:
    parts = [part for part in found.groups()[:4] if part]
    simple = re.compile(r"\d+|\w|\\[A-Za-z]+")
    parts = [part if simple.fullmatch(part) else f"({part})" for part in parts]
    return "/".join(parts) + (" " if found["next"] is not None else "")


def plain(latex: str) -> str:
    r"""LaTeX made readable in a line of text.

    Examples
    --------
    >>> plain(r"$\sqrt{r}\,\|Z\|_2/\delta_1$")
    '√(r) ‖Z‖_2/δ_1'
    >>> plain(r"\frac12M+\frac{a+b}{2L}")
    '1/2 M+(a+b)/(2L)'
    """
    text = latex.replace("$", "")
    text = _FRACTION.sub(_fraction, text)
    for key in sorted(_PLAIN, key=len, reverse=True):
        text = text.replace(key, _PLAIN[key])
    out, stack, previous = [], [], ""
    for char in text:
        if char == "{":
            shown = "(" if previous == "√" else ""
            stack.append(")" if shown else "")
            out.append(shown)
        elif char == "}":
            out.append(stack.pop() if stack else "")
        else:
            out.append(char)
        previous = char
    text = "".join(out).replace("❴", "{").replace("❵", "}")
    return " ".join(text.replace("^ᵀ", "ᵀ").replace("^⊥", "⊥").split())
