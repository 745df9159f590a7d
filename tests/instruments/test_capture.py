"""Every layer is seen once with the numbers that it really had, and what is not seen is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from lowdim.instruments import capture
from lowdim.instruments.refusal import Unmeasurable
from lowdim.instruments.untouched import untouched
from torch import Tensor, nn


def seen(model: nn.Module, x: Any) -> tuple[capture.Plan, dict[str, Tensor]]:
    """The plan, and each tap's matrix over all points of ``x`` in one pass."""
    found: dict[str, Tensor] = {}
    with untouched(model), torch.no_grad():
        model.eval()
        plan = capture.plan(model, x)
        sink = lambda i, H: found.__setitem__(plan.taps[i].name, H.clone())  # noqa: E731
        with capture.eager(), capture.watch(model, plan.taps, sink) as begin:
            begin(len(x[0] if isinstance(x, tuple) else x))
            capture.call(model, x)
    return plan, found


def named(plan: capture.Plan) -> dict[str, str]:
    return {u.name: u.reason for u in plan.unseen}


def test_every_architecture_is_seen_to_its_end(made: tuple[nn.Module, Tensor, Tensor]) -> None:
    model, x, _ = made
    plan, found = seen(model, x)
    with torch.no_grad():  # a padded encoder gives other numbers at padded places with gradients
        out = model.eval()(x)
    out = out["logits"] if isinstance(out, dict) else out
    last = found["c" if "c" in found else plan.taps[-1].name]
    torch.testing.assert_close(last, out.detach().flatten(1), rtol=1e-4, atol=1e-5)
    modules = {n for n, m in model.named_modules() if n and not list(m.children())}
    spoken = {t.module for t in plan.taps} | {u.name.partition("#")[0] for u in plan.unseen}
    assert modules <= spoken  # each is measured or named with a reason


def test_one_relu_used_twice_has_two_taps_with_their_own_numbers(
    networks: dict[str, Callable[[], nn.Module]],
) -> None:
    model, x = networks["residual"](), torch.randn(5, 1, 6, 6)
    plan, found = seen(model, x)
    assert [t.name for t in plan.taps if t.kind == "ReLU"] == ["relu#1", "relu#2"]
    model.eval()
    a = model.stem(x)
    first = F.relu(model.n1(model.one(a)))
    second = F.relu(a + model.n2(model.two(first)))
    for name, expected in (("relu#1", first), ("relu#2", second)):
        torch.testing.assert_close(found[name], expected.detach().flatten(1))


def test_what_functions_made_is_seen_where_it_enters_a_module(
    networks: dict[str, Callable[[], nn.Module]],
) -> None:
    model, x = networks["functional"](), torch.randn(5, 6)
    plan, found = seen(model, x)
    h = F.gelu(model.a(x))
    torch.testing.assert_close(found["before b"], h.detach())
    second = h + F.relu(model.b(h))
    torch.testing.assert_close(found["before act#2"], (second - 0.1).detach())
    torch.testing.assert_close(found["act#2"], F.relu(second - 0.1).detach())  # in place
    torch.testing.assert_close(found["output[hidden]"], 2 * F.relu(second - 0.1).detach())
    assert named(plan)["output[count]"].startswith("its values are torch.int64")
    assert any("gelu" in note for note in plan.notes)


def test_an_output_projection_that_never_fires_is_named(
    networks: dict[str, Callable[[], nn.Module]],
) -> None:
    model = networks["attention"]()
    plan, found = seen(model, torch.randn(5, 4, 8))
    assert "never calls it" in named(plan)["attend.out_proj"]
    assert found["attend"].shape == (5, 32)
    assert "attend[1]" in named(plan)  # the attention weights


def test_nested_tensors_of_a_padded_encoder_are_means_over_what_is_there(
    networks: dict[str, Callable[[], nn.Module]],
) -> None:
    model, x = networks["padded encoder"](), torch.rand(6, 4, 8)
    plan, found = seen(model, x)
    taps = {t.name: t for t in plan.taps}
    assert taps["encoder.layers.0.linear1"].nested
    assert "positions" in taps["encoder.layers.0.linear1"].note
    model.eval()
    mask = (x[..., 0] > 0.8).sort(dim=1).values
    mask[:, 0] = False
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        layer = model.encoder.layers[0]
        with torch.no_grad():
            inner = layer.norm1(x + layer.self_attn(x, x, x, key_padding_mask=mask)[0])
            wide = layer.linear1(inner)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    keep = (~mask)[..., None].float()
    expected = (wide * keep).sum(1) / keep.sum(1)
    torch.testing.assert_close(found["encoder.layers.0.linear1"], expected, rtol=1e-3, atol=1e-4)


