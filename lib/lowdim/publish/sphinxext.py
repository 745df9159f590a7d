"""The little that the book needs from Sphinx beyond what Jupyter Book brings.

* Alt text with the numbers of the page's run.
* A footer on every chapter: seed, versions, run time, the notebook, its rows in the ledger.
* The notebook as ``.ipynb`` in the theme's download menu: the theme itself offers the source only.
* Thebe, which Jupyter Book loads on every page and which runs code on another host, is left out.
* Cached runs that are not current are dropped before Sphinx can use them.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.evidence.vocabulary import style
from lowdim.publish import content, directives, site, store, words
from lowdim.publish.content import chapter_path
from lowdim.publish.execute import CACHE, RECORDS, drop_stale
from lowdim.publish.pages import notebook_url
from lowdim.publish.site import figures

if TYPE_CHECKING:
    from docutils import nodes
    from myst_nb.core.render import MimeData, NbElementRenderer
    from nbformat import NotebookNode
    from sphinx.application import Sphinx

PREFIX = "notebooks/"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    directives.setup(app)
    site.setup(app)
    app.connect("builder-inited", _drop_stale)
    # After the theme (priority 501) has made its download menu.
    app.connect("html-page-context", _add_to_page, priority=600)
    app.connect("html-page-context", _leave_thebe_out, priority=600)
    app.connect("build-finished", _write_notebooks)
    app.connect("build-finished", _write_style)
    app.add_css_file("verdicts.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def downloadable(source: Path, *, run: NotebookNode | None = None) -> NotebookNode:
    """The chapter as a notebook that reads well in plain Jupyter and runs where ``lowdim`` is.

    With the outputs of ``run``, if there is one.
    """
    from lowdim.publish.site import notebooks

    return notebooks.make(source, run=run)


class AltText:
    """How myst-nb renders the images of this book: none without alt text, each in its frame.

    The text is written beside the caption, in the cell's metadata, or comes with the output where
    it is made from data. The frame is what narrow and dark pages need to know of a figure
    (:mod:`lowdim.publish.site.figures`). An entry point in pyproject.toml names this class; other
    books that are built in the same environment are left alone.
    """

    mime_priority_overrides = ()

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """The nodes of an image; None for everything else."""
        env = getattr(renderer.renderer, "sphinx_env", None)
        if inline or not data.mime_type.startswith("image/"):
            return None
        if env is None or __name__ not in env.app.extensions:
            return None
        images = renderer.render_image(figures.without_ground(data))
        for image in images:
            alt = data.output_metadata.get("lowdim_alt") or _filled(renderer, image.get("alt", ""))
            if alt:
                image["alt"] = str(alt)
            else:  # fails the strict build
                renderer.logger.warning("a figure has no alt text", subtype="image", line=data.line)
        return [figures.framed(image, data) for image in images]


def _filled(renderer: NbElementRenderer, alt: str) -> str:
    """Alt text that a cell's metadata has, with the values of the page's run."""
    if "{" not in alt:
        return alt
    env = renderer.renderer.sphinx_env
    record = directives.record_of(env, directives.chapter_of(env.docname))
    try:
        return words.fill(alt, words.values_of(record))
    except words.WordsError as problem:
        renderer.logger.warning(str(problem), subtype="image")
        return alt


def _drop_stale(app: Sphinx) -> None:
    root = Path(app.srcdir)
    if (root / CACHE).is_dir() and (root / "_toc.yml").is_file():
        drop_stale(root)


def _add_to_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    chapter = pagename.removeprefix(PREFIX)
    path = Path(app.srcdir) / RECORDS / f"{chapter}.json"
    if not pagename.startswith(PREFIX) or not path.is_file():
        return
    record = json.loads(path.read_text(encoding="utf-8"))
    notebook = context["pathto"](notebook_url(chapter), 1)
    context["body"] += footer(record, notebook=notebook, pathto=context["pathto"])
    for button in context.get("header_buttons", []):
        if button.get("label") == "download-buttons":
            entry = {
                "type": "link",
                "url": notebook,
                "text": ".ipynb",
                "tooltip": "Download a notebook that runs",
                "icon": "fas fa-code",
                "label": "download-notebook-button",
            }
            button["buttons"].insert(0, entry)


def _leave_thebe_out(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    # Its settings hold an outside address, and come twice, which is an error in the browser.
    for kind in ("script_files", "css_files"):
        context[kind] = [
            file
            for file in context.get(kind, [])
            if "thebe" not in f"{file} {getattr(file, 'attributes', '')}".lower()
        ]


def footer(record: dict[str, Any], *, notebook: str, pathto: Callable[[str], str]) -> str:
    """The chapter's footer as HTML: how this page came about, and where to go from it."""
    versions = ", ".join(
        f"{name} {version}" for name, version in sorted(record["versions"].items())
    )
    facts = {
        "Seed": str(record["seed"]),
        "Run time": f"{record['seconds']:.1f} s",
        "Versions": versions,
    }
    listed = "".join(
        f"<div><dt>{name}</dt><dd>{html.escape(value)}</dd></div>" for name, value in facts.items()
    )
    ledger = pathto("book/ledger")
    claims = ", ".join(
        f'<a href="{ledger}#{claim["id"]}-verdict">{claim["id"]}</a>' for claim in record["claims"]
    )
    return (
        f'<footer class="lowdim-footer" aria-label="How this page was made"><dl>{listed}</dl>'
        f'<p><a href="{notebook}" download>Download notebook (.ipynb)</a> · '
        f'<a href="{ledger}">Ledger</a>: {claims}</p></footer>'
    )


def _write_style(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "verdicts.css"
        target.write_text(style(), encoding="utf-8")


def _write_notebooks(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    import nbformat

    root = Path(app.srcdir)
    chapters = [d.removeprefix(PREFIX) for d in sorted(app.env.found_docs) if d.startswith(PREFIX)]
    chapters = [name for name in chapters if chapter_path(root, name).is_file()]
    library = content.Library.of(root) if chapters else None
    for name in chapters:
        run = store.find(root, name, content.key(root, name, library=library))
        target = Path(app.outdir) / notebook_url(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        made = downloadable(chapter_path(root, name), run=run.notebook() if run else None)
        nbformat.write(made, target)
