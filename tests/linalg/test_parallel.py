"""Pieces of a stack: the same results whatever the threads, and an orderly end when one raises."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch
from lowdim.linalg import parallel


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_do_not_depend_on_how_many_threads_there_are(two_threads: None) -> None:
    A = torch.randn(9, 6, 5, generator=torch.manual_seed(0), dtype=torch.float64)

    def factors(stack: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.linalg.svd(stack, full_matrices=False)

    shared = parallel.over_batch(factors, A)
    torch.set_num_threads(1)
    alone = parallel.over_batch(factors, A)
    assert all(torch.equal(a, b) for a, b in zip(shared, alone, strict=True))


def test_whoever_runs_is_told_to_stop_and_waited_for_when_another_raises(two_threads: None) -> None:
    told, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def piece(number: int) -> None:
        if number == 0:
            begun.wait(10)
            raise RuntimeError("the first")
        begun.set()
        if told.wait(10):
            ended.set()

    with pytest.raises(RuntimeError, match="the first"):
        parallel.share_out(piece, [(0,), (1,)], stop=told.set)
    assert ended.is_set()
    assert torch.get_num_threads() == 2


def test_pieces_not_begun_are_dropped_when_one_raises(two_threads: None) -> None:
    done: list[int] = []
    told = threading.Event()

    def piece(number: int) -> None:
        if number == 0:
            raise RuntimeError("the first")
        told.wait(10)
        done.append(number)

    with pytest.raises(RuntimeError):
        parallel.share_out(piece, [(k,) for k in range(50)], stop=told.set)
    assert len(done) < 49
