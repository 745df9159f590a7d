"""Derivatives off the data, in forward mode and by steps."""

from __future__ import annotations

import os

import pytest
import torch
from lowdim.instruments import capture, offdata
from torch import nn

MAPS: list[nn.Module] = [
    nn.LogSigmoid(), nn.Softmax(1), nn.LogSoftmax(1), nn.LayerNorm(6), nn.BatchNorm1d(6),
    nn.GroupNorm(2, 6), nn.GELU(), nn.Softplus(), nn.GLU(1), nn.Mish(), nn.ELU(),
]  # fmt: skip


@pytest.mark.parametrize("model", MAPS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("wish", [None, "1", "0"])
def test_slopes_are_limits_of_steps_whatever_torch_compiles(
    model: nn.Module, wish: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wish is None:
        monkeypatch.delenv("PYTORCH_JIT", raising=False)
    else:
        monkeypatch.setenv("PYTORCH_JIT", wish)
    model = model.double().eval()
    x, along = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0)).double()
    taps = capture.plan(model, x).taps[1:]
    slope = offdata.derivatives(model, taps, x, along)[0]
    step = offdata.moves(model, taps, x, 1e-6 * along)[0] / 1e-6
    torch.testing.assert_close(slope, step, rtol=1e-4, atol=1e-4)
    assert os.environ.get("PYTORCH_JIT") == wish
