"""What stands at the top of a run's page: what was changed, what moved, how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lowdim.publish.comparison import Moved, clipped, command, compare

if TYPE_CHECKING:
    from nbformat import NotebookNode

CLASS = "lowdim-run"


def words(
    record: Mapping[str, Any],
    *,
    defaults: Mapping[str, Any],
    book: Mapping[str, Any] | None,
    titles: Mapping[str, str],
) -> str:
    """The banner as MyST: ``titles`` are names of claims by id, ``book`` the book's own record.

    Examples
    --------
    >>> claim = {"id": "a.lemma-1", "verdict": "holds", "supported": True}
    >>> record = {"chapter": "a/b", "parameters": {"n": 2}, "claims": [claim], "values": {},
    ...           "preset": None}
    >>> "lowdim run a/b -p n=2" in words(record, defaults={"n": 1}, book=None, titles={})
    True
    """
    changed = [
        Moved(name, default, record["parameters"].get(name))
        for name, default in defaults.items()
        if record["parameters"].get(name) != default
    ]
    lines = ["::::{admonition} A run of your own", f":class: note {CLASS}", ""]
    if changed:
        lines += [*_table(("parameter", "book", "this run"), changed), ""]
    else:
        lines += ["Every parameter has its default.", ""]
    lines += _against(record, book, titles)
    again = command(record["chapter"], changed)
    lines += ["To repeat it:", "", "```bash", again, "```", "::::", ""]
    return "\n".join(lines)


def _against(
    record: Mapping[str, Any], book: Mapping[str, Any] | None, titles: Mapping[str, str]
) -> list[str]:
    if book is None:
        return [
            "The book's own run is not at hand, so nothing is compared: `make book` makes it.",
            "",
        ]
    found = compare(book, record)
    lines: list[str] = []
    if found.verdicts:
        told = [Moved(titles.get(m.name, m.name), m.before, m.after) for m in found.verdicts]
        lines += [
            f"**{len(told)} of {found.claims} verdicts moved** against the book's own run.",
            "",
        ]
        lines += [*_table(("claim", "book", "this run"), told), ""]
    else:
        lines += [f"All {found.claims} verdicts are those of the book's own run.", ""]
    if found.values:
        lines += [f":::{{dropdown}} {len(found.values)} of {found.said} numbers moved", ""]
        lines += [*_table(("number", "book", "this run"), found.values, code=True), ":::", ""]
    else:
        lines += [f"All {found.said} numbers that the page says are the same too.", ""]
    return lines


def _table(head: Sequence[str], rows: Sequence[Moved], *, code: bool = False) -> list[str]:
    def cell(value: Any) -> str:
        return re.sub(r"([\\|*_`<>$\[\]])", r"\\\1", clipped(value))

    def name(value: str) -> str:
        return f"`{value}`" if code or head[0] == "parameter" else value.replace("|", r"\|")

    lines = [f"| {' | '.join(head)} |", "| --- | --- | --- |"]
    return lines + [f"| {name(m.name)} | {cell(m.before)} | {cell(m.after)} |" for m in rows]


def put_into(nb: NotebookNode, banner: str) -> None:
    """Put the banner below the title of a notebook; at its top if it has none.

    Examples
    --------
    >>> import nbformat
    >>> nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("(a)=\\n# T\\n\\nText")])
    >>> put_into(nb, "B\\n")
    >>> nb.cells[0].source
    '(a)=\\n# T\\n\\nB\\n\\n\\n\\nText'
    """
    import nbformat

    first = next((cell for cell in nb.cells if cell.cell_type == "markdown"), None)
    title = re.search(r"^# .*$", first.source, flags=re.MULTILINE) if first else None
    if first is None or title is None:
        nb.cells.insert(0, nbformat.v4.new_markdown_cell(banner))
        return
    first.source = f"{first.source[: title.end()]}\n\n{banner}\n{first.source[title.end() :]}"
