"""Fold bars that say what is inside, and a switch for all code.

The words of a bar come from the cell: a comment on its first line, the title of a ladder, what is
attacked, what is ruled, what is shown, what is defined. The cell that rules is folded whatever its
tags say. The switch itself is ``book/_static/js/folds.js``; what a reader chose is applied before
the page shows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from lowdim.evidence.vocabulary import KINDS, VERDICTS, claim_name

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RULES = {*(word.replace("-", "_") for word in VERDICTS), "judged", "verdict"} - {"not_reproduced"}
RULED = "how each claim is ruled"
COMPARED = "what the paper reports beside what was measured"
SAID = "numbers for the text"
MOST = 3  # names that a bar lists
BEFORE = (
    'try{const s=localStorage.getItem("lowdim-code");'
    'if(s==="shown"||s==="hidden")document.documentElement.dataset.lowdimCode=s}catch{}'
)


def setup(app: Sphinx) -> None:
    """Register transforms, bars and what a page does first.

    Examples
    --------
    >>> from unittest.mock import Mock
    >>> app = Mock(); setup(app); app.add_transform.call_count
    1
    """
    from myst_nb.sphinx_ import HideCodeCellNode

    app.setup_extension("myst_nb")  # its bars first, then ours in their place
    app.add_node(HideCodeCellNode, override=True, html=(_open, _close))
    app.add_transform(FoldRulings)
    app.add_post_transform(FoldBars)
    app.add_js_file(None, body=BEFORE, priority=100)


def inside(source: str) -> str:
    r"""What a cell is about, in words; names of code in backticks; empty if it does not say.

    Examples
    --------
    >>> inside("# The five readings.\nx = 1")
    'The five readings'
    >>> inside("rungs = Ladder('the paper\\'s ladder', relative=1e-9)")
    "the paper's ladder"
    >>> inside("found = attack(lemma_37, seed=0)"), inside("def half(x):\n    return x / 2")
    ('attack on Lemma 37', '`half`')
    >>> inside("verdict(rulings)"), inside("x = 1")
    ('how each claim is ruled', '`x`')
    """
    first = source.strip().partition("\n")[0]
    if first.startswith("#"):
        return first.lstrip("# ").rstrip(" .:;")
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic of the notebook
        return ""
    calls = _calls(tree)
    named = {name for name, _ in calls}
    ladders = (call.args[0] for name, call in calls if name == "Ladder" and call.args)
    if titles := [t.value for t in ladders if isinstance(t, ast.Constant) and t.value]:
        return _listed([str(title) for title in titles])
    if "attack" in named:
        on = _listed(_attacked(tree))
        return f"attack on {on}" if on else "attack"
    if named & RULES:
        return RULED
    if "compared" in named:
        return COMPARED
    defined = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    if any(name.startswith("check_") for name in defined):
        return f"check of an answer, {_listed([f'`{name}`' for name in defined])}"
    if shown := _table(tree):
        return shown
    if "say" in named:
        return SAID
    if tree.body and all(isinstance(n, ast.Import | ast.ImportFrom) for n in tree.body):
        return "imports"
    return _listed([f"`{name}`" for name in defined or _assigned(tree)])


def rules(source: str) -> bool:
    """Whether a cell rules on claims: whether it calls ``verdict``.

    Examples
    --------
    >>> rules("verdict(rulings);"), rules("from lowdim.evidence import verdict")
    (True, False)
    """
    return re.search(r"^\s*verdict\(", source, re.MULTILINE) is not None


def size(source: str) -> str:
    r"""How long a cell is.

    Examples
    --------
    >>> size("x = 1\n\ny = 2\n"), size("x")
    ('3 lines', '1 line')
    """
    count = len(source.strip().splitlines())
    return f"{count} line{'s' * (count != 1)}"


def _table(tree: ast.Module) -> str:
    """The columns of the table that a cell ends with; a table, where it does not name them."""
    last = tree.body[-1].value if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if not isinstance(last, ast.Call):
        return ""
    if isinstance(last.func, ast.Attribute):
        return "a table" if last.func.attr == "table" else ""
    if not isinstance(last.func, ast.Name) or last.func.id != "Table" or not last.args:
        return ""
    head = last.args[0]
    if isinstance(head, ast.Name):
        head = _assigned(tree).get(head.id, head)
    cells = head.elts if isinstance(head, ast.Tuple | ast.List) else []
    columns = [str(c.value) for c in cells if isinstance(c, ast.Constant)]
    return f"table of {_listed(columns)}" if columns else "a table"


def _assigned(tree: ast.Module) -> dict[str, ast.expr]:
    """What a cell leaves behind by a plain name, in the order of its lines."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = node.value
    return found


