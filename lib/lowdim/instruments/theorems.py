"""The theorem behind each instrument: its statement as MathML, its chapter, its symbols."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["THEOREMS", "Theorem"]


@dataclass(frozen=True)
class Theorem:
    """name; chapter (part/chapter) and claim in the book; says, in words; formula, in MathML."""

    name: str
    chapter: str
    claim: str
    says: str
    formula: str


def _math(body: str) -> str:
    return f'<math display="block"><mrow>{body}</mrow></math>'


def _i(x: str) -> str:
    return f"<mi>{x}</mi>"


def _o(x: str) -> str:
    return f"<mo>{x}</mo>"


def _sub(a: str, b: str) -> str:
    return f"<msub>{a}{b}</msub>"


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _norm(*parts: str) -> str:
    return _row(_o("‖"), *parts, _o("‖"))


def _frac(a: str, b: str) -> str:
    return f"<mfrac>{a}{b}</mfrac>"


_STAR = f"<msup>{_i('P')}{_o('*')}</msup>"
_WL, _GL = _sub(_i("W"), _i("l")), _sub(_i("g"), _i("l"))
_WCSS = '<mi mathvariant="normal">WCSS</mi>'
_DELTA, _Z = _i("δ"), _i("z")

THEOREMS = {
    "preserve": Theorem(
        "The tangent bound",
        "preserve/theorem_3_1",
        "preserve.new-tangent",
        "The largest angle between a layer's principal row space and the input's has a tangent of "
        "at most q: what the layer makes outside the input's row space, over the least that it "
        "keeps inside. P* projects onto the input's row space of dimension r.",
        _math(
            _i("tan")
            + _sub(_i("θ"), "<mn>1</mn>")
            + _o("≤")
            + _i("q")
            + _o("=")
            + _frac(
                _norm(_i("Y"), _o("("), _i("I"), _o("−"), _STAR, _o(")")),
                _row(_sub(_i("σ"), _i("r")), _o("("), _i("Y"), _STAR, _o(")")),
            )
        ),
    ),
    "collapse": Theorem(
        "The rank bound",
        "collapse/theorem_3_4",
        "collapse.new-rank-bound",
        "With weight decay λ, a weight is as near to rank K as its gradient and the variation "
        "within K clusters of what enters it (z) and of what comes back (δ) allow.",
        _math(
            _i("dist")
            + _row(_o("("), _WL, _o(","), _i("rank"), _o("≤"), _i("K"), _o(")"))
            + _o("≤")
            + _frac(
                _row(
                    _norm(_GL),
                    _o("+"),
                    "<msqrt>"
                    + _row(_WCSS, _o("("), _DELTA, _o(")"), _WCSS, _o("("), _Z, _o(")"))
                    + "</msqrt>",
                ),
                _row("<mn>2</mn>", _i("λ")),
            )
        ),
    ),
    "embedded": Theorem(
        "Lemma 3.1, on normal weights",
        "embedded/lemma_3_1",
        "embedded.lemma-3-1",
        "If all data lie in a plane, no gradient reaches the first weights normal to it: gradient "
        "descent leaves them at their start, and only weight decay shrinks them.",
        _math(
            _frac(
                _row(_o("∂"), _i("J")),
                _row(_o("∂"), _sub(_i("W"), _i("y"))),
            )
            + _o("=")
            + "<mn>0</mn>"
            + '<mspace width="1em"/>'
            + _row(
                "<mtext>if </mtext>", _i("y"), _o("="), "<mn>0</mn>", "<mtext> on all data</mtext>"
            )
        ),
    ),
    "hashing": Theorem(
        "The one-shot bound",
        "hashing/theorem_5",
        "hashing.new-one-shot",
        "If every two classes are at least ρ times as far apart, in mean square, as points of a "
        "class are from its mean, one stored point of each class recognizes new ones, and both "
        "kinds of error are at most this.",
        _math(
            "<mn>1</mn>"
            + _o("−")
            + "<msup>"
            + _row(_o("("), "<mn>1</mn>", _o("−"), _frac("<mn>4</mn>", _i("ρ")), _o(")"))
            + "<mn>2</mn></msup>"
            + '<mspace width="1em"/>'
            + _row("<mtext>for </mtext>", _i("ρ"), _o("&gt;"), "<mn>4</mn>")
        ),
    ),
}
"""By instrument."""
