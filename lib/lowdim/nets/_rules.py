"""What a gradient does to the weights: plain descent, momentum, Adam."""

from __future__ import annotations

import math

import torch

from lowdim.nets.networks import Weights, flat


class Rule:
    """An update rule with its memory for all trials; ``update`` touches trials lo … hi only.

    The conventions are those of torch.optim.SGD and torch.optim.Adam. Gradients are used up.

    Examples
    --------
    >>> W = [(torch.ones(1, 1, 1), None)]
    >>> Rule("gd", W, rate=0.5).update(W, [(torch.ones(1, 1, 1), None)], 0, 1, 0)
    >>> W[0][0].item()
    0.5
    """

    def __init__(
        self,
        method: str,
        weights: Weights,
        *,
        rate: float,
        momentum: float = 0.9,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
    ) -> None:
        self.method, self.rate, self.momentum = method, rate, momentum
        self.betas, self.epsilon = betas, epsilon
        slots = {"momentum": 1, "adam": 2}.get(method, 0)
        self.memory = [[torch.zeros_like(t) for t in flat(weights)] for _ in range(slots)]

    def update(self, weights: Weights, grads: Weights, lo: int, hi: int, step: int) -> None:
        """Apply step number ``step`` (from 0) to ``weights``, which are those of trials lo … hi."""
        pairs = list(zip(flat(weights), flat(grads), strict=True))
        if self.method == "momentum":
            for (W, G), V in zip(pairs, self.memory[0], strict=True):
                v = V[lo:hi].mul_(self.momentum).add_(G)
                W.sub_(v, alpha=self.rate)
        elif self.method == "adam":
            one, two = self.betas
            first, second = 1 - one ** (step + 1), math.sqrt(1 - two ** (step + 1))
            for (W, G), M, V in zip(pairs, *self.memory, strict=True):
                m = M[lo:hi].lerp_(G, 1 - one)
                v = V[lo:hi].mul_(two).addcmul_(G, G, value=1 - two)
                below = torch.sqrt(v, out=G).div_(second).add_(self.epsilon)
                W.addcdiv_(m, below, value=-self.rate / first)
        else:
            for W, G in pairs:
                W.sub_(G, alpha=self.rate)
