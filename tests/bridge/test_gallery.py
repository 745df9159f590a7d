"""Five networks that can be measured and are left as they were."""

from __future__ import annotations

import pytest
import torch
from lowdim.bridge import gallery
from lowdim.instruments.measuring import measure
from lowdim.instruments.untouched import bits

DATA = gallery.pictures(points=60)


@pytest.mark.parametrize("name", gallery.ARCHITECTURES)
def test_measuring_moves_no_bit(name: str) -> None:
    model = gallery.make(name, width=2)
    model.train()
    before = bits(model)
    measure(model, DATA.train, sample=16, probes=2)
    assert bits(model) == before


@pytest.mark.parametrize("name", gallery.ARCHITECTURES)
def test_the_last_two_places_are_there(name: str) -> None:
    found = measure(gallery.make(name, width=4), DATA.train, instruments=["hashing"], sample=16)
    assert tuple(layer.name for layer in found.layers[-2:]) == gallery.ENDS[name]


def test_a_seed_makes_one_network_and_leaves_torch_alone() -> None:
    state = torch.get_rng_state()
    one, two = (gallery.fit(gallery.make("attention", width=2), DATA.train, epochs=1) for _ in "ab")
    assert torch.equal(torch.get_rng_state(), state)
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a, b)


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(ValueError, match="perceptron"):
        gallery.make("oracle")
