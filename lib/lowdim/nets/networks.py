"""Fully connected networks with a leading axis of trials.

Columns are samples: data are (T, m, n) for T trials, and a layer is ``H = s(W H + b)`` with W of
shape (T, out, in) and b of shape (T, out, 1). A network is a description, its weights are a list of
(W, b), and nothing here keeps state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from lowdim.checks import choice, whole
from lowdim.nets._activations import ACTIVATIONS, Activation, activation, leaky_relu
from lowdim.nets._initial import INITIALIZATIONS, draw_layer
from lowdim.seeds import generator

__all__ = ["ACTIVATIONS", "INITIALIZATIONS", "Activation", "Dense", "Network", "Weights"]
__all__ += ["activation", "autoencoder", "by_trial", "flat", "leaky_relu", "mapped", "spread"]

Weights = Sequence[tuple[Tensor, Tensor | None]]
Pointwise = str | Activation | Callable[[Tensor], Tensor]


class Network(Protocol):
    """What an objective asks of a network; weights are pairs, or a flat list of tensors."""

    @property
    def inputs(self) -> int:
        """The width of the data."""

    @property
    def outputs(self) -> int:
        """The width of what it returns."""

    @property
    def depth(self) -> int:
        """Entries of the weights, each of which may have a penalty of its own."""

    def check(self, weights: Any, X: Tensor) -> Tensor:
        """``X`` with the trial axis of ``weights``; refuse what does not fit together."""

    def apply(self, weights: Any, X: Tensor) -> Tensor:
        """The output (T, outputs, n), by functions that autograd can follow."""


@dataclass(frozen=True)
class Dense:
    """A fully connected network.

    Parameters
    ----------
    widths
        Input width, hidden widths, output width: two numbers or more, each 1 or more.
    activation
        A name in ``ACTIVATIONS``, a pointwise torch function (its slope is then taken by autograd),
        or a tuple of these: one for each hidden layer, or one for each layer.
    output
        The last layer's activation, identity unless given. Not to be given together with an
        ``activation`` for each layer.
    bias
        Whether layers have biases.

    Raises
    ------
    ValueError
        If a width, the number of activations or an activation is not as above.

    Examples
    --------
    >>> net = Dense((4, 2, 4), activation="relu", bias=False)
    >>> weights = net.init(trials=3, seed=0)
    >>> pre, post = net.forward(weights, torch.ones(3, 4, 5))
    >>> [tuple(h.shape) for h in post]
    [(3, 2, 5), (3, 4, 5)]
    """

    widths: tuple[int, ...]
    activation: Pointwise | tuple[Pointwise, ...] = "relu"
    output: Pointwise | None = None
    bias: bool = True
    activations: tuple[Activation, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        widths = tuple(self.widths)
        if len(widths) < 2 or any(
            isinstance(w, bool) or not isinstance(w, int) or w < 1 for w in widths
        ):
            raise ValueError(
                "widths must be two or more whole numbers, each 1 or more; "
                f"you gave {self.widths!r}."
            )
        object.__setattr__(self, "widths", widths)
        given, depth = self.activation, len(widths) - 1
        if isinstance(given, (tuple, list)):
            object.__setattr__(self, "activation", tuple(given))
            layers = list(given)
            if len(layers) == depth - 1:
                layers.append("identity" if self.output is None else self.output)
            elif len(layers) != depth or self.output is not None:
                raise ValueError(
                    f"a network of depth {depth} takes one activation, {depth - 1} for its hidden "
                    f"layers, or {depth} for all layers and then no output; "
                    f"you gave {len(layers)} and output {self.output!r}."
                )
        else:
            last = "identity" if self.output is None else self.output
            layers = [given] * (depth - 1) + [last]
            activation(given)
        object.__setattr__(self, "activations", tuple(activation(a) for a in layers))

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self.widths) - 1

    @property
    def inputs(self) -> int:
        """The width of the data."""
        return self.widths[0]

    @property
    def outputs(self) -> int:
        """The width of the last layer."""
        return self.widths[-1]

    @property
    def parameters(self) -> int:
        """The number of weights and biases of one trial."""
        pairs = zip(self.widths[:-1], self.widths[1:], strict=True)
        return sum(out * (into + int(self.bias)) for into, out in pairs)

    def init(
        self,
        *,
        trials: int = 1,
        seed: int = 0,
        kind: str = "uniform",
        scale: float | Sequence[float] | None = None,
        first_trial: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> Weights:
        """Draw weights for ``trials`` trials, numbered from ``first_trial``.

        Each trial has a generator of its own, made from (seed, trial), so trial i of many equals
        trial i drawn alone with ``first_trial=i, trials=1``. Numbers are drawn in double precision
        and then rounded to ``dtype``.

        Parameters
        ----------
        kind
            ``uniform``: on (-scale, scale); ``normal``: standard deviation ``scale``;
            ``nonnegative``: uniform on (0, scale); all three with scale 1/sqrt(fan_in) unless
            given, biases drawn as the weights are. ``kaiming``: normal, scale · sqrt(2/fan_in);
            ``xavier``: uniform, half-width scale · sqrt(6/(fan_in + fan_out)); ``orthogonal``:
            scale times orthonormal rows or columns; these three with scale 1 unless given and
            biases zero.
        scale
            One number above 0, or one for each layer.

        Raises
        ------
        ValueError
            If an argument is not as above.

        Examples
        --------
        >>> net = Dense((3, 2))
        >>> many, alone = net.init(trials=5, seed=1), net.init(trials=1, seed=1, first_trial=4)
        >>> torch.equal(many[0][0][4:], alone[0][0])
        True
        """
        choice(kind, INITIALIZATIONS, "kind")
        choice(dtype, (torch.float32, torch.float64), "dtype")
        whole(trials, "trials", 1)
        whole(first_trial, "first_trial", 0)
        scales = self._scales(scale)
        drawn: list[tuple[Tensor, Tensor | None]] = []
        for into, out in zip(self.widths[:-1], self.widths[1:], strict=True):
            bias = torch.empty(trials, out, 1, dtype=dtype) if self.bias else None
            drawn.append((torch.empty(trials, out, into, dtype=dtype), bias))
        for trial in range(trials):
            random = generator(seed, first_trial + trial, "weights")
            for (W, b), size in zip(drawn, scales, strict=True):
                _, out, into = W.shape
                matrix, column = draw_layer(random, out, into, kind, size, b is not None)
                W[trial] = torch.from_numpy(matrix)
                if b is not None:
                    b[trial, :, 0] = torch.from_numpy(column)
        return drawn

    def _scales(self, scale: float | Sequence[float] | None) -> list[float | None]:
        if scale is None:
            return [None] * self.depth
        scales = list(scale) if isinstance(scale, Sequence) else [scale] * self.depth
        if len(scales) != self.depth or not all(0 < float(s) < math.inf for s in scales):
            raise ValueError(
                f"scale must be a finite number above 0, or {self.depth} of them, one for each "
                f"layer; you gave {scale!r}."
            )
        return [float(s) for s in scales]

    def check(self, weights: Weights, X: Tensor) -> Tensor:
        """Return ``X`` with the trial axis of ``weights``; refuse what does not fit together.

        X is (T, m, n), or (m, n) if all trials share it.

        Examples
        --------
        >>> net = Dense((3, 2), bias=False)
        >>> net.check(net.init(trials=5), torch.ones(3, 7)).shape
        torch.Size([5, 3, 7])
        """
        if len(weights) != self.depth:
            raise ValueError(
                f"a network of depth {self.depth} needs {self.depth} pairs (W, b); "
                f"you gave {len(weights)}."
            )
        trials, dtype = len(weights[0][0]), weights[0][0].dtype
        for layer, (W, b) in enumerate(weights, start=1):
            into, out = self.widths[layer - 1 : layer + 1]
            wanted = (trials, out, into), ((trials, out, 1) if self.bias else None)
            got = tuple(W.shape), (None if b is None else tuple(b.shape))
            if got != wanted:
                raise ValueError(
                    f"layer {layer} needs W and b of shapes {wanted[0]} and {wanted[1]}; "
                    f"theirs are {got[0]} and {got[1]}."
                )
            if W.dtype != dtype or (b is not None and b.dtype != dtype):
                raise ValueError(
                    f"all weights need one dtype; layer 1 has {dtype}, layer {layer} has {W.dtype}."
                )
        if X.dtype != dtype:
            raise ValueError(f"weights and data need one dtype; theirs are {dtype} and {X.dtype}.")
        return spread(X, trials, self.widths[0], "X")

    @torch.no_grad()
    def forward(self, weights: Weights, X: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Pre-activations ``W H + b`` and activations ``s(W H + b)`` of every layer.

        X is (T, m, n) or, shared by all trials, (m, n); layer l's tensors are (T, width, n).

        Raises
        ------
        ValueError
            If shapes or dtypes do not fit together.

        Examples
        --------
        >>> net = Dense((2, 1), bias=False, output="relu")
        >>> pre, post = net.forward([(torch.tensor([[[1.0, -1.0]]]), None)], torch.eye(2))
        >>> pre[0].tolist(), post[0].tolist()
        ([[[1.0, -1.0]]], [[[1.0, 0.0]]])
        """
        H = self.check(weights, X)
        pre, post = [], []
        for (W, b), act in zip(weights, self.activations, strict=True):
            Z = torch.bmm(W, H) if b is None else torch.baddbmm(b, W, H)
            H = act(Z)
            pre.append(Z)
            post.append(H)
        return pre, post

    def apply(self, weights: Weights, X: Tensor) -> Tensor:
        """The last layer (T, out, n), by functions that autograd and torch.func can follow.

        Examples
        --------
        >>> net = Dense((1, 1), activation="tanh", bias=False)
        >>> W = torch.ones(1, 1, 1, requires_grad=True)
        >>> net.apply([(W, None)], torch.full((1, 1, 1), 3.0)).sum().backward()
        >>> W.grad.item()
        3.0
        """
        H = X
        for (W, b), act in zip(weights, self.activations, strict=True):
            H = act.function(W @ H if b is None else W @ H + b)
        return H


