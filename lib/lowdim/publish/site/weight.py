"""Light pages: what a built page asks for, put together when all pages are written.

The sources keep one style sheet and one script for each thing; a page that loads fifty files is
slow all the same. So the style sheets of a page become one, and its scripts another. The theme's
script of all icons gives way to the few that the pages show, drawn in the page. MathJax is put
together without its menu, which is a third of it, and sets what a reader sees first. Figures are
loaded when they come near the screen.
"""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish.site import sheets as style_sheets

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

STYLE, SCRIPT = "lowdim.css", "lowdim.js"  # what all style sheets, and all scripts, become
FIRST, UNPACKED = "formulas.js", "unpacked.js"  # the first holds the second, packed
PACKED = "PACKED"  # where, in its source
MATHJAX = "mathjax"
PARTS = (  # the first defines what the others register with
    "startup", "core", "input/tex", "output/chtml", "output/chtml/fonts/tex.js",
    "a11y/assistive-mml",
)  # fmt: skip
KEPT = ("input/tex/extensions", "output/chtml/fonts/woff-v2")  # loaded when a formula needs them
ICONS = "scripts/fontawesome.js"
OURS = re.compile(r"(?:js/|css/|lowdim\.|verdicts\.css)")
LONG = 20_000  # characters of a list of contents that fills sheets of paper
COMPONENTS = ("tooltip", "dropdown", "collaps", "show", "fade", "active", "disabled")  # in use
# Loaded by Jupyter Book on every page for what some books use; the sign of its use.
SPARE = {"sphinx-design.min.css": r'class="(?:[^"]* )?sd-', "design-tabs.js": r"sd-tab-"}

_SHEET = re.compile(r'\s*<link [^>]*href="(?:[./]*/)?_static/([^"?#]+\.css)[^"]*"[^>]*>')
_SOURCE = re.compile(
    r'\s*<script [^>]*src="(?:[./]*/)?_static/((?!mathjax/)[^"?#]+\.js)[^"]*"[^>]*></script>'
)
_CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
_WORD = re.compile(r'<span class="pre">([^<]*)</span>')
_SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
# of these no style sheet asks there
_PLAIN = re.compile(
    r'<span class="(?:[npw]|sig-(?:paren|return(?:-\w+)?))">((?:[^<]|<(?!/?span))*)</span>'
)
_TWICE = re.compile(r'(href="[^"]*#([^"]+)") title="\2"')
_PAPER = re.compile(r'<div id="jb-print-toc">.*?</nav>\s*</div>', re.DOTALL)
_DATA = re.compile(r'<script type="application/json".*?</script>', re.DOTALL)
_FORMULA = re.compile(r'<[a-z]+ [^<>]*class="(?:[^"]* )?math[ "]')
_MATHJAX = re.compile(
    r"\s*<script>window\.MathJax = [^<]*</script>|\s*<script [^>]*_static/mathjax/[^>]*></script>"
)
_PRELOAD = re.compile(r'\s*<link rel="preload" as="script"[^>]*>')
_OPTION = re.compile(r"\s*<script>DOCUMENTATION_OPTIONS\.\w+ = [^<]*</script>")
_ICON = re.compile(r'<(i|span) class="((?:[^"]* )?fa-[^"]*)"([^>]*)></\1>')
_NAME = re.compile(r"\bfa-(?!solid\b|regular\b|brands\b|lg\b)([a-z0-9-]+)")
_IMAGE = re.compile(r"<img\b[^>]*>")


def setup(app: Sphinx) -> None:
    """Register with Sphinx, after all that writes to pages and to the folder of static files."""
    app.connect("config-inited", _name_formulas, priority=900)
    app.connect("build-finished", _lighten, priority=950)


def _name_formulas(app: Sphinx, config: Config) -> None:
    static = (Path(app.confdir, folder) for folder in config["html_static_path"])
    if any((folder / FIRST).is_file() for folder in static):
        config["mathjax_path"] = f"{MATHJAX}/{FIRST}"


def _lighten(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        lighten(Path(app.outdir))


def lighten(out: Path) -> None:
    """Put together what the pages of a built book load, and point the pages to it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "_static").mkdir()
    ...     page = Path(folder, "a.html")
    ...     _ = page.write_text("<p>Nothing is loaded.</p>")
    ...     lighten(Path(folder))
    ...     page.read_text()
    '<p>Nothing is loaded.</p>'
    """
    static = out / "_static"
    pages = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(out.rglob("*.html"))
        if static not in path.parents
    }
    spare = {
        name
        for name, sign in SPARE.items()
        if not any(re.search(sign, text) for text in pages.values())
    }
    drawn = icons(static / ICONS) if (static / ICONS).is_file() else {}
    left_out = spare | ({ICONS} if drawn else set())
    sheets = _there(static, (name for text in pages.values() for name in _SHEET.findall(text)))
    scripts = _there(static, (name for text in pages.values() for name in _SOURCE.findall(text)))
    scripts = sorted(scripts, key=lambda name: bool(OURS.match(name)))  # on what the theme has made
    script = "\n;\n".join(_script(static, name) for name in scripts if name not in left_out)
    known = _known(static, scripts).union(*map(style_sheets.names, pages.values()))
    style = "\n".join(_style(static, name, known) for name in sheets if name not in left_out)
    marks = {STYLE: _mark(style), SCRIPT: _mark(script)}
    plain = plain_tokens(style)
    for name in (*sheets, *scripts):
        (static / name).unlink()
        (static / f"{name}.map").unlink(missing_ok=True)
    for folder in ("css", "js", "vendor"):
        shutil.rmtree(static / folder, ignore_errors=True)
    (static / STYLE).write_text(style, encoding="utf-8")
    (static / SCRIPT).write_text(script, encoding="utf-8")
    for path, text in pages.items():
        depth = len(path.relative_to(out).parts) - 1
        made = pointed(slim(text, plain), root="../" * depth, marks=marks)
        made = _images(with_icons(made, drawn), path)
        if made != text:
            path.write_text(made, encoding="utf-8")
    if (static / FIRST).is_file() and (static / MATHJAX / "startup.js").is_file():
        _put_mathjax_together(static)


