"""A chapter's figure on another page: the same picture, another caption, a way back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docutils import nodes
from lowdim.publish.site import picture

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><path d="M0 0"/></svg>'
CHAPTER = """\
# How *far* it moves

```{figure} drawing.svg
:name: fig-far
:alt: A dot that moves.

The chapter's own caption.
```
"""
STORY = """\
# A story

```{{picture}} {name}
What the dot does, *in short*.
```
"""
EXTENSION = """\
from lowdim.publish.site import elements, picture
def setup(app):
    elements.setup(app)
    picture.setup(app)
"""


@pytest.fixture
def pages(tmp_path: Path):
    """Builds two pages, of which one shows ``name``; returns that one's HTML and the warnings."""

    def build(name: str) -> tuple[str, str]:
        source = tmp_path / "source"
        (source / "chapters").mkdir(parents=True)
        (tmp_path / "picture_on_trial.py").write_text(EXTENSION)
        (source / "conf.py").write_text("extensions = ['myst_parser', 'picture_on_trial']\n")
        (source / "index.md").write_text(
            STORY.format(name=name) + "\n```{toctree}\nchapters/a\n```\n"
        )
        (source / "chapters" / "a.md").write_text(CHAPTER)
        (source / "chapters" / "drawing.svg").write_text(DRAWING)
        made = tmp_path / "html"
        # a process of its own: Sphinx warns when nodes are registered twice in one
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-b", "html", "--no-color", source, made],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return (made / "index.html").read_text(encoding="utf-8"), done.stderr

    return build


def test_the_picture_is_the_chapters_and_the_caption_the_pages(pages) -> None:
    html, warned = pages("fig-far")
    assert not warned
    [shown] = re.findall(r'<figure class="lowdim-picture">.*?</figure>', html, re.S)
    assert 'src="_images/drawing.svg"' in shown and 'alt="A dot that moves."' in shown
    assert "What the dot does, <em>in short</em>." in shown and "own caption" not in shown
    assert re.search(r'href="chapters/a.html#fig-far"[^>]*>How <em>far</em> it moves</a>', shown)
    assert 'id="fig-far"' not in html  # which is the chapter's


def test_a_picture_that_is_nowhere_is_a_warning_that_names_it(pages) -> None:
    html, warned = pages("fig-near")
    assert "there is no figure 'fig-near' in any chapter" in warned and "index.md" in warned
    assert "<img" not in html


def test_of_an_output_in_several_forms_the_picture_is_shown() -> None:
    forms = [
        nodes.container("", nodes.literal_block("", "Figure"), mime_type="text/plain"),
        nodes.container("", nodes.image(uri="a.svg"), mime_type="image/svg+xml"),
    ]
    bundle = nodes.container("", *forms, nb_element=picture.BUNDLE)
    figure = nodes.figure("", nodes.container("", bundle), nodes.caption("", "A line."))
    [shown] = picture.contents(figure)
    assert [node["uri"] for node in shown.findall(nodes.image)] == ["a.svg"]
    assert not list(shown.findall(nodes.literal_block))
    assert len(list(figure.findall(nodes.literal_block))) == 1  # the chapter keeps its own