def flat(weights: Weights | list[Tensor]) -> list[Tensor]:
    """All tensors of ``weights``, pairs or not, in order, without the missing biases.

    Examples
    --------
    >>> len(flat([(torch.ones(1, 1, 1), None), (torch.ones(1, 1, 1), torch.ones(1, 1, 1))]))
    3
    """
    pairs = ((item,) if isinstance(item, Tensor) else item for item in weights)
    return [t for pair in pairs for t in pair if t is not None]


def mapped(weights: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """``function`` of every tensor of ``weights``, pairs or not, in the same arrangement.

    Examples
    --------
    >>> mapped([(torch.ones(1), None)], torch.neg)
    [(tensor([-1.]), None)]
    """
    return [
        function(item)
        if isinstance(item, Tensor)
        else tuple(None if t is None else function(t) for t in item)
        for item in weights
    ]


def by_trial(values: Tensor, like: Tensor) -> Tensor:
    """``values`` (T,) with as many axes as ``like`` (T, ...), to multiply each trial by its own.

    Examples
    --------
    >>> by_trial(torch.ones(3), torch.ones(3, 4, 5)).shape
    torch.Size([3, 1, 1])
    """
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def spread(X: Tensor, trials: int, width: int, name: str) -> Tensor:
    """``X`` as (trials, width, n), shared over trials if it has two axes or one trial.

    Examples
    --------
    >>> spread(torch.ones(2, 3), 4, 2, "X").shape
    torch.Size([4, 2, 3])
    """
    full = X[None] if X.ndim == 2 else X
    if (
        full.ndim != 3
        or full.shape[0] not in (1, trials)
        or full.shape[1] != width
        or full.shape[2] < 1
    ):
        raise ValueError(
            f"{name} needs the shape ({trials}, {width}, n), or ({width}, n) if all trials share "
            f"it; its shape is {tuple(X.shape)}."
        )
    return full.expand(trials, -1, -1)


def autoencoder(
    outer: int,
    *inner: int,
    activation: Pointwise | tuple[Pointwise, ...] = "relu",
    output: Pointwise | None = None,
    bias: bool = True,
) -> Dense:
    """The network outer – inner … – outer whose widths mirror around the last of ``inner``.

    Examples
    --------
    >>> autoencoder(64, 32, 24).widths
    (64, 32, 24, 32, 64)
    """
    if not inner:
        raise ValueError(f"an autoencoder needs an inner width; you gave only outer = {outer!r}.")
    widths = (outer, *inner, *inner[-2::-1], outer)
    return Dense(widths, activation=activation, output=output, bias=bias)
