"""Style sheets put together: imports, addresses, and rules that nothing can meet."""

from __future__ import annotations

from pathlib import Path

import pytest
from lowdim.publish.site import sheets


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".a{x:1}.b{x:2}", ".a{x:1}"),
        (".a, .b , p.a > i{x:1}", ".a,p.a > i{x:1}"),
        ("#a .b{x:1}", ""),
        (".a:not(.b):is(.c, .d){x:1}", ".a:not(.b):is(.c, .d){x:1}"),
        ('p[class*=".b"]{x:1}', 'p[class*=".b"]{x:1}'),
        ("@media print{.b{x:1}}", ""),
        ("@media print{.b{x:1}@supports (x:1){.a{x:1}}}", "@media print{@supports (x:1){.a{x:1}}}"),
        ("@font-face{src:url(x)}@keyframes b{from{x:1}}", None),
        ('.a{content:"}.b{"}.b{x:1}', '.a{content:"}.b{"}'),
        ('.a{x:url("data:,a)b{")}.b{x:1}', '.a{x:url("data:,a)b{")}'),
        ("/* no, .b { */.a{x:1}", ".a{x:1}"),
        ("/*! By me, .b */.b,.a{x:1}", "/*! By me, .b */.a{x:1}"),
        (".md\\:b{x:1}", ".md\\:b{x:1}"),
        ('@charset "u";.a{x:1}', None),
    ],
)
def test_what_can_be_met_is_kept(css: str, kept: str | None) -> None:
    assert sheets.pruned(css, {"a"}) == (css if kept is None else kept)


def test_a_sheet_takes_its_imports_and_addresses_along(tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    (tmp_path / "basic.css").write_text("i{x:url(file.png)}")
    (tmp_path / "styles" / "theme.css").write_text(
        '@charset "UTF-8";@import "../basic.css";b{x:url("../f/a.woff");y:url(data:,z)}'
        '.fa-a:before,.fa-b:before{content:"\\f1"}@font-face{font-family:Font Awesome;src:url(q)}'
        "/*# sourceMappingURL=theme.css.map*/"
    )
    assert sheets.read(tmp_path, "styles/theme.css") == (
        'i{x:url("file.png")}b{x:url("f/a.woff");y:url(data:,z)}'
    )
