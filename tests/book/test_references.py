"""The list of references: who reads it can go on to the work itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.book

WITHOUT = 4  # entries for which no lasting address is known to us


def test_a_reference_leads_to_its_work(html: Path) -> None:
    page = (html / "book" / "references.html").read_text(encoding="utf-8")
    entries = [part.partition("</div>")[0] for part in page.split('<div class="citation"')[1:]]
    assert len(entries) > 40
    links = [re.findall(r'class="reference external" href="(https://[^"]+)"', e) for e in entries]
    assert sum(not found for found in links) <= WITHOUT
    lasting = re.compile(r"https://(doi\.org/10\.|arxiv\.org/abs/|papers\.nips\.cc/paper/)\S+$")
    assert [url for found in links for url in found if not lasting.match(url)] == []
