"""Forward and backward through a few trials at a time, in memory that is taken once.

The loss is c·‖H_L - Y‖² with c = 1, 1/n or 1/(n·width). With D_L = (H_L - Y)∘s'(Z_L) and
D_{l-1} = (W_lᵀ D_l)∘s'(Z_{l-1}) its gradients are 2c·D_l·H_{l-1}ᵀ for W_l and the row sums of
2c·D_l for b_l: five products for two layers, and nothing else that is large.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim.nets.networks import Dense, Weights

NORMALIZATIONS = ("sum", "sample", "mean")

# What a worker's caches hold: trials are independent, so a few of them go through many steps
# together before the next few do.
_CACHE_BYTES = 3_000_000


def coefficient(loss: str, samples: int, width: int) -> float:
    """The factor c before the squared norm.

    Examples
    --------
    >>> coefficient("sum", 5, 4), coefficient("sample", 5, 4), coefficient("mean", 5, 4)
    (1.0, 0.2, 0.05)
    """
    return {"sum": 1.0, "sample": 1 / samples, "mean": 1 / (samples * width)}[loss]


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
        def cut(flat: Tensor | None, width: int) -> Tensor | None:
            if flat is None:
                return None
            return flat[: trials * width * samples].view(trials, width, samples)

        widths = engine.net.widths[1:]
        self.pre = [cut(f, w) for f, w in zip(engine.flat_pre, widths, strict=True)]
        self.post = [cut(f, w) for f, w in zip(engine.flat_post, widths, strict=True)]
        self.delta = [cut(f, w) for f, w in zip(engine.flat_delta, widths, strict=True)]
        self.grads: Weights = [
            (W[:trials], None if b is None else b[:trials]) for W, b in engine.gradients
        ]


class Engine:
    """Buffers for up to ``trials`` trials of ``net`` with up to ``samples`` samples.

    Examples
    --------
    >>> net = Dense((3, 2, 3))
    >>> weights, X = net.init(trials=4), torch.ones(4, 3, 5)
    >>> engine = Engine(net, 4, 5, torch.float32)
    >>> engine.forward(weights, X, X).shape
    torch.Size([4])
    """

    def __init__(self, net: Dense, trials: int, samples: int, dtype: torch.dtype) -> None:
        self.net = net

        def flat(width: int) -> Tensor:
            return torch.empty(trials * width * samples, dtype=dtype)

        acts, widths = net.activations, net.widths[1:]
        self.plain_output = acts[-1].name == "identity"
        self.flat_delta = [flat(w) for w in widths]
        self.flat_post: list[Tensor | None] = [flat(w) for w in widths[:-1]]
        self.flat_post.append(None if self.plain_output else flat(widths[-1]))
        self.flat_pre = [
            flat(w) if a.keeps_input else None for w, a in zip(widths, acts, strict=True)
        ]
        self.gradients: Weights = []
        for into, out in zip(net.widths[:-1], widths, strict=True):
            bias = torch.empty(trials, out, 1, dtype=dtype) if net.bias else None
            self.gradients.append((torch.empty(trials, out, into, dtype=dtype), bias))
        self.cuts: dict[tuple[int, int], Views] = {}

    def views(self, X: Tensor) -> Views:
        """The buffers that fit X (trials, m, samples)."""
        key = X.shape[0], X.shape[2]
        if key not in self.cuts:
            self.cuts[key] = Views(self, *key)
        return self.cuts[key]

    def _layer(self, weights: Weights, layer: int, H: Tensor, cut: Views) -> Tensor:
        (W, b), H_next = weights[layer], cut.post[layer]
        Z = H_next if cut.pre[layer] is None else cut.pre[layer]
        if b is None:
            torch.bmm(W, H, out=Z)
        else:
            torch.baddbmm(b, W, H, out=Z)
        self.net.activations[layer].value(Z, H_next)
        return H_next

    def residual(self, weights: Weights, X: Tensor, target: Tensor) -> None:
        """Leave all H_l in the buffers and H_L - target in the last delta."""
        cut, last = self.views(X), self.net.depth - 1
        H, (W, b) = X, weights[last]
        for layer in range(last):
            H = self._layer(weights, layer, H, cut)
        if not self.plain_output:
            torch.sub(self._layer(weights, last, H, cut), target, out=cut.delta[last])
        elif b is None:
            torch.baddbmm(target, W, H, beta=-1, out=cut.delta[last])
        else:
            torch.baddbmm(b, W, H, out=cut.delta[last]).sub_(target)

    def squares(self, X: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """‖H_L - target‖² of each trial, (trials,), after ``residual``, summed up in ``dtype``."""
        delta = self.views(X).delta[-1]
        length = torch.linalg.vector_norm(delta.view(len(delta), -1), dim=1, dtype=dtype)
        return length.double().square_()

    def forward(self, weights: Weights, X: Tensor, target: Tensor) -> Tensor:
        """``residual`` and then ``squares``, summed up in double precision."""
        self.residual(weights, X, target)
        return self.squares(X, torch.float64)

    def backward(self, weights: Weights, X: Tensor, factor: float, decay: float) -> Weights:
        """Gradients of c‖H_L - target‖² + decay/2·‖weights‖², factor = 2c, after ``residual``."""
        cut = self.views(X)
        for layer in range(self.net.depth - 1, -1, -1):
            delta, H = self._delta(cut, layer), X if layer == 0 else cut.post[layer - 1]
            (W, b), (G, g) = weights[layer], cut.grads[layer]
            if layer:
                torch.bmm(W.mT, delta, out=cut.delta[layer - 1])
            # beta = 0 means that whatever G holds, NaN included, is not read
            torch.baddbmm(G, delta, H.mT, beta=0, alpha=factor, out=G)
            if decay:
                G.add_(W, alpha=decay)
            if g is not None and b is not None:
                torch.sum(delta, 2, keepdim=True, out=g)
                g.mul_(factor)
                if decay:
                    g.add_(b, alpha=decay)
        return cut.grads

    def descend(
        self, weights: Weights, X: Tensor, rate: float, factor: float, decay: float
    ) -> None:
        """One step of gradient descent, after ``residual``, without forming the gradient."""
        cut, keep, step = self.views(X), 1 - rate * decay, -rate * factor
        for layer in range(self.net.depth - 1, -1, -1):
            delta, H = self._delta(cut, layer), X if layer == 0 else cut.post[layer - 1]
            W, b = weights[layer]
            if layer:
                torch.bmm(W.mT, delta, out=cut.delta[layer - 1])
            W.baddbmm_(delta, H.mT, beta=keep, alpha=step)
            if b is not None:
                g = cut.grads[layer][1]
                torch.sum(delta, 2, keepdim=True, out=g)
                b.mul_(keep).add_(g, alpha=step)

    def _delta(self, cut: Views, layer: int) -> Tensor:
        """D_l, from W_{l+1}ᵀ D_{l+1} or from the residual."""
        delta = cut.delta[layer]
        pre = delta if cut.pre[layer] is None else cut.pre[layer]
        post = delta if cut.post[layer] is None else cut.post[layer]
        self.net.activations[layer].chain(delta, pre, post)
        return delta


def norms(grads: Weights) -> Tensor:
    """The Euclidean norm of each trial's gradient, over all layers, (trials,), float64.

    Examples
    --------
    >>> norms([(torch.full((2, 1, 1), 3.0), torch.full((2, 1, 1), 4.0))]).tolist()
    [5.0, 5.0]
    """
    parts = [t.flatten(1) for pair in grads for t in pair if t is not None]
    lengths = [torch.linalg.vector_norm(p, dim=1).double() for p in parts]
    return torch.linalg.vector_norm(torch.stack(lengths), dim=0)
