"""What softmax attention is when a column is one token, several, or one of the tokens.

The statements are identities between the output of a network's attention and a product of
matrices; :func:`residuals` measures how far either side is from the other.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lowdim.nets.architectures import Transformer

__all__ = ["WAYS", "residuals"]

WAYS: dict[str, Any] = {"one token": 1, "three tokens": 3, "columns as tokens": "samples"}
WIDTH, COLUMNS = 6, 7


def residuals(count: int, *, seed: int) -> dict[tuple[str, str], Tensor]:
    """Relative residuals (count,) on random weights and data, by way of cutting and by queries.

    With ``any`` queries the output is compared with W_oW_vX for one token and with W_oW_vXSᵀ in
    each sequence for more, where S are the weights of the softmax; with ``zero`` queries, with the
    mean of W_oW_vx over the tokens of the sequence.

    Examples
    --------
    >>> found = residuals(2, seed=0)
    >>> list(found)[:2], all(bool((v < 1e-12).all()) for v in found.values())
    ([('one token', 'any'), ('one token', 'zero')], True)
    """
    out, random = {}, torch.Generator().manual_seed(abs(seed))
    for name, cut in WAYS.items():
        tokens, sequences = (COLUMNS, 1) if cut == "samples" else (cut, COLUMNS)
        net = Transformer(12, WIDTH, 1, 1, tokens=cut)
        W, b, W_o, c = (w.double() for w in net.init(trials=count, seed=seed)[3:7])
        shape = (count, WIDTH, tokens, sequences)
        H = torch.randn(*shape, generator=random, dtype=torch.float64)
        value = torch.einsum("tij,tjsb->tisb", W_o @ W[:, 2 * WIDTH :], H)
        q, k = (torch.einsum("tij,tjsb->tbsi", M, H) for M in W[:, : 2 * WIDTH].chunk(2, 1))
        S = (q @ k.mT / WIDTH**0.5).softmax(-1)  # (count, sequences, tokens, tokens)
        quiet = torch.cat([0 * W[:, :WIDTH], W[:, WIDTH:]], 1)  # zero queries
        flat = value.mean(2, keepdim=True).expand_as(value)
        mixed = torch.einsum("tisb,tbjs->tijb", value, S)
        wanted = {"any": (W, value if cut == 1 else mixed), "zero": (quiet, flat)}
        for queries, (weights, goal) in wanted.items():
            wrong = (net.attend((weights, b, W_o, c), H) - goal).flatten(1).norm(dim=1)
            out[name, queries] = wrong / goal.flatten(1).norm(dim=1)
    return out
