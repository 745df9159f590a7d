"""The list of references: who reads it can go on to the work itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = 4  # entries for which no lasting address is known to us


def entries() -> dict[str, list[str]]:
    """For each key of the bibliography the addresses that its entry gives."""
    made = {"doi": "https://doi.org/{}", "eprint": "https://arxiv.org/abs/{}", "url": "{}"}
    found = {}
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for entry in re.split(r"^(?=@)", text, flags=re.MULTILINE)[1:]:
        key = re.match(r"@\w+\{([^,]+),", entry)
        fields = re.findall(r"^\s*(doi|eprint|url)\s*=\s*\{([^}]+)\}", entry, re.MULTILINE)
        assert key is not None
        found[key[1]] = [made[name].format(value) for name, value in fields]
    return found


def test_every_reference_leads_to_its_work(html: Path) -> None:
    page = (html / "book" / "references.html").read_text(encoding="utf-8")
    known = entries()
    for key, addresses in known.items():
        item = re.search(rf'id="id[\w-]*"[^>]*>.*?</div>|{key}', page, re.DOTALL)
        assert item, key
        for address in addresses:
            assert f'href="{address}"' in page, key
    assert sum(not addresses for addresses in known.values()) <= WITHOUT
