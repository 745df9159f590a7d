"""The notebook that a chapter's page offers: complete in plain Jupyter, and it runs.

Its words are plain Markdown with the numbers of the book's run (:mod:`lowdim.publish.site.plain`),
its outputs those of that run, its kernel named as Jupyter and papermill want it. What the book
hides is folded, not gone.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish.execute import RECORDS, with_outputs
from lowdim.publish.site.exercises import judged, stub
from lowdim.publish.site.plain import Plain, entry

if TYPE_CHECKING:
    from nbformat import NotebookNode

INSTALL = """\
# To run this notebook, install the library of the book with all that a chapter needs. From a copy
# of the sources:
#
#     pip install ".[book]"
#
# The outputs below are those of the book's own run; running a cell replaces them."""
_EXERCISE = re.compile(r"^(`{3,})\{exercise\}.*?^\1[ \t]*$", re.S | re.M)
_OPTION = re.compile(r"^:(\w+):[ \t]*(.+?)[ \t]*$", re.M)
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
LANGUAGE = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "pygments_lexer": "ipython3",
    "codemirror_mode": {"name": "ipython", "version": 3},
}
FOLDED = {
    "hide-input": ("source_hidden",),
    "remove-input": ("source_hidden",),
    "hide-output": ("outputs_hidden",),
    "remove-output": ("outputs_hidden",),
    "hide-cell": ("source_hidden", "outputs_hidden"),
    "remove-cell": ("source_hidden", "outputs_hidden"),
}
# The colours of the book's style sheet, which a notebook has not.
BADGES = {
    "good": "color:#0b5d31;background:#dff3e6",
    "warn": "color:#6f4400;background:#fdeecb",
    "bad": "color:#8c1220;background:#fbe1e3",
    "open": "color:#3b3f8f;background:#e5e7fb",
    "tag": "color:#39424e;background:#e9ecf0",
}


def make(source: Path, *, run: NotebookNode | None = None) -> NotebookNode:
    """The chapter at ``source`` as a notebook, with the outputs of ``run`` if there is one.

    ``source`` is ``notebooks/<part>/<chapter>.md`` of a book; its record gives the numbers. Equal
    sources and runs make equal notebooks, ids of cells included.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as book:
    ...     path = Path(book, "notebooks", "preserve", "weyl.md")
    ...     path.parent.mkdir(parents=True)
    ...     _ = path.write_text("# Weyl\\n\\nSee {cite}`weyl1912`.\\n")
    ...     made = make(path)
    >>> made.cells[1].source
    '# Weyl\\n\\nSee weyl1912.'
    """
    import jupytext
    from nbformat.v4 import new_code_cell, new_markdown_cell

    root, chapter = source.resolve().parents[2], f"{source.parent.name}/{source.stem}"
    notebook = jupytext.read(source)
    if run is not None:
        notebook = with_outputs(notebook, run)
    plain = Plain(root, chapter, _record(root, chapter))
    cells = [new_code_cell(INSTALL)]
    for cell in notebook.cells:
        if cell.cell_type != "code":
            for source_text, asked in answered(cell.source):
                if text := plain.markdown(source_text):
                    cells.append(new_markdown_cell(text))
                cells += [new_code_cell(code) for code in asked]
            continue
        about = cell.metadata.pop("mystnb", None) or {}
        cells.append(_folded(cell))
        alt = plain.inline(about.get("image", {}).get("alt", ""))
        cell.outputs = [_shown(output, alt) for output in cell.outputs]
        if caption := about.get("figure", {}).get("caption"):
            named = "" if caption.startswith("Figure") else "**Figure.** "
            cells.append(new_markdown_cell(named + plain.inline(caption)))
    if plain.cited:
        listed = sorted(entry(plain.bibliography, key) for key in plain.cited)
        cells.append(
            new_markdown_cell("\n".join(["## References", "", *(f"- {e}" for e in listed)]))
        )
    for count, cell in enumerate(cells):
        cell["id"] = f"{source.stem.replace('_', '-')}-{count:03d}"
    notebook.cells = cells
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": dict(LANGUAGE)}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def answered(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A Markdown cell in pieces, each with the code cells that follow it.

    After an exercise that is judged come two: one to write the answer in, one that judges it. Run
    as it is, the second says that there is no answer yet.

    Examples
    --------
    >>> block = "```{exercise}\\n:answer: f(x)\\n:checker: preserve.check_f\\nWrite it.\\n```\\n"
    >>> [(piece.count("`"), len(cells)) for piece, cells in answered(block + "More.")]
    [(6, 2), (0, 0)]
    """
    start = 0
    for found in _EXERCISE.finditer(text):
        options = dict(_OPTION.findall(found[0]))
        if "checker" in options:
            yield (
                text[start : found.end()],
                (stub(options["answer"]), judged(options["answer"], options["checker"])),
            )
            start = found.end()
    yield text[start:], ()


def _record(root: Path, chapter: str) -> Mapping[str, Any] | None:
    path = root / RECORDS / f"{chapter}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _folded(cell: NotebookNode) -> NotebookNode:
    """The cell, folded in JupyterLab where the book hides it, and without the times of its run."""
    hidden = {key for tag in cell.metadata.get("tags", []) for key in FOLDED.get(tag, ())}
    cell.metadata.pop("execution", None)
    if hidden:
        cell.metadata["jupyter"] = dict.fromkeys(sorted(hidden), True)
    return cell


def _shown(output: NotebookNode, alt: str) -> NotebookNode:
    """An output as a notebook that nobody has trusted yet shows it.

    JupyterLab draws no SVG of a file that came from elsewhere, but an image in HTML; so a figure is
    both. A verdict brings its colours along.
    """
    from nbformat import from_dict

    output = from_dict(json.loads(json.dumps(output)))
    about = output.get("metadata", {})
    alt = about.pop("lowdim_alt", "") or alt
    about.pop("lowdim_record", None)
    data = output.get("data", {})
    if svg := data.get("image/svg+xml"):
        coded = base64.b64encode(svg.encode()).decode()
        source = f"data:image/svg+xml;base64,{coded}"
        data["text/html"] = f'<img alt="{html.escape(alt)}" src="{source}">'
        data["text/plain"] = f"Figure: {alt}" if alt else "Figure"
    elif "verdict-" in data.get("text/html", ""):
        data["text/html"] = re.sub(
            r'<span class="verdict verdict-([\w-]+)"', _coloured, data["text/html"]
        )
    return output


def _coloured(match: re.Match[str]) -> str:
    from lowdim.evidence.vocabulary import TONES

    colours = BADGES[TONES.get(match[1], "tag")]
    return f'{match[0]} style="{colours};padding:0.1em 0.6em;border-radius:1em"'