def _known(static: Path, scripts: Iterable[str]) -> set[str]:
    """What may be the name of a class in the scripts; of Bootstrap what the theme uses of it."""
    found: set[str] = set()
    for name in scripts:
        words = style_sheets.words((static / name).read_text(encoding="utf-8"))
        if name.endswith("bootstrap.js"):
            words = {word for word in words if any(part in word for part in COMPONENTS)}
        found |= words
    return found


def plain_tokens(style: str) -> str:
    """The marks of words in code that have the colour of the code around them, in every theme.

    Examples
    --------
    >>> plain_tokens(".highlight{color:#1;x:1} .highlight .k{color:#2}.highlight .n{color: #1}")
    'n'
    """
    rule = re.compile(r'(html\[data-theme="?\w+"?\] )?\.highlight(?: \.(\w+))?\s*\{([^}]*)\}')
    base: dict[str, str] = {}
    seen: dict[str, list[bool]] = {}
    for theme, token, body in rule.findall(style):
        pairs = (piece.partition(":") for piece in body.split(";") if ":" in piece)
        said = {name.strip(): value.strip() for name, _, value in pairs}
        if not token:
            base[theme] = said.get("color", base.get(theme, ""))
        else:
            seen.setdefault(token, []).append(said == {"color": base.get(theme)})
    return "|".join(sorted(token for token, same in seen.items() if all(same)))


def slim(text: str, plain: str) -> str:
    """A page without marks that nothing shows; ``plain`` are those of words in code.

    A link does not say where it leads a second time. MathJax is not loaded where no formula is, and
    a list of contents for paper that would fill sheets is left out.

    Examples
    --------
    >>> slim('<code><span class="pre">a</span></code><pre><span class="k">b</span></pre>', "k")
    '<code>a</code><pre>b</pre>'
    """
    if plain:
        tokens = re.compile(rf'<span class="(?:{plain})">([^<]*)</span>')
        text = _CODE.sub(lambda match: tokens.sub(r"\1", match[0]), text)
    text = _WORD.sub(r"\1", text)
    for _ in range(2):  # marks within marks
        text = _SIGNATURE.sub(lambda match: _PLAIN.sub(r"\1", match[0]), text)
    text = _TWICE.sub(r"\1", text)
    text = _PAPER.sub(lambda match: match[0] if len(match[0]) < LONG else "", text)
    return text if _FORMULA.search(_DATA.sub("", text)) else _MATHJAX.sub("", text)


def _style(static: Path, name: str, known: set[str]) -> str:
    text = style_sheets.read(static, name)
    return text if OURS.match(name) else style_sheets.pruned(text, known)


def _script(static: Path, name: str) -> str:
    text = (static / name).read_text(encoding="utf-8")
    text = re.sub(r"//# sourceMappingURL=\S+", "", text)
    # As in files of their own: where one fails, the others run, and the failure is told.
    return (
        f"try {{\n{text}\n}} catch (problem) {{ reportError(problem); }}"
        if OURS.match(name)
        else text
    )


def _there(static: Path, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if (static / name).is_file()]


def _mark(text: str) -> str:
    """So that a browser which kept an older one asks again."""
    return f"{zlib.crc32(text.encode()):08x}"


def pointed(text: str, *, root: str, marks: Mapping[str, str]) -> str:
    """A page that loads one style sheet and one script, where it loaded its first of each.

    Examples
    --------
    >>> page = '<link rel="stylesheet" href="_static/a.css" /><link href="_static/css/b.css" />'
    >>> pointed(page, root="", marks={"lowdim.css": "1", "lowdim.js": "2"})
    '<link rel="stylesheet" href="_static/lowdim.css?v=1" />'
    """
    style = f'<link rel="stylesheet" href="{root}_static/{STYLE}?v={marks[STYLE]}" />'
    script = f'<script defer src="{root}_static/{SCRIPT}?v={marks[SCRIPT]}"></script>'
    text = _OPTION.sub("", _PRELOAD.sub("", text))
    for pattern, once in ((_SHEET, style), (_SOURCE, script)):
        if found := pattern.search(text):
            space = found[0][: len(found[0]) - len(found[0].lstrip())]
            start = text[: found.start()] + space + once
            text = start + pattern.sub("", text[found.end() :])
    return text


