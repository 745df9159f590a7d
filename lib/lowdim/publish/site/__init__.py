"""What makes the rendered book more than its text: one module for each thing that a reader meets.

A module with a function ``setup(app)`` is registered with Sphinx by being here; its style sheet and
its script, ``book/_static/css/<name>.css`` and ``book/_static/js/<name>.js``, are put on every page
by being there. What several of them need to know of the whole book is in
:mod:`lowdim.publish.site.book`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Register every module of this folder, and every style sheet and script beside them."""
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        module = import_module(f"{__name__}.{found.name}")
        if hasattr(module, "setup"):
            module.setup(app)
    # The page of a single run is built elsewhere, with the book's static files where they are.
    for static in (Path(app.confdir, name) for name in app.config.html_static_path):
        for sheet in sorted(static.glob("css/*.css")):
            app.add_css_file(f"css/{sheet.name}")
        for script in sorted(static.glob("js/*.js")):
            app.add_js_file(f"js/{script.name}", loading_method="defer")
