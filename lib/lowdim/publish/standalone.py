"""An executed notebook as one page that opens from disk, without the book and without a network.

A small temporary book holds nothing but the notebook, already executed, and is rendered with the
real book's settings: theorems, proofs, glue, exercises, citations and equations look the same.
References to other chapters have nothing to point at there and stay plain text.
"""

from __future__ import annotations

import copy
import re
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from lowdim.publish import records
from lowdim.publish.banner import put_into
from lowdim.publish.execute import RECORDS
from lowdim.publish.maps import FOLDER as MAPS
from lowdim.publish.renderer import PageFailed, Renderer
from lowdim.publish.site.certificates import FOLDER as CERTIFICATES

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["PageFailed", "render"]

EXTENSIONS = ("sphinx_proof", "sphinx_exercise", "sphinx-mathjax-offline")
BIBLIOGRAPHY = "## References\n\n```{bibliography}\n:filter: docname in docnames\n```"

BACK = """<!doctype html>
<title>{name}</title>
<script>location.replace("../{name}.html" + location.search + location.hash)</script>
<a href="../{name}.html">{name}</a>
"""


def render(
    nb: NotebookNode,
    *,
    name: str,
    root: Path,
    folder: Path,
    renderer: Renderer | None = None,
    banner: str = "",
) -> Path:
    """Write `<name>.html` and `<name>_files/` into `folder`; return the page's path.

    `root` is the real book, whose settings, bibliography and static files are taken over. A
    `renderer` may have been started before; `banner`, MyST, stands below the title. Raises
    `PageFailed`, and then nothing is written.
    """
    with ExitStack() as during:
        book = Path(during.enter_context(tempfile.TemporaryDirectory(prefix="lowdim-page-")))
        _write_book(nb, name, root, book, banner)
        html = (renderer or during.enter_context(Renderer())).build(book)
        page = html / f"{name}.html"
        assets = folder / f"{name}_files"
        text = _point_to(page.read_text(encoding="utf-8"), html, assets.name)
        page.write_text(BACK.format(name=name), encoding="utf-8")  # what a search there finds
        for extra in ("index.html", "_sources", "objects.inv", ".buildinfo"):
            _remove(html / extra)
        _slim(html / "_static" / "mathjax", text)
        shutil.copytree(html, assets)
        target = folder / page.name
        target.write_text(text, encoding="utf-8")
    return target


def _write_book(nb: NotebookNode, name: str, root: Path, book: Path, banner: str) -> None:
    """The temporary book: one notebook as its root page, the real book's settings."""
    import nbformat

    shown = copy.deepcopy(nb)
    _fold_defaults(shown)
    if banner:
        put_into(shown, banner)
    prose = "\n".join(cell.source for cell in shown.cells if cell.cell_type == "markdown")
    bibliography = root / "book" / "references.bib"
    if bibliography.is_file():
        shutil.copyfile(bibliography, book / "references.bib")
        if "{cite" in prose and "```{bibliography}" not in prose:
            shown.cells.append(nbformat.v4.new_markdown_cell(BIBLIOGRAPHY))
    shown.metadata.pop("jupytext", None)
    nbformat.write(shown, book / f"{name}.ipynb")
    _take_along(shown, name, root, book)
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: {name}\n", encoding="utf-8")
    settings = _settings(root, bibliography.is_file())
    (book / "_config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")


def _fold_defaults(nb: NotebookNode) -> None:
    """Where other values were put in, the cell of the defaults is folded: it is not what ran."""
    tags = [cell.metadata.get("tags", []) for cell in nb.cells]
    if any("injected-parameters" in each for each in tags):
        for cell in nb.cells:
            if "parameters" in cell.metadata.get("tags", []):
                cell.metadata["tags"] = [*cell.metadata["tags"], "hide-input"]


def _take_along(nb: NotebookNode, name: str, root: Path, book: Path) -> None:
    """What the page's directives ask for: this run's record, kept ones, a map, certificates."""
    chapter = nb.metadata.get("lowdim", {}).get("chapter")
    if chapter is None:
        return
    preset = nb.metadata["lowdim"].get("preset")
    record = records.extract(nb, chapter=chapter, preset=preset)
    records.write(record, book / RECORDS / f"{name}.json")
    part, _, stem = chapter.partition("/")
    kept_runs = (root / "book" / "records" / part).glob(f"{stem}.*.json")
    maps = (root / MAPS).glob(f"{chapter}.json")
    for kept in (*kept_runs, *maps, *(root / CERTIFICATES).glob(f"{part}.*.py")):
        target = book / kept.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept, target)


def _settings(root: Path, bibliography: bool) -> dict[str, Any]:
    """The real book's `_config.yml` without what ties it to its own pages and to execution."""
    path = root / "_config.yml"
    settings = (yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None) or {}
    for key in ("repository", "launch_buttons", "latex", "logo", "exclude_patterns"):
        settings.pop(key, None)
    settings["execute"] = {"execute_notebooks": "off"}
    settings["only_build_toc_files"] = True
    settings["bibtex_bibfiles"] = ["references.bib"] if bibliography else []
    html = settings.setdefault("html", {})
    for key in ("use_repository_button", "use_issues_button", "use_edit_page_button", "favicon"):
        html.pop(key, None)
    sphinx = settings.setdefault("sphinx", {})
    extensions = sphinx.setdefault("extra_extensions", []) or []
    sphinx["extra_extensions"] = list(dict.fromkeys([*extensions, *EXTENSIONS]))
    config = sphinx["config"] = dict(sphinx.get("config") or {})
    config["nitpicky"] = False
    config["html_show_sourcelink"] = False
    config["html_static_path"] = [
        str((root / static).resolve())
        for static in config.get("html_static_path", ["book/_static", "_static"])
        if (root / static).is_dir()
    ]
    return settings


def _point_to(text: str, html: Path, assets: str) -> str:
    """Make every address of a file of the built folder point into the page's own folder."""

    def moved(match: re.Match[str]) -> str:
        before, address, after = match.groups()
        path = re.split(r"[?#]", address)[0]
        if path.startswith("_sources/"):  # the notebook itself lies beside the page
            return f"{before}{path.removeprefix('_sources/')}{after}"
        if path and ":" not in path and not path.startswith("/") and (html / path).is_file():
            return f"{before}{assets}/{address}{after}"
        return match[0]

    text = re.sub(r'(\s(?:href|src|action|content)=")([^"]+)(")', moved, text)
    return text.replace('data-content_root="./"', f'data-content_root="./{assets}/"')


def _slim(mathjax: Path, page: str) -> None:
    """Drop MathJax's other bundles and its SVG fonts, more than half of its 24 MB."""
    for bundle in mathjax.glob("*.js"):
        if bundle.name not in ("core.js", "loader.js", "startup.js") and bundle.name not in page:
            bundle.unlink()
    for svg in (mathjax / "output").glob("svg*"):
        _remove(svg)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
