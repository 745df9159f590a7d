"""What the pages of a built book load, put together: on a book of one page."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import pytest
from lowdim.publish.site import weight

PAGE = """<html><head>
  <link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />
    <link rel="stylesheet" type="text/css" href="../_static/css/one.css?v=1" />
    <link rel="stylesheet" type="text/css" href="../_static/sphinx-design.min.css?v=1" />
  <script defer src="../_static/scripts/fontawesome.js?digest=1"></script>
  <link rel="preload" as="script" href="../_static/scripts/theme.js?digest=1" />
    <script>let kept = 1;</script>
    <script src="../_static/options.js?v=1"></script>
    <script defer="defer" src="../_static/js/one.js?v=1"></script>
    <script defer="defer" src="../_static/mathjax/formulas.js"></script>
    <script>DOCUMENTATION_OPTIONS.pagename = 'book/a';</script>
  <link rel="icon" href="../_static/favicon.svg"/>
</head><body class="used"><img src="../_static/logo.svg" alt="">
<i class="fa-solid fa-sun fa-lg" data-mode="light" title="Light"></i><i class="fa-solid fa-no"></i>
<article class="bd-article"><i class="math">x</i>
<img alt="a" src="../_images/a.svg" /><img alt="b" src="../_images/a.svg" />
<img alt="c" src="../_images/a.svg#svgView(viewBox(0,0,1,1))" style="x"/></article>
<script defer src="../_static/scripts/theme.js?digest=1"></script></body></html>"""
ICONS = 'x={"sun":[9,9,[],"f1","M9"],moon:[1,1,[],"f2","M1"]},{"sun":[4,5,["s"],"f1","M0 0"]}'


@pytest.fixture
def built(tmp_path: Path) -> Path:
    files = {
        "book/a.html": PAGE,
        "_images/a.svg": '<?xml version="1.0"?><svg width="72pt" height="36.2pt">',
        "_static/styles/theme.css": ".used{x:1}.unused{x:2}",
        "_static/css/one.css": ".ours-and-unused{x:3}",
        "_static/sphinx-design.min.css": ".sd-row{x:4}",
        "_static/scripts/fontawesome.js": ICONS,
        "_static/scripts/theme.js": "theme();\n//# sourceMappingURL=theme.js.map",
        "_static/options.js": "const OPTIONS = 1;",
        "_static/js/one.js": "ours();",
        "_static/formulas.js": "first(); run('PACKED');",
        "_static/mathjax/input/tex/extensions/cancel.js": "cancel();",
        "_static/mathjax/ui/menu.js": "menu();",
        "_static/mathjax/tex-chtml.js": "all();",
        **{f"_static/mathjax/{p.removesuffix('.js')}.js": f"'{p}';" for p in weight.PARTS},
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    weight.lighten(tmp_path)
    return tmp_path


def test_a_page_loads_one_style_sheet_and_one_script(built: Path) -> None:
    page = (built / "book" / "a.html").read_text()
    assert page.count("stylesheet") == page.count("_static/lowdim.css?v=") == 1
    assert page.count("<script defer src=") == page.count("../_static/lowdim.js?v=") == 1
    assert "preload" not in page and "DOCUMENTATION" not in page
    assert "let kept" in page and "mathjax/formulas.js" in page and "favicon" in page


def test_they_have_all_that_is_used_in_order(built: Path) -> None:
    assert (built / "_static" / "lowdim.css").read_text() == ".used{x:1}\n.ours-and-unused{x:3}"
    script = (built / "_static" / "lowdim.js").read_text()
    order = ["const OPTIONS", "theme();", "try {", "ours();", "reportError"]
    assert [script.index(piece) for piece in order] == sorted(script.index(p) for p in order)
    assert "sourceMapping" not in script
    left = {p.name for p in (built / "_static").rglob("*") if p.is_file()}
    assert left == {"lowdim.css", "lowdim.js", "formulas.js", "unpacked.js", "cancel.js"}


def test_icons_are_drawn(built: Path) -> None:
    page = (built / "book" / "a.html").read_text()
    icon = '<svg class="svg-inline--fa fa-sun fa-lg" data-mode="light" aria-hidden="true" '
    assert f'{icon}viewBox="0 0 4 5"><path fill="currentColor" d="M0 0"/></svg>' in page
    assert page.count("Font Awesome") == 1
    assert '<i class="fa-solid fa-no"></i>' in page


def test_figures_after_the_first_wait_and_know_their_size(built: Path) -> None:
    page = (built / "book" / "a.html").read_text()
    assert '<img src="../_static/logo.svg" alt="">' in page
    assert '<img alt="a" src="../_images/a.svg" width="96" height="48" />' in page
    assert '<img alt="b" src="../_images/a.svg" loading="lazy" width="96" height="48" />' in page
    assert 'style="x" loading="lazy" />' in page


def test_mathjax_is_packed_into_ours(built: Path) -> None:
    folder = built / "_static" / "mathjax"
    packed = re.fullmatch(r"first\(\); run\('([\w+/=]+)'\);", (folder / "formulas.js").read_text())
    assert packed
    script = gzip.decompress(base64.b64decode(packed[1])).decode()
    assert script == (folder / "unpacked.js").read_text()
    order = [*(f"'{part}';" for part in weight.PARTS), "MathJax.loader.preLoad("]
    assert [script.index(piece) for piece in order] == sorted(script.index(p) for p in order)


SIGNATURE = '<dt class="sig py"><span class="n">x</span><span class="p">:</span></dt>'


@pytest.mark.parametrize(
    ("page", "made"),
    [
        (SIGNATURE, '<dt class="sig py">x:</dt>'),
        ('<p><span class="n">x</span></p>', None),
        ('<pre><span class="o">=</span></pre>', "<pre>=</pre>"),
        ('<pre><span class="n">x</span></pre>', None),
        ('<a href="b.html#c.d" title="c.d">', '<a href="b.html#c.d">'),
        ('<a href="b.html#c.d" title="d">', None),
        ('<script defer src="_static/mathjax/formulas.js"></script>', ""),
        ('<script src="_static/mathjax/a.js"></script><i class="math notranslate">', None),
        ('<div id="jb-print-toc"><nav>a</nav></div>', None),
        (f'<div id="jb-print-toc"><nav>{"a" * weight.LONG}</nav></div>', ""),
    ],
)
def test_what_nothing_shows_is_left_out(page: str, made: str | None) -> None:
    assert weight.slim(page, "o") == (page if made is None else made)
