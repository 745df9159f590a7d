"""A chapter's figure on another page: the same picture, another caption, a way back."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from sphinx.application import Sphinx

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
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Builds two pages, of which one shows ``name``; returns that one's HTML and the warnings."""
    monkeypatch.syspath_prepend(tmp_path)

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
        warned = StringIO()
        made = tmp_path / "html"
        Sphinx(
            source, source, made, tmp_path / "trees", "html", status=None, warning=warned
        ).build()
        return (made / "index.html").read_text(encoding="utf-8"), warned.getvalue()

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
