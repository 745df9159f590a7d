"""Mini-batches: every sample once in an epoch, and a trial's order is its own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets.batches import Drawn, Shuffled


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 9), st.booleans(), st.integers(0, 50))
def test_an_epoch_goes_once_through_all_samples(size, more, shared, seed) -> None:
    samples = size + more
    batches = Shuffled(size, seed=seed, shared=shared)
    pick, steps = batches.columns(0, 3, samples), batches.epoch(samples)
    assert (steps - 1) * size < samples <= steps * size
    for epoch in (0, 1, 5):
        seen = [pick(epoch * steps + k) for k in range(steps)]
        assert [part.shape[1] for part in seen[:-1]] == [size] * (steps - 1)
        whole = torch.cat(seen, 1)
        assert torch.equal(whole.sort(1).values, torch.arange(samples).expand(3, -1))
        assert not shared or bool((whole == whole[0]).all())


def test_orders_differ_between_trials_epochs_and_seeds_and_nothing_else() -> None:
    def order(batches: Shuffled, trial: int, epoch: int) -> tuple[int, ...]:
        return tuple(batches.columns(trial, trial + 1, 40)(epoch)[0].tolist())

    kinds = [Shuffled(40), Shuffled(40, seed=1)]
    seen = {order(b, trial, epoch) for b in kinds for trial in (0, 1) for epoch in (0, 1)}
    assert len(seen) == 8
    later = Shuffled(40, first_trial=3)
    assert order(later, 1, 2) == order(Shuffled(40), 4, 2)
    many = Shuffled(7).columns(2, 6, 40)(9)
    torch.testing.assert_close(many[1:3], Shuffled(7).columns(3, 5, 40)(9))
    one = Shuffled(40, shared=True)
    assert order(one, 0, 1) == order(one, 7, 1) != order(one, 0, 0)
    assert order(one, 0, 1) == order(Shuffled(40, shared=True, first_trial=5), 2, 1)


def test_samples_that_a_function_names_are_for_all_or_for_each() -> None:
    for_all = Drawn(lambda step: torch.tensor([step, 2])).columns(1, 4, 9)
    assert for_all(5).tolist() == [[5, 2]] * 3
    each = Drawn(lambda step: torch.arange(10).reshape(5, 2) + step).columns(1, 3, 99)
    assert each(10).tolist() == [[12, 13], [14, 15]]
    assert Drawn(lambda step: torch.zeros(1)).epoch(7) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 0}, "size of a mini-batch must be a whole number, 1 or more; you gave 0"),
        ({"size": 2, "first_trial": -1}, "first_trial must be a whole number, 0 or more"),
        ({"size": 2, "seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_refusals(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Shuffled(**options)
    assert Shuffled(5).epoch(5) == Shuffled(1).epoch(1) == 1
    with pytest.raises(ValueError, match="from 1 to the 4 samples there are; you gave 5"):
        Shuffled(5).epoch(4)
