"""Layers with a bias: nothing cut, the projector of the data with ones, least losses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.linalg import subspaces
from lowdim.preserve import biases, conditions, foils
from lowdim.preserve.learning import RANK, Setting, top


def test_the_smallest_bias_cuts_nothing_and_none_smaller_does() -> None:
    A = torch.from_numpy(np.random.default_rng(0).standard_normal((3, 4, 9)))
    b = biases.lifted(A)
    assert bool((A + b >= 0).all())
    assert bool(((A + 0.999 * b).amin(-1) < 0).all())


def test_the_projector_of_data_with_ones_is_one_direction_more() -> None:
    D = Setting(80).draw(0.0, draws=2)
    P = subspaces.projector(top(D.clean))
    one = torch.ones(D.clean.shape[-1], 1, dtype=torch.float64)
    v = one - P @ one
    v = v / v.norm(dim=-2, keepdim=True)
    wide = subspaces.projector(subspaces.principal_rows(biases.ones_below(D.clean), RANK + 1))
    torch.testing.assert_close(wide, P + v @ v.mT, atol=1e-9, rtol=0)


def test_allowed_noise_meets_the_condition_and_instance_i_is_alone() -> None:
    case = biases.random(6, np.random.default_rng(1))
    q = biases.augmented(case)
    assert bool((q.layer.cut == 0).all())
    assert bool((q.error < q.needed).all() and (q.eta < q.layer.delta).all())
    one = biases.augmented({name: value[2:3] for name, value in case.items()})
    torch.testing.assert_close(one.layer.delta, q.layer.delta[2:3])
    torch.testing.assert_close(one.needed, q.needed[2:3])


@pytest.mark.parametrize("centred", [False, True])
def test_the_least_loss_is_that_of_principal_components(centred: bool) -> None:
    X = torch.from_numpy(np.random.default_rng(2).standard_normal((1, 5, 9))) + 1
    A = X[0] - X[0].mean(1, keepdim=True) if centred else X[0]
    U = torch.linalg.svd(A).U[:, :2]
    expected = (A - U @ U.T @ A).square().sum() / 9
    torch.testing.assert_close(biases.eckart_young(X, 2, centred=centred)[0], expected)


def test_a_trained_network_is_looked_at_with_its_biases() -> None:
    setting = Setting(80, 20)
    run = biases.trained(setting, "clusters", bias=True, draws=1, steps=20)
    W, b = run.run.weights[0]
    A = W @ run.X + b
    look = biases.look(run, setting)
    assert look.negative == pytest.approx(float((A < 0).double().mean()))
    assert look.loss > 1
    bare = biases.trained(setting, "clusters", bias=False, draws=1, steps=20)
    assert bare.run.weights[0][1] is None and biases.look(bare, setting).loss > 1


def test_shares_below_zero_are_those_of_the_network_that_is_trained() -> None:
    setting = Setting(80, 20)
    steps, shares = biases.negative_shares(setting, "clusters", bias=True, draws=2, steps=30)
    assert steps[0] == 0 and steps[-1] == 30 and shares.shape == (len(steps), 2)
    run = biases.trained(setting, "clusters", bias=True, draws=2, steps=30)
    assert biases.look(run, setting).negative == pytest.approx(float(shares[-1].mean()), abs=1e-3)


def test_conditions_with_biases_are_those_at_one_direction_more() -> None:
    setting = Setting(80, 20)
    delta, size = conditions.trained_at(setting, 0.1, draws=1, steps=2, bias=True)
    clean, noise = foils.data(setting, "clusters", draws=1)
    X, wide = clean + noise, biases.ones_below(clean)
    first = torch.linalg.svdvals(wide)[:, RANK]
    torch.testing.assert_close(
        delta[:, 0], first - torch.linalg.svdvals(biases.ones_below(X))[:, RANK + 1]
    )
    torch.testing.assert_close(size[:, 0], torch.linalg.matrix_norm(noise, 2))
