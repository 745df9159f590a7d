"""Convolutions as matrices: one kernel by hand, shifts, and the proof's own identities."""

from __future__ import annotations

import numpy as np
import torch
from lowdim.linalg import subspaces
from lowdim.nets.architectures import Convolutional
from lowdim.preserve import convolutions


def test_the_kernel_1_2_3_on_three_numbers_by_hand():
    net = Convolutional((1, 3), (1,), (1, 3), 1)
    T = net.matrix(torch.tensor([[[1.0, 2.0, 3.0]]]), 0)[0]
    assert T.tolist() == [[2, 3, 0], [1, 2, 3], [0, 1, 2]]


def test_pictures_are_banded_and_constant_along_diagonals():
    signal = convolutions.pictures(seed=3)["signal"]
    for shift in range(-23, 24):
        diagonal = signal.diagonal(shift)
        assert bool((diagonal == diagonal[0]).all())
        assert bool((diagonal != 0).all()) == (abs(shift) <= 2)


def test_all_random_convolutions_of_whole_numbers_agree():
    found = convolutions.equal(10, np.random.default_rng(5))
    assert (found.count, found.of) == (20, 20)


def test_a_convolution_of_clean_images_stays_in_their_row_space():
    case = convolutions.random(30, np.random.default_rng(0))
    found = convolutions.convolved({**case, "Z": 0 * case["Z"]})
    full = found.signal > 1e-6
    assert bool(full.any())
    assert float(found.size.max()) == 0.0
    assert float(found.tangent[full].max()) < 1e-6
    V = torch.linalg.qr(case["V"].mT).Q
    assert torch.allclose(case["clean"] @ V @ V.mT, case["clean"], atol=1e-10)


def test_size_and_signal_are_the_norms_of_the_statement():
    case = convolutions.random(6, np.random.default_rng(1))
    found = convolutions.convolved(case)
    T = convolutions.SMALL.matrix(case["K"], 0)
    Y = (T @ (case["clean"] + case["Z"])).clamp_min(0)
    assert torch.allclose(found.size, subspaces.spectral_norm(Y - T @ case["clean"]))
    second = torch.linalg.svdvals(T @ case["clean"])[:, 1]
    assert torch.allclose(found.signal, second * (second > 1e-9))


def test_a_kernel_of_zeros_has_no_signal():
    case = convolutions.random(1, np.random.default_rng(2))
    assert float(convolutions.convolved({**case, "K": 0 * case["K"]}).signal) == 0.0


def test_the_search_starts_and_stays_among_non_negative_layers():
    case = convolutions.build(convolutions.start(5, np.random.default_rng(3)))
    assert min(float(case[name].min()) for name in ("K", "clean", "V")) >= 0
    assert torch.linalg.matrix_rank(case["clean"]).tolist() == [2] * 5
