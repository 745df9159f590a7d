"""Data of all kinds give the same batches, and what is no data is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from lowdim.instruments.refusal import Unmeasurable
from lowdim.instruments.sources import source
from torch.utils.data import DataLoader, TensorDataset

X, Y = torch.arange(14.0).reshape(7, 2), torch.tensor([0, 1, 2, 0, 1, 2, 0])


@pytest.mark.parametrize(
    "data",
    [
        (X, Y),
        (X.numpy(), Y.numpy()),
        (X.numpy(), Y.tolist()),
        TensorDataset(X, Y),
        DataLoader(TensorDataset(X, Y), batch_size=3),
        [(X[:3], Y[:3]), (X[3:], Y[3:])],
        list(zip(X, Y, strict=True)),
        list(zip(X, Y.tolist(), strict=True)),
        {"x": X, "labels": Y},
        [{"x": X[:2], "y": Y[:2]}, {"x": X[2:], "y": Y[2:]}],
    ],
    ids=[
        "pair",
        "arrays",
        "list",
        "set",
        "loader",
        "batches",
        "points",
        "whole",
        "dictionary",
        "dictionaries",
    ],
)
def test_every_kind_of_data_is_the_same_points(data: Any) -> None:
    found = source(data, batch=3)
    for _ in range(2):  # it can be read again
        batches = list(found)
        inputs = [b.inputs["x"] if isinstance(b.inputs, dict) else b.inputs for b in batches]
        assert torch.equal(torch.cat(inputs), X)
        assert torch.equal(torch.cat([b.labels for b in batches]), Y)
    assert found.classes() == {0: 3, 1: 2, 2: 2}
    kept = found.restricted([0, 2], "some")
    assert kept.classes() == {0: 3, 2: 2}
    first = [b.inputs["x"] if isinstance(b.inputs, dict) else b.inputs for b in kept]
    assert torch.equal(torch.cat(first), X[Y != 1])


def test_without_labels_there_are_none() -> None:
    assert [b.labels for b in source(X, batch=4)] == [None, None]
    # a list of matrices has batches in it, a list of vectors has points
    for data, sizes in ((list(X.split([3, 4])), [3, 4]), (list(X), [5, 2])):
        found = list(source(data, batch=5))
        assert [b.size for b in found] == sizes and all(b.labels is None for b in found)
        assert torch.equal(torch.cat([b.inputs for b in found]), X)


@pytest.mark.parametrize(
    ("data", "labels", "sentence"),
    [
        (X, torch.rand(7), "whole numbers, one for each point; theirs is float32"),
        (X, np.array(list("abcdefg")), "whole numbers, one for each point; theirs is <U1"),
        (X, Y[:5], r"one for each of 7 points, of shape \(7,\); their shape is \(5,\)"),
        (X[:0], None, "are empty"),
        (TensorDataset(X[:0]), None, "are empty"),
        ((b for b in [X]), None, "can be read only once"),
        (3, None, "you gave int"),
        (np.array(["a"]), None, "must be numbers"),
        ([X], Y, "a loader brings its own"),
    ],
)
def test_what_is_no_data_is_refused(data: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(Unmeasurable, match=sentence):
        list(source(data, labels=labels))


def test_an_empty_loader_is_refused_when_it_is_counted() -> None:
    with pytest.raises(Unmeasurable, match="are empty: no point came"):
        source([])
    with pytest.raises(Unmeasurable, match="are empty: no batch came"):
        source(DataLoader(TensorDataset(X[:0]))).classes()
