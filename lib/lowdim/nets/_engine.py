"""Forward and backward through a few trials at a time, in memory that is taken once.

With the residual R of the loss (H_L - Y for the squared one), D_L = R∘s'(Z_L) and
D_{l-1} = (W_lᵀ D_l)∘s'(Z_{l-1}), the gradients are f·D_l·H_{l-1}ᵀ for W_l and the row sums of f·D_l
for b_l, where f is the loss's factor times its normalization: five products for two layers, and
nothing else that is large. The penalty λ‖θ‖² adds p·θ with the pull p = 2λ, which is a number for
each layer, or (trials,) of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim.nets.losses import Loss, Square
from lowdim.nets.networks import Dense, Weights, by_trial, flat

Pull = float | Tensor

# What a worker's caches hold: trials are independent, so a few of them go through many steps
# together before the next few do.
_CACHE_BYTES = 3_000_000


def chunk_size(net: Dense, trials: int, samples: int, itemsize: int) -> int:
    """How many trials to take together; it does not depend on the number of threads.

    Examples
    --------
    >>> net = Dense((400, 80, 400), bias=False)
    >>> chunk_size(net, 100, 400, 4), chunk_size(Dense((20, 5, 20)), 100, 24, 4)
    (1, 100)
    """
    numbers = samples * (2 * sum(net.widths) - net.widths[-1]) + net.parameters
    size = max(1, min(trials, _CACHE_BYTES // (numbers * itemsize)))
    if trials * numbers * itemsize > _CACHE_BYTES // 3:
        size = min(size, -(-trials // 2))
    return size


class Views:
    """The buffers cut to some trials and samples: pre, post and delta of every layer."""

    def __init__(self, engine: Engine, trials: int, samples: int) -> None:
        def cut(flat: Tensor, width: int) -> Tensor:
            return flat[: trials * width * samples].view(trials, width, samples)

        widths = engine.net.widths[1:]
        self.delta = [cut(f, w) for f, w in zip(engine.flat_delta, widths, strict=True)]
        # Of a plain output nothing but the residual is kept, and few slopes ask for their input.
        self.post = [
            delta if f is None else cut(f, w)
            for f, w, delta in zip(engine.flat_post, widths, self.delta, strict=True)
        ]
        self.pre = [
            post if f is None else cut(f, w)
            for f, w, post in zip(engine.flat_pre, widths, self.post, strict=True)
        ]
        self.grads: Weights = [
            (W[:trials], None if b is None else b[:trials]) for W, b in engine.gradients
        ]


class Engine:
    """Memory for passes through some trials of ``net``; it grows to what was asked for.

    Examples
    --------
    >>> net = Dense((3, 2, 3))
    >>> weights, X = net.init(trials=4), torch.ones(4, 3, 5)
    >>> Engine(net, Square(), torch.float32).forward(weights, X, X).shape
    torch.Size([4])
    """

    def __init__(self, net: Dense, loss: Loss, dtype: torch.dtype) -> None:
        self.net, self.loss, self.dtype = net, loss, dtype
        self.value: Tensor | None = None
        self.plain_output = net.activations[-1].name == "identity"
        self.direct = self.plain_output and isinstance(loss, Square)
        self.trials = self.columns = 0
        self.cuts: dict[tuple[int, int], Views] = {}

    def _reserve(self, trials: int, columns: int) -> None:
        """Make room for ``trials`` trials with ``columns`` samples altogether."""
        if trials <= self.trials and columns <= self.columns:
            return
        self.trials, self.columns = max(trials, self.trials), max(columns, self.columns)
        acts, widths = self.net.activations, self.net.widths[1:]

        def flat(width: int) -> Tensor:
            return torch.empty(width * self.columns, dtype=self.dtype)

        self.flat_delta = [flat(w) for w in widths]
        self.flat_post: list[Tensor | None] = [flat(w) for w in widths[:-1]]
        self.flat_post.append(None if self.plain_output else flat(widths[-1]))
        self.flat_pre = [
            flat(w) if a.keeps_input else None for w, a in zip(widths, acts, strict=True)
        ]
        self.gradients: Weights = []
        for into, out in zip(self.net.widths[:-1], widths, strict=True):
            bias = torch.empty(self.trials, out, 1, dtype=self.dtype) if self.net.bias else None
            weight = torch.empty(self.trials, out, into, dtype=self.dtype)
            self.gradients.append((weight, bias))
        self.cuts.clear()

    def views(self, X: Tensor) -> Views:
        """The buffers that fit X (trials, m, samples)."""
        key = trials, samples = X.shape[0], X.shape[2]
        if key not in self.cuts:
            self._reserve(trials, trials * samples)
            self.cuts[key] = Views(self, trials, samples)
        return self.cuts[key]

    def _layer(self, weights: Weights, layer: int, H: Tensor, cut: Views) -> Tensor:
        (W, b), H_next, Z = weights[layer], cut.post[layer], cut.pre[layer]
        if b is None:
            torch.bmm(W, H, out=Z)
        else:
            torch.baddbmm(b, W, H, out=Z)
        self.net.activations[layer].value(Z, H_next)
        return H_next

    def residual(self, weights: Weights, X: Tensor, target: Tensor) -> None:
        """Leave all H_l in the buffers and the loss's residual in the last delta."""
        cut, last = self.views(X), self.net.depth - 1
        H, (W, b) = X, weights[last]
        for layer in range(last):
            H = self._layer(weights, layer, H, cut)
        delta = cut.delta[last]
        if not self.direct:
            self.value = self.loss.residual(self._layer(weights, last, H, cut), target, delta)
        elif b is None:
            torch.baddbmm(target, W, H, beta=-1, out=delta)
        else:
            torch.baddbmm(b, W, H, out=delta).sub_(target)

    def losses(self, X: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """Each trial's loss, (trials,) float64, after ``residual``; squares add up in ``dtype``."""
        if self.value is not None:
            return self.value.double()
        delta = self.views(X).delta[-1]
        length = torch.linalg.vector_norm(delta.view(len(delta), -1), dim=1, dtype=dtype)
        return length.double().square_()

    def forward(self, weights: Weights, X: Tensor, target: Tensor) -> Tensor:
        """``residual`` and then ``losses``, squares being added in double precision."""
        self.residual(weights, X, target)
        return self.losses(X, torch.float64)

    def backward(self, weights: Weights, X: Tensor, factor: float, pulls: list[Pull]) -> Weights:
        """Gradients of the penalized loss, after ``residual``; ``pulls`` has one for each layer."""
        cut = self.views(X)
        for layer in range(self.net.depth - 1, -1, -1):
            delta, H = self._delta(cut, layer), X if layer == 0 else cut.post[layer - 1]
            (W, b), (G, g) = weights[layer], cut.grads[layer]
            if layer:
                torch.bmm(W.mT, delta, out=cut.delta[layer - 1])
            # beta = 0 means that whatever G holds, NaN included, is not read
            torch.baddbmm(G, delta, H.mT, beta=0, alpha=factor, out=G)
            add_pull(G, W, pulls[layer])
            if g is not None and b is not None:
                torch.sum(delta, 2, keepdim=True, out=g)
                add_pull(g.mul_(factor), b, pulls[layer])
        return cut.grads

    def descend(
        self, weights: Weights, X: Tensor, rate: float, factor: float, pulls: list[float]
    ) -> None:
        """One step of gradient descent, after ``residual``, without forming the gradient."""
        cut, step = self.views(X), -rate * factor
        for layer in range(self.net.depth - 1, -1, -1):
            delta, H = self._delta(cut, layer), X if layer == 0 else cut.post[layer - 1]
            (W, b), keep = weights[layer], 1 - rate * pulls[layer]
            if layer:
                torch.bmm(W.mT, delta, out=cut.delta[layer - 1])
            W.baddbmm_(delta, H.mT, beta=keep, alpha=step)
            g = cut.grads[layer][1]
            if b is not None and g is not None:
                torch.sum(delta, 2, keepdim=True, out=g)
                b.mul_(keep).add_(g, alpha=step)

    def _delta(self, cut: Views, layer: int) -> Tensor:
        """D_l, from W_{l+1}ᵀ D_{l+1} or from the residual."""
        delta = cut.delta[layer]
        self.net.activations[layer].chain(delta, cut.pre[layer], cut.post[layer])
        return delta


def add_pull(G: Tensor, W: Tensor, pull: Pull) -> None:
    """Add to a gradient what a penalty adds.

    Examples
    --------
    >>> G = torch.zeros(2, 1, 1)
    >>> add_pull(G, torch.ones(2, 1, 1), torch.tensor([0.5, 0.25]))
    >>> G.flatten().tolist()
    [0.5, 0.25]
    """
    if isinstance(pull, Tensor):
        G.addcmul_(by_trial(pull, G), W)
    elif pull:
        G.add_(W, alpha=pull)


def norms(grads: Weights) -> Tensor:
    """The Euclidean norm of each trial's gradient, over all layers, (trials,), float64.

    Examples
    --------
    >>> norms([(torch.full((2, 1, 1), 3.0), torch.full((2, 1, 1), 4.0))]).tolist()
    [5.0, 5.0]
    """
    lengths = [torch.linalg.vector_norm(p.flatten(1), dim=1).double() for p in flat(grads)]
    return torch.linalg.vector_norm(torch.stack(lengths), dim=0)