def icons(script: Path) -> dict[str, tuple[int, int, str]]:
    """Width, height and outline of the solid icons in the theme's script, by their names.

    Font Awesome Free; icons under CC BY 4.0. The solid ones come last.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = Path(folder, "icons.js")
    ...     _ = script.write_text('a={sun:[512,448,[],"f185","M0 0"]}')
    ...     icons(script)
    {'sun': (512, 448, 'M0 0')}
    """
    text = script.read_text(encoding="utf-8")
    found = re.findall(
        r'[,{]"?([a-z0-9-]+)"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]', text
    )
    return {name: (int(wide), int(high), path) for name, wide, high, path in found}


NOTICE = "<!-- Icons: Font Awesome Free by @fontawesome, fontawesome.com, CC BY 4.0 -->"


def with_icons(text: str, drawn: Mapping[str, tuple[int, int, str]]) -> str:
    """A page whose icons are drawn in it, out of the sight of screen readers.

    Examples
    --------
    >>> with_icons('<i class="fa-solid fa-sun fa-lg" data-mode="x"></i>', {"sun": (4, 5, "M0 0")})
    '<svg class="svg-inline--fa fa-sun fa-lg" data-mode="x" aria-hidden="true" \
viewBox="0 0 4 5"><path fill="currentColor" d="M0 0"/></svg>'
    """

    def draw(match: re.Match[str]) -> str:
        _, classes, more = match.groups()
        name = next((n for n in _NAME.findall(classes) if n in drawn), None)
        if name is None:
            return match[0]
        wide, high, path = drawn[name]
        classes = " ".join(c for c in classes.split() if c not in ("fa-solid", "fas"))
        more = re.sub(r'\s+(title|aria-hidden|role)="[^"]*"', "", more)
        more = f" {' '.join(more.split())}" if more.strip() else ""
        return (
            f'<svg class="svg-inline--fa {classes}"{more} aria-hidden="true" '
            f'viewBox="0 0 {wide} {high}"><path fill="currentColor" d="{path}"/></svg>'
        )

    made = _ICON.sub(draw, text)
    return made.replace("<head>", f"<head>\n    {NOTICE}", 1) if made != text else text


def _images(text: str, page: Path) -> str:
    """Images of the article after the first are loaded when they come near; all know their size."""
    start = text.find('<article class="bd-article')
    count = 0

    def change(match: re.Match[str]) -> str:
        nonlocal count
        tag, more = match[0], ""
        source = re.search(r'\ssrc="([^"]+)"', tag)
        if match.start() < start or source is None or source[1].startswith("data:"):
            return tag
        count += 1
        if count > 1 and "loading=" not in tag:
            more = ' loading="lazy"'
        if not re.search(r"\s(?:width|height|style)=", tag) and "#" not in source[1]:
            more += _size(page.parent / source[1])
        return re.sub(r"\s*/?>$", f"{more} />", tag)

    return _IMAGE.sub(change, text) if start >= 0 else text


def _size(path: Path) -> str:
    """The size of a drawing in pixels as attributes, so that its place is kept for it."""
    if path.suffix != ".svg" or not path.is_file():
        return ""
    with path.open(encoding="utf-8") as file:
        head = file.read(2000)
    tag = re.search(r"<svg\b[^>]*>", head)
    if tag is None:
        return ""
    said: dict[str, Any] = dict(re.findall(r'\s(width|height)="([\d.]+)pt"', tag[0]))
    if len(said) < 2:
        return ""
    return "".join(f' {side}="{float(said[side]) * 4 / 3:.0f}"' for side in ("width", "height"))


def _put_mathjax_together(static: Path) -> None:
    """Write one script that holds ours and, packed, MathJax; beside it what formulas may ask for.

    The browser unpacks it. One that cannot loads it unpacked.
    """
    folder, first = static / MATHJAX, static / FIRST
    # All run before MathJax starts: that waits for the end of the script which it stands in.
    whole = "\n;\n".join(
        (folder / f"{part.removesuffix('.js')}.js").read_text(encoding="utf-8") for part in PARTS
    )
    names = ", ".join(f'"{part}"' for part in PARTS)
    whole += f"\n;\nMathJax.loader.preLoad({names});\n"
    packed = base64.b64encode(gzip.compress(whole.encode(), compresslevel=9, mtime=0)).decode()
    with_them = {folder / name for name in KEPT}
    for path in sorted(folder.rglob("*"), reverse=True):
        if with_them.isdisjoint((path, *path.parents)):
            if path.is_file():
                path.unlink()
            elif not any(path.iterdir()):
                path.rmdir()
    ours = first.read_text(encoding="utf-8")
    first.unlink()
    (folder / UNPACKED).write_text(whole, encoding="utf-8")
    (folder / FIRST).write_text(ours.replace(PACKED, packed), encoding="utf-8")
