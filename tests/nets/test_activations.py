"""Activations: values and slopes against torch and autograd, in new memory and in place."""

from __future__ import annotations

import pytest
import torch
from lowdim.nets._activations import ACTIVATIONS, Activation, activation, leaky_relu

Z = torch.linspace(-3, 3, 60, dtype=torch.float64).reshape(1, 6, 10)  # without zero
EVERY = [*ACTIVATIONS.values(), leaky_relu(0.3), leaky_relu(0), activation(torch.sin)]


@pytest.mark.parametrize("act", EVERY, ids=lambda act: act.name)
def test_values_and_slopes_are_those_of_autograd(act: Activation) -> None:
    free = Z.clone().requires_grad_()
    wanted = act.function(free)
    torch.testing.assert_close(act(Z), wanted.detach())
    (slope,) = torch.autograd.grad(wanted.sum(), free)
    torch.testing.assert_close(act.slope(Z), slope)
    grad, above = Z.flip(2).clone(), Z.flip(2)
    act.chain(grad, Z, act(Z))
    torch.testing.assert_close(grad, above * slope)
    if not act.keeps_input:  # the slope is read off the value, and both may share memory
        both = Z.clone()
        act.value(both, both)
        torch.testing.assert_close(both, wanted.detach())
        grad = above.clone()
        act.chain(grad, torch.full_like(Z, torch.nan), both)
        torch.testing.assert_close(grad, above * slope)


def test_the_usual_ones_are_torch_s_modules() -> None:
    modules = {
        "identity": torch.nn.Identity(), "relu": torch.nn.ReLU(), "gelu": torch.nn.GELU(),
        "leaky_relu": torch.nn.LeakyReLU(), "silu": torch.nn.SiLU(), "tanh": torch.nn.Tanh(),
        "sigmoid": torch.nn.Sigmoid(),
    }  # fmt: skip
    assert modules.keys() == ACTIVATIONS.keys()
    for name, module in modules.items():
        torch.testing.assert_close(activation(name)(Z), module(Z))
        assert activation(name).name == name
    zero = torch.zeros(1, dtype=torch.float64)
    assert [activation(name).slope(zero).item() for name in ("relu", "tanh")] == [0.0, 1.0]


def test_slopes_of_leaky_relus_have_a_range_and_a_name() -> None:
    assert leaky_relu().name == "leaky_relu" and leaky_relu(0.5).name == "leaky_relu(0.5)"
    for slope in (-0.1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="slope must be a finite number, 0 or more; you gave"):
            leaky_relu(slope)


def test_what_is_no_activation_is_refused() -> None:
    assert activation(EVERY[0]) is EVERY[0]
    for which in ("relus", 3, None):
        with pytest.raises(ValueError, match=r"must be one of identity, relu, .*; you gave"):
            activation(which)
    with pytest.raises(ValueError, match=r"of its input's shape \(1, 6, 10\); it returned \(6, 10"):
        activation(lambda z: z[0])(Z)
    with pytest.raises(ValueError, match="it returned float"):
        activation(lambda z: 1.0)(Z)
    with pytest.raises(ValueError, match="no slope that autograd can take"):
        activation(lambda z: z.detach()).slope(Z)
