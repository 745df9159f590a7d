"""Certificates: short scripts that show a counterexample to whoever does not believe this book.

A certificate is ``book/certificates/<claim>.py``: at most :data:`LONGEST` lines, the standard
library alone, exact numbers or intervals. It ends well, with one line, or it is no certificate. The
directive ``{certificate} <claim>`` shows it folded on the page, with a link to the file.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from lowdim.evidence.vocabulary import claim_name
from lowdim.publish.directives import chapter_of, record_of
from lowdim.publish.site.elements import make

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path("book", "certificates")
LONGEST = 60


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("certificate", CertificateDirective)


def foreign(source: str) -> list[str]:
    """The modules that a script imports and that are not of the standard library.

    Examples
    --------
    >>> foreign("import math, torch\\nfrom fractions import Fraction")
    ['torch']
    """
    names: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0]: None for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names[(node.module or ".").partition(".")[0] or "."] = None
    return [name for name in names if name not in sys.stdlib_module_names]


def bar(claim: str, source: str) -> str:
    r"""What the bar over a folded certificate says.

    Examples
    --------
    >>> bar("hashing.lemma-38", "import math\nprint(math.pi)\n")
    'Certificate for Lemma 38: 2 lines, the standard library alone'
    """
    lines = len(source.splitlines())
    return f"Certificate for {claim_name(claim)}: {lines} lines, the standard library alone"


class CertificateDirective(SphinxDirective):
    """A claim's certificate, folded: ``{certificate} lemma-4-1``, without the part."""

    required_arguments = 1
    option_spec: ClassVar = {"class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        """The script under a bar that says what it is."""
        # The page of a single run has another address; its record knows where it belongs.
        here = chapter_of(self.env.docname)
        part = record_of(self.env, here).get("chapter", here).partition("/")[0]
        path = FOLDER / f"{part}.{self.arguments[0]}.py"
        where = Path(self.env.srcdir) / path
        if not where.is_file():
            raise self.error(f"There is no certificate {path.as_posix()}.")
        self.env.note_dependency(str(where))
        source = where.read_text(encoding="utf-8")
        told = bar(f"{part}.{self.arguments[0]}", source)
        code = nodes.literal_block(source, source, language="python")
        shown, _ = self.parse_inline(
            f"Run it with any Python: {{download}}`python {path.name} </{path.as_posix()}>`.",
            lineno=self.lineno,
        )
        link = nodes.paragraph("", "", *shown)
        return [make("details", make("summary", told), link, code, classes=["lowdim-certificate"])]
