"""A recorder takes part in a training run without changing it, and keeps its share."""

from __future__ import annotations

import sys
import types

import pytest
import torch
from lowdim.instruments.recording import Recorder
from lowdim.instruments.refusal import Unmeasurable
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


def task() -> tuple[nn.Module, Tensor, Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2)
    )
    y = torch.arange(60) % 2
    return model, torch.randn(60, 4) + y[:, None], y


def trained(*, record: bool) -> tuple[dict[str, Tensor], Recorder | None]:
    model, x, y = task()
    recorder = Recorder(model, (x, y), steps=[0, 2, 5]) if record else None
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if recorder is not None:
            recorder.step()
    return model.state_dict(), recorder


def test_training_is_bit_for_bit_what_it_is_without() -> None:
    plain, _ = trained(record=False)
    watched, recorder = trained(record=True)
    assert all(torch.equal(plain[k], watched[k]) for k in plain)
    assert recorder is not None and [r.step for r in recorder.records] == [0, 2, 5]
    first, last = (r.found.layers[-1].number("hashing", "rho_mean") for r in recorder.records[::2])
    assert last.value > first.value  # classes part


def test_the_default_schedule_keeps_its_share_on_any_clock() -> None:
    model, x, y = task()
    now = [0.0]

    def clock() -> float:
        return now[0]

    recorder = Recorder(model, (x, y), share=0.04, clock=clock, instruments=("hashing",))
    recorder.records[0] = type(recorder.records[0])(0, 0.5, recorder.records[0].found)
    recorder.spent = 0.5
    recorded = []
    for step in range(1, 401):
        now[0] += 0.1
        before = len(recorder.records)
        recorder.step()
        if len(recorder.records) > before:  # as if it had taken half a second
            recorder.records[-1] = type(recorder.records[-1])(step, 0.5, recorder.records[-1].found)
            recorder.spent += 0.5
            now[0] += 0.5
            recorded.append(step)
    assert recorded and recorded[0] >= 200  # one second in four per cent is 25 seconds
    assert recorder.share <= 0.05
    assert "of the time" in str(recorder)


def test_a_loader_is_read_once_and_only_its_first_points_are_held() -> None:
    model, x, y = task()
    loader = DataLoader(TensorDataset(x, y), batch_size=16)
    recorder = Recorder(model, loader, points=20, steps=[0], instruments=("hashing",))
    assert recorder.records[0].found.splits["train"]["points"] == 20


def test_adapters_call_step(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = task()
    recorder = Recorder(model, (x, y), steps=[])
    for module, name in (("lightning.pytorch", "Callback"), ("transformers", "TrainerCallback")):
        made = types.ModuleType(module)
        setattr(made, name, type(name, (), {"on_other": lambda self: "untouched"}))
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setitem(sys.modules, "lightning", types.ModuleType("lightning"))
    lightning, hugging = recorder.lightning(), recorder.hugging_face()
    lightning.on_train_batch_end(None, model, None, None, 0)
    hugging.on_step_end(None, None, None, model=model)
    assert recorder.done == 2 and lightning.on_other() == hugging.on_other() == "untouched"


def test_refusals() -> None:
    model, x, y = task()
    with pytest.raises(Unmeasurable, match="share must be above 0 and at most 1; you gave 2"):
        Recorder(model, (x, y), share=2)
    recorder = Recorder(model, (x, y), steps=[])
    with pytest.raises(Unmeasurable, match="is not installed"):
        recorder.hugging_face()
