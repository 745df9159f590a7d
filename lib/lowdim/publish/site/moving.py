"""``{moving} name``: a figure that answers to sliders and to a point that can be dragged.

Its first frame is drawn here and stands in the page, so that it prints, and can be read without
scripts. What it shows is in :mod:`lowdim.publish.site.moving_figures`, its words in
``book/moving.yml``.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lowdim.evidence.vocabulary import badge
from lowdim.publish.site import book
from lowdim.publish.site.moving_figures import FIGURES
from lowdim.publish.site.moving_frames import Figure, Frame

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WORDS = Path("book", "moving.yml")
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("moving", MovingDirective)


def words(root: Path) -> dict[str, dict[str, Any]]:
    """The words of every figure, by its name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, WORDS)
    ...     path.parent.mkdir()
    ...     _ = path.write_text("gap: {title: How far}")
    ...     words(Path(folder))["gap"]["title"]
    'How far'
    """
    import yaml

    return yaml.safe_load((root / WORDS).read_text(encoding="utf-8"))


class MovingDirective(SphinxDirective):
    """A moving figure, by its name; with ``:once:`` it plays when it is first seen."""

    required_arguments = 1
    option_spec: ClassVar = {"once": options.flag}

    def run(self) -> list[nodes.Node]:
        """The figure: its picture and panel as HTML, its caption as text of the book."""
        name, root = self.arguments[0], Path(self.env.srcdir)
        if name not in FIGURES:
            known = ", ".join(FIGURES)
            logger.warning(
                "there is no moving figure '%s'; there are %s", name, known,
                location=self.get_location(),
            )  # fmt: skip
            return []
        self.env.note_dependency(str(root / WORDS))
        said = words(root)[name]
        whole = book.of(self.env.app)
        claim, chapter = whole.claims.get(said["claim"]), whole.chapters.get(said["chapter"])
        mark = self.mark(claim) if claim else ""
        figure = FIGURES[name]
        frame = figure.frame(figure.start)
        seed = chapter.record["seed"] if chapter else 0
        caption = nodes.Element()
        source = f"{said['caption'].strip()}\n\n{origin(said['chapter'], claim, seed)}"
        lines = StringList(source.splitlines(), source=str(WORDS))
        self.state.nested_parse(lines, self.content_offset, caption)
        box = nodes.container(classes=["moving-caption"])
        box += caption.children
        before, after = shell(name, figure, frame, said, mark, once="once" in self.options)
        return [
            nodes.raw("", before, format="html"),
            box,
            nodes.raw("", after, format="html"),
        ]

    def mark(self, claim: book.Claim) -> str:
        """The verdict on what the figure shows, and a link to where that is stated."""
        to = self.env.app.builder.get_relative_uri(self.env.docname, claim.docname)
        return (
            f'<a class="moving-claim" href="{html.escape(to)}#{claim.anchor}"'
            f' aria-label="{html.escape(claim.name)}: {claim.verdict}">'
            f"{badge(claim.verdict, claim.tags)}</a>"
        )


def origin(chapter: str, claim: book.Claim | None, seed: int = 0) -> str:
    """Where a figure comes from, as MyST: its chapter, and what the run in the book found.

    Examples
    --------
    >>> origin("embedded/theorem_2_4", None)
    'A closed form, from {doc}`/notebooks/embedded/theorem_2_4`.'
    """
    said = f"A closed form, from {{doc}}`/notebooks/{chapter}`."
    if claim is None or not claim.trials:
        return said
    found = {0: "no violation", 1: "1 violation"}.get(
        claim.violations, f"{claim.violations:,} violations"
    )
    return (
        f"{said} The run that this book shows, with seed {seed}, put the claim to"
        f" {claim.trials:,} trials and met {found}."
    )


def shell(
    name: str,
    figure: Figure,
    frame: Frame,
    said: Mapping[str, Any],
    mark: str = "",
    *,
    once: bool = False,
) -> tuple[str, str]:
    """The HTML before and after the caption.

    Examples
    --------
    >>> name, figure = next(iter(FIGURES.items()))
    >>> frame = figure.frame(figure.start)
    >>> said = {"title": "How far?", "alt": "A plane.", "handle": "start", "play": "Go"}
    >>> before, after = shell(name, figure, frame, {**said, "controls": {}, "values": {}})
    >>> 'aria-label="A plane."' in before
    True
    """
    width, height = figure.size
    title = f'<p class="moving-title">{said["title"]} {mark}</p>'
    picture = (
        f'<svg class="moving-svg" viewBox="0 0 {width} {height}" role="group"'
        f' aria-label="{html.escape(said["alt"])}">{_with_handle(figure, frame, said)}</svg>'
    )
    controls = "".join(
        _slider(name, key, figure, frame, label) for key, label in said["controls"].items()
    )
    plays = [key for key, setting in figure.settings.items() if setting.play]
    if plays:
        controls += (
            f'<button type="button" class="moving-play" data-plays="{plays[0]}"'
            f' aria-pressed="false">{said["play"]}</button>'
        )
    values = "".join(
        f'<div class="moving-{key}"><dt>{label}</dt>'
        f'<dd data-value="{key}">{frame.values[key]}</dd></div>'
        for key, label in said["values"].items()
    )
    before = (
        f'<div class="lowdim-moving" id="moving-{name}" data-moving="{name}"'
        f'{" data-once" if once else ""} role="group"'
        f' aria-label="{html.escape(said["title"])}">{title}<div class="moving-body">'
        f'<div class="moving-picture">{picture}</div><div class="moving-panel">'
        f'<div class="moving-controls">{controls}</div>'
        f'<dl class="moving-values simple">{values}</dl></div></div>'
    )
    after = (
        '<div class="moving-command highlight-bash notranslate"><div class="highlight"><pre>'
        f'<span class="moving-run">{html.escape(frame.command)}</span>\n'
        f'python -c "<span class="moving-call">{html.escape(frame.call)}</span>"'
        "</pre></div></div>"
        f'<script type="application/json">{_data(name, figure)}</script></div>'
    )
    return before, after


def _slider(figure_name: str, key: str, figure: Figure, frame: Frame, label: str) -> str:
    setting, field = figure.settings[key], f"moving-{figure_name}-{key}"
    return (
        f'<div class="moving-slider"><label for="{field}">{label}</label>'
        f'<output for="{field}" data-value="{key}">{frame.values[key]}</output>'
        f'<input type="range" id="{field}" name="{key}" min="{setting.low:g}"'
        f' max="{setting.high:g}" step="{setting.step:g}" value="{setting.start:g}"'
        f' aria-valuetext="{frame.values[key]}" autocomplete="off"></div>'
    )


def _with_handle(figure: Figure, frame: Frame, said: Mapping[str, Any]) -> str:
    """The picture, with the point that can be dragged made known to keyboards and readers."""
    drawn = figure.svg(frame)
    if figure.handle is None:
        return drawn
    part = figure.handle.part
    known = (
        f'tabindex="0" role="slider" aria-label="{html.escape(said["handle"])}"'
        f' aria-valuenow="{figure.start[figure.handle.settings[0]]:.2f}"'
        f' aria-valuetext="{frame.values[part]}"'
    )
    return drawn.replace(f'data-part="{part}"', f'data-part="{part}" {known}')


def _data(name: str, figure: Figure) -> str:
    given = {
        "name": name,
        "state": figure.start,
        "planes": {key: plane.data() for key, plane in figure.planes.items()},
        "fixed": dict(figure.fixed),
        "handle": asdict(figure.handle) if figure.handle else None,
        "ranges": {
            key: {"low": s.low, "high": s.high, "step": s.step}
            for key, s in figure.settings.items()
        },
    }
    return json.dumps(given, separators=(",", ":")).replace("</", "<\\/")
