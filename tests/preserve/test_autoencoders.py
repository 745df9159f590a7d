"""Small autoencoders: derivatives against autograd, the theorems' own identities."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import curvature
from lowdim.preserve import autoencoders


def alone(case, i):
    return {key: value[i : i + 1] for key, value in case.items()}


def of(case, i):
    X = case["X"][i]
    return lambda W, V: ((V @ torch.relu(W @ X) - X) ** 2).sum()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_derivatives_are_those_of_autograd_one_by_one_and_in_a_batch(seed):
    case = autoencoders.random(3, np.random.default_rng(seed))
    gradient, H = autoencoders.derivatives(case)
    for i in range(3):
        point = [case["W"][i], case["V"][i]]
        scale = float(H[i].abs().max())
        dense = curvature.dense_hessian(of(case, i), point)
        assert torch.allclose(H[i], dense, atol=1e-9 * scale)
        assert torch.allclose(gradient[i], curvature.gradient(of(case, i), point))
        assert torch.allclose(autoencoders.loss(case)[i], of(case, i)(*point))
        one = autoencoders.derivatives(alone(case, i))
        assert torch.allclose(one[0][0], gradient[i])
        assert torch.allclose(one[1][0], H[i], atol=1e-9 * scale)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_scaling_a_unit_changes_nothing_so_the_hessian_turns_the_scaling_into_the_gradient(seed):
    case = autoencoders.random(4, np.random.default_rng(seed))
    gradient, H = autoencoders.derivatives(case)
    units = autoencoders.units(case, gradient)
    lengths = (H @ units.directions).norm(dim=1)  # ‖∇²f A_iθ‖ = ‖∇_i f‖
    assert torch.allclose(lengths * units.length, units.slope, rtol=1e-6)
    gram = units.directions.mT @ units.directions
    assert torch.allclose(gram, torch.eye(3, dtype=torch.float64).expand(4, 3, 3))
    assert torch.allclose(units.slope.square().sum(1), gradient.square().sum(1))
    factors = torch.tensor([2.0, 0.5, 3.0], dtype=torch.float64)
    other = {**case, "W": factors[:, None] * case["W"], "V": case["V"] / factors}
    assert torch.allclose(autoencoders.loss(other), autoencoders.loss(case))


def test_the_scalar_autoencoder_attains_rho():
    case = autoencoders.scalar(3.0, 3.0)
    gradient, H = autoencoders.derivatives(case)
    rho = autoencoders.units(case, gradient).rho.item()
    assert abs(rho - 16.0) < 1e-12
    assert abs(torch.linalg.eigvalsh(H)[0].abs().min().item() - rho) < 1e-9
    assert autoencoders.clearance(autoencoders.scalar(0.25, 1.0, 2.0)).item() == 0.5


def test_what_arrived_has_a_small_gradient_and_a_null_direction_for_each_unit():
    there = autoencoders.arrived(8, seed=1)
    assert 0 < len(there["W"]) <= 8
    gradient, H = autoencoders.derivatives(there)
    assert float(gradient.norm(dim=1).max()) <= 1e-7
    assert float(autoencoders.clearance(there).min()) > 1e-6
    spectra = torch.linalg.eigvalsh(H).abs().sort(1).values
    assert float((spectra[:, 1] / spectra[:, -1]).max()) < 1e-6