def test_time_first_is_told_from_points_even_if_there_are_as_many(
    networks: dict[str, Callable[[], nn.Module]],
) -> None:
    model, x = networks["lstm"](), torch.randn(4, 4, 5)  # four points, four steps
    plan, found = seen(model, x)
    out = model.cell(x.transpose(0, 1))[0]
    torch.testing.assert_close(found["cell"], out.transpose(0, 1).detach().flatten(1))
    assert {"cell[1][0]", "cell[1][1]"} <= set(named(plan))


def test_rows_that_were_folded_into_the_points_are_unfolded(
    networks: dict[str, Callable[[], nn.Module]],
) -> None:
    model, x = networks["patches"](), torch.randn(6, 16)
    plan, found = seen(model, x)
    assert next(t for t in plan.taps if t.name == "patch").fold == 4
    expected = model.patch(x.reshape(6, 4, 4)).detach().flatten(1)
    torch.testing.assert_close(found["patch"], expected)


def test_a_compiled_model_is_seen_although_its_hooks_never_fire() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    compiled = torch.compile(model, backend="eager")
    x = torch.randn(5, 3)
    compiled(x)
    assert capture.plain_model(compiled) is model
    inner = nn.Sequential(nn.Linear(3, 3), compiled)
    inner(x)
    plan, found = seen(inner, x)
    assert len([t for t in plan.taps if t.kind == "Linear"]) == 3
    torch.testing.assert_close(found[plan.taps[-1].name], inner(x).detach())


def test_tied_weights_are_told(networks: dict[str, Callable[[], nn.Module]]) -> None:
    plan, _ = seen(networks["tied"](), torch.randint(0, 11, (5, 5)))
    assert "tied weights: embed.weight, head.weight" in plan.notes
    assert "whole numbers" in named(plan)["input"]


def test_half_precision_stays_half() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU()).bfloat16()
    with torch.backends.mkldnn.flags(enabled=False):  # its kernels crash on some processors
        _, found = seen(model, torch.randn(5, 3).bfloat16())
    assert found["0"].dtype == torch.bfloat16


def test_a_model_that_mixes_the_points_of_a_batch_is_told() -> None:
    class Centred(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.map = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.map(x - x.mean(0))

    plan, _ = seen(Centred(), torch.randn(5, 3))
    assert "other points of a batch" in next(t for t in plan.taps if t.name == "map").note


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (nn.Linear(3, 2, device="meta"), "meta device"),
        (nn.LazyLinear(2), "lazy parameters"),
        (object(), "torch.nn.Module; you gave object"),
    ],
)
def test_what_cannot_be_run_is_refused(model: Any, sentence: str) -> None:
    with pytest.raises(Unmeasurable, match=sentence):
        capture.plain_model(model)


def test_a_wrong_shape_and_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(Unmeasurable, match=r"raised RuntimeError on inputs of shape \[\(4, 5\)\]"):
        seen(nn.Linear(3, 2), torch.randn(5, 5))
    broken = nn.Linear(3, 2)
    nn.init.constant_(broken.weight, float("nan"))
    with pytest.raises(Unmeasurable, match="not finite"):
        seen(nn.Sequential(broken), torch.randn(5, 3))


def test_hooks_are_gone_after_a_pass_that_raised() -> None:
    class Bad(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.map = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            self.map(x)
            raise RuntimeError("no")

    model = Bad()
    with pytest.raises(Unmeasurable, match="raised RuntimeError"):
        seen(model, torch.randn(5, 3))
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


class Doubled(nn.Module):
    """What goes into a block is made between two layers, and no layer's output."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.block = nn.Sequential(nn.Linear(4, 5), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.block(2 * self.a(x))


def test_what_goes_into_a_block_is_named_after_its_first_layer() -> None:
    model, x = Doubled(), torch.randn(6, 3)
    plan, found = seen(model, x)
    before = [tap.name for tap in plan.taps if tap.name.startswith("before")]
    assert before == ["before block.0"]
    torch.testing.assert_close(found["before block.0"], 2 * model.a(x).detach())
