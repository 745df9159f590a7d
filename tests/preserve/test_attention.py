"""Attention as a product of matrices, and that the check can fail."""

from __future__ import annotations

import pytest
from lowdim.nets.architectures import Transformer
from lowdim.preserve import attention


def test_all_identities_hold_to_rounding():
    found = attention.residuals(20, seed=1)
    assert set(found) == {(way, queries) for way in attention.WAYS for queries in ("any", "zero")}
    assert max(float(v.max()) for v in found.values()) < 1e-12
    assert {len(v) for v in found.values()} == {20}


def test_a_different_attention_is_told_apart(monkeypatch: pytest.MonkeyPatch):
    honest = Transformer.attend
    monkeypatch.setattr(Transformer, "attend", lambda self, w, H: honest(self, w, H) + 0.1 * H)
    found = attention.residuals(5, seed=1)
    assert min(float(v.min()) for v in found.values()) > 1e-3