def _calls(tree: ast.Module) -> list[tuple[str, ast.Call]]:
    """What a cell calls by a plain name, in the order of its lines."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    plain = [(node.func.id, node) for node in found if isinstance(node.func, ast.Name)]
    return sorted(plain, key=lambda pair: (pair[1].lineno, pair[1].col_offset))


def _attacked(tree: ast.Module) -> list[str]:
    """The claims that are attacked, by the names that the cell has for them."""
    loops = (n for n in ast.walk(tree) if isinstance(n, ast.comprehension | ast.For))
    over = {
        loop.target.id: [item.id for item in loop.iter.elts if isinstance(item, ast.Name)]
        for loop in loops
        if isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Tuple | ast.List)
    }
    found: list[str] = []
    for name, call in _calls(tree):
        if name == "attack" and call.args:
            what = call.args[0]
            what = what.func if isinstance(what, ast.Call) else what
            if isinstance(what, ast.Name):
                found += over.get(what.id, [what.id])
    known = (_spoken(name) for name in dict.fromkeys(found))
    return [name for name in known if name]


def _spoken(name: str) -> str:
    """A name of code as one says it; empty for one that only stands for others."""
    kind, _, rest = name.partition("_")
    if kind in KINDS and re.match(r"\d|[a-z]_\d", rest):
        return claim_name(f"x.{name.replace('_', '-')}")
    if name in KINDS:
        return f"the {name}"
    return "" if name in ("each", "claim", "stated", "printed_claim") else name.replace("_", " ")


def _listed(names: list[str]) -> str:
    """A few names as a sentence has them."""
    if len(names) > MOST:
        return f"{', '.join(names[: MOST - 1])} and {len(names) - MOST + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


class FoldRulings(SphinxTransform):
    """Fold the cell that rules, whatever its tags say."""

    default_priority = 390  # before its output gives way to the verdict

    def apply(self, **kwargs: Any) -> None:
        """Find it by what it calls."""
        for cell in cells(self.document):
            if rules(source_of(cell)):
                fold(cell)


def fold(cell: nodes.Element) -> None:
    """Fold the code of a cell, by the mode that myst-nb folds by; its output stays as it is.

    Examples
    --------
    >>> cell = nodes.container(nb_element="cell_code", hide_mode="output")
    >>> fold(cell); cell["hide_mode"]
    'input+output'
    """
    if cell.get("hide_mode") in (None, "output"):
        cell["hide_mode"] = "input+output" if cell.get("hide_mode") else "input"
        cell.setdefault("prompt_show", "")
        cell.setdefault("prompt_hide", "")


class FoldBars(SphinxPostTransform):
    """Give each fold of a cell the words for its bar."""

    default_priority = 200  # myst-nb makes the folds at 199
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Kind, words and size, from what is folded."""
        from myst_nb.sphinx_ import HideCodeCellNode

        for fold in self.document.findall(HideCodeCellNode):
            source = source_of(fold)
            fold["bar"] = ("Code", inside(source), size(source)) if source else _shown(fold)


def cells(document: nodes.Element) -> Iterator[nodes.container]:
    """The code cells of a page, in order.

    Examples
    --------
    >>> from docutils.utils import new_document
    >>> page = new_document("x")
    >>> page += nodes.container(nb_element="cell_code")
    >>> len(list(cells(page)))
    1
    """
    for node in document.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            yield node


def source_of(cell: nodes.Element) -> str:
    """The code that a cell shows; empty if it shows none.

    Examples
    --------
    >>> code = nodes.container("", nodes.literal_block("", "x = 1"), nb_element="cell_code_source")
    >>> source_of(nodes.container("", code))
    'x = 1'
    """
    for node in cell.findall(nodes.container):
        if node.get("nb_element") == "cell_code_source":
            return node.astext()
    return ""


def _shown(fold: nodes.Element) -> tuple[str, str, str]:
    """The words for a folded output: what it is, and how large."""
    for raw in fold.findall(nodes.raw):
        if rows := len(re.findall(r"<tr\b", raw.astext())):
            return "Output", "a table", f"{max(rows - 1, 1)} row{'s' * (rows > 2)}"
    for table in fold.findall(nodes.table):
        rows = sum(1 for body in table.findall(nodes.tbody) for _ in body.children)
        return "Output", "a table", f"{rows} row{'s' * (rows != 1)}"
    if next(iter(fold.findall(nodes.image)), None) is not None:
        return "Output", "a figure", ""
    return "Output", "", size(fold.astext())


def bar(kind: str, what: str, length: str) -> str:
    """The bar's words as HTML.

    Examples
    --------
    >>> bar("Code", "`half`", "2 lines")
    '<b>Code</b>: <code>half</code>, 2 lines'
    >>> bar("Code", "", "1 line")
    '<b>Code</b>, 1 line'
    """
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(what, quote=False))
    head = f"<b>{kind}</b>" + (f": {text}" if text else "")
    return f"{head}, {length}" if length else head


def _open(translator: Any, node: nodes.Element) -> None:
    whole = [] if source_of(node) and not _has_output(node) else ["lowdim-fold-output"]
    classes = " ".join(["lowdim-fold", *node["classes"], *whole])
    words = bar(*node["bar"]) if "bar" in node else escape(node["prompt_show"])
    translator.body.append(
        f'<details class="{classes}">\n<summary><span>{words}</span></summary>\n'
    )


def _has_output(node: nodes.Element) -> bool:
    outputs = (n.get("nb_element") == "cell_code_output" for n in node.findall(nodes.container))
    return any(outputs)


def _close(translator: Any, node: nodes.Element) -> None:
    translator.body.append("</details>\n")
