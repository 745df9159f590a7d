"""Stacks of matrices in pieces: one for each core, or small enough for the cache.

torch walks a stack of small factorizations one matrix after another, and joins its threads after
every product, which on a busy machine costs more than the product. Here a whole chain of
operations on one piece of a stack is given to one thread (torch lets go of the interpreter's lock),
while torch itself keeps to a single thread; operands stay in that core's cache and nobody waits
for anybody. The pieces do not touch each other, so no result depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar, overload

import torch
from torch import Tensor

PIECE = 640_000  # entries of a piece in its largest array: 5 MB in double precision
R = TypeVar("R")


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        workers, thread_name_prefix="lowdim", initializer=torch.set_num_threads, initargs=(1,)
    )


def share_out(
    function: Callable[..., R],
    pieces: Iterable[tuple[Any, ...]],
    *,
    stop: Callable[[], None] | None = None,
) -> list[R]:
    """Apply ``function`` to each of ``pieces``, as many at a time as torch has threads.

    Where one of them raises, or the user interrupts, those not begun are dropped, ``stop`` is
    called, those that run are waited for, and the exception goes on.

    Examples
    --------
    >>> share_out(lambda a, b: a + b, [(1, 2), (3, 4)])
    [3, 7]
    """
    pieces = list(pieces)
    threads = torch.get_num_threads()  # 1 in a worker: nothing is shared out twice
    if threads < 2 or len(pieces) < 2:
        return [function(*piece) for piece in pieces]
    torch.set_num_threads(1)
    begun = [_pool(threads).submit(function, *piece) for piece in pieces]
    try:
        return [each.result() for each in begun]
    except BaseException:
        for each in begun:
            each.cancel()
        if stop is not None:
            stop()
        wait(begun)
        raise
    finally:
        torch.set_num_threads(threads)


@overload
def over_batch(function: Callable[[Tensor], Tensor], A: Tensor, *, least: int = ...) -> Tensor: ...


@overload
def over_batch(
    function: Callable[[Tensor], tuple[Tensor, ...]], A: Tensor, *, least: int = ...
) -> tuple[Tensor, ...]: ...


def over_batch(
    function: Callable[[Tensor], Tensor | tuple[Tensor, ...]], A: Tensor, *, least: int = 4
) -> Tensor | tuple[Tensor, ...]:
    """Apply ``function`` to a stack (..., m, n) and join what it returns along the leading axes.

    ``function`` takes a stack (B, m, n) and returns a tensor, or a tuple of tensors, whose first
    axis is B. The stack is cut in as many pieces as torch has threads, or not at all if it has
    fewer than ``least`` matrices.

    Examples
    --------
    >>> over_batch(torch.linalg.eigvalsh, torch.eye(3).expand(2, 5, 3, 3)).shape
    torch.Size([2, 5, 3])
    """
    batch = A.shape[:-2]
    stack = A.reshape(-1, *A.shape[-2:])
    workers = torch.get_num_threads() if len(stack) >= least else 1
    cut = torch.tensor_split(stack, min(workers, len(stack)))
    results = share_out(function, ((piece,) for piece in cut))
    whole = [result for result in results if isinstance(result, Tensor)]
    if whole:
        joined = torch.cat(whole) if len(whole) > 1 else whole[0]
        return joined.reshape(batch + joined.shape[1:])
    parts = [torch.cat(p) if len(p) > 1 else p[0] for p in zip(*results, strict=True)]
    return tuple(part.reshape(batch + part.shape[1:]) for part in parts)


def in_pieces(
    function: Callable[..., tuple[Tensor, ...]], *stacks: Tensor, entries: int
) -> tuple[Tensor, ...]:
    """Apply ``function`` to stacks (B, ...) piece by piece and join what it returns along axis 0.

    ``entries`` is the size of the largest array that one instance needs. How a stack is cut
    depends on it only, not on the number of threads.

    Examples
    --------
    >>> A = torch.ones(7, 300, 400)
    >>> pieces = in_pieces(lambda piece: (piece, piece[:1]), A, entries=120_000)
    >>> [part.shape[0] for part in pieces]
    [7, 2]
    """
    size = max(1, PIECE // max(1, entries))
    if len(stacks[0]) <= size:
        return function(*stacks)
    cut = zip(*(torch.split(stack, size) for stack in stacks), strict=True)
    results = share_out(function, cut)
    return tuple(torch.cat(parts) for parts in zip(*results, strict=True))
