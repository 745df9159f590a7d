r"""Convolutional, recurrent and attention networks with a leading axis of trials.

As in :mod:`lowdim.nets.networks`, columns are samples: data are (T, m, n) for T trials. A network
is a description; its weights are a flat list of tensors whose first axis is the trial. ``forward``
returns what every layer hands on, as (T, features, n), and the output of a last linear map, so that
the same measurements serve all of them. Everything is differentiable, and
:func:`lowdim.nets.training.train` descends.

How a column becomes an image or a sequence is a choice that papers seldom state; ``tokens`` says it
here. A whole number cuts each column into that many tokens (1: the column is one token), and no
sample sees another. ``"samples"`` makes the n columns the tokens of one sequence: then samples mix.
Weights begin as torch's own layers do unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lowdim.checks import choice, whole
from lowdim.linalg.parallel import share_out
from lowdim.nets._autograd import chunk_size
from lowdim.nets.networks import Network, spread
from lowdim.seeds import generator

__all__ = ["POINTWISE", "Convolutional", "Recurrent", "Transformer"]

POINTWISE: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda z: z,
    "relu": torch.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "tanh": torch.tanh,
}


class _Network:
    """What the three have in common: drawing weights, trial by trial, from their shapes."""

    def shapes(self) -> list[tuple[tuple[int, ...], float]]:
        """The shape of every weight of one trial, and its range: uniform on ±range.

        A range of 0 stands for zeros, a negative one for ones.
        """
        raise NotImplementedError

    def init(
        self,
        *,
        trials: int = 1,
        seed: int = 0,
        first_trial: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> list[Tensor]:
        """Weights of ``trials`` trials, each from a generator made from (seed, its number)."""
        whole(trials, "trials", 1)
        whole(first_trial, "first_trial", 0)
        drawn = [torch.empty(trials, *shape, dtype=dtype) for shape, _ in self.shapes()]
        for trial in range(trials):
            random = generator(seed, first_trial + trial, "weights")
            for tensor, (shape, size) in zip(drawn, self.shapes(), strict=True):
                fixed = np.full(shape, float(size < 0))
                values = random.uniform(-size, size, shape) if size > 0 else fixed
                tensor[trial] = torch.from_numpy(values)
        return drawn

    def forward(self, weights: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
        """What every layer hands on, (T, features, n), and the output (T, outputs, n)."""
        raise NotImplementedError

    def apply(self, weights: Sequence[Tensor], X: Tensor) -> Tensor:
        """The output (T, outputs, n)."""
        return self.forward(weights, X)[1]

    @property
    def depth(self) -> int:
        """How many tensors the weights are, each of which may have a penalty of its own."""
        return len(self.shapes())

    def check(self, weights: Sequence[Tensor], X: Tensor) -> Tensor:
        """``X`` with the trial axis of ``weights``; refuse what does not fit together."""
        wanted = [shape for shape, _ in self.shapes()]
        if [tuple(w.shape[1:]) for w in weights] != wanted:
            raise ValueError(
                f"{type(self).__name__} needs weights of the shapes {wanted} for each trial; "
                f"yours have {[tuple(w.shape[1:]) for w in weights]}."
            )
        if any(w.dtype != X.dtype for w in weights):
            raise ValueError(f"weights and X need one dtype; X is {X.dtype}.")
        return spread(X, len(weights[0]), cast(Network, self).inputs, "X")

    def activations(self, weights: Sequence[Tensor], X: Tensor) -> list[Tensor]:
        """What every layer hands on and the output, (T, ..., n) each; a few trials at a time."""

        def layers(x: Tensor, *moved: Tensor) -> list[Tensor]:
            with torch.no_grad():
                handed, output = self.forward(moved, x)
            return [*handed, output]

        cut = zip(*(torch.split(t, chunk_size(X)) for t in (X, *weights)), strict=True)
        pieces = share_out(layers, cut)
        return [torch.cat(parts) for parts in zip(*pieces, strict=True)]


def _head(features: int, outputs: int) -> list[tuple[tuple[int, ...], float]]:
    size = features**-0.5
    return [((outputs, features), size), ((outputs, 1), size)]


def _affine(W: Tensor, b: Tensor, H: Tensor) -> Tensor:
    """``W H + b`` for W (T, out, in), b (T, out, 1) and H (T, in, ...)."""
    flat = torch.baddbmm(b, W, H.flatten(2))
    return flat.unflatten(2, H.shape[2:])


def _depth_and_width(layers: int, width: int, activation: str) -> None:
    whole(layers, "layers", 1)
    whole(width, "width", 1)
    choice(activation, POINTWISE, "activation")


class _Windows(torch.autograd.Function):
    """What each output pixel sees, (T, c, kh, kw, h', w', n), of padded images (T, c, h, w, n).

    The backward pass of torch's unfold adds up number by number; here nine or so images are added.
    """

    @staticmethod
    def _places(shape: torch.Size, kernel: tuple[int, int], stride: int) -> list[tuple[Any, Any]]:
        """For every place in the kernel: where it stands, and the pixels that it meets."""
        last = [side - k + 1 for side, k in zip(shape[2:4], kernel, strict=True)]
        return [
            (np.s_[:, :, i, j], np.s_[:, :, i : i + last[0] : stride, j : j + last[1] : stride])
            for i, j in np.ndindex(*kernel)
        ]

    @staticmethod
    def forward(ctx: Any, image: Tensor, kernel: tuple[int, int], stride: int) -> Tensor:
        ctx.shape, ctx.places = image.shape, _Windows._places(image.shape, kernel, stride)
        seen = [image[pixels] for _, pixels in ctx.places]
        return torch.stack(seen, 2).unflatten(2, kernel)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        total = slope.new_zeros(ctx.shape)
        for place, pixels in ctx.places:
            total[pixels] += slope[place]
        return total, None, None


@dataclass(frozen=True)
class Convolutional(_Network):
    """Convolutions with zero padding, each followed by the activation, then a linear map.

    Parameters
    ----------
    shape
        Height and width of the image that a column is, row by row; (1, m) for a signal.
    channels
        Channels of every layer.
    kernel
        Height and width of the kernels, odd numbers.
    outputs
        Width of the last linear map.
    strides
        One for each layer, all 1 unless given. A layer of stride s keeps every s-th pixel.

    Raises
    ------
    ValueError
        If a kernel is even, the strides do not match the layers or the activation is unknown.

    Examples
    --------
    >>> net = Convolutional((4, 4), channels=(2, 3), kernel=(3, 3), outputs=16, strides=(2, 1))
    >>> layers, output = net.forward(net.init(trials=2), torch.ones(2, 16, 5))
    >>> [tuple(h.shape) for h in layers], tuple(output.shape)
    ([(2, 8, 5), (2, 12, 5)], (2, 16, 5))
    """

    shape: tuple[int, int]
    channels: tuple[int, ...]
    kernel: tuple[int, int]
    outputs: int
    activation: str = "relu"
    strides: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        choice(self.activation, POINTWISE, "activation")
        if any(k % 2 == 0 or k < 1 for k in self.kernel):
            raise ValueError(f"kernel must be two odd numbers; you gave {self.kernel!r}.")
        strides = self.strides or (1,) * len(self.channels)
        if len(strides) != len(self.channels) or not self.channels:
            raise ValueError(
                "channels needs one number for each of one or more layers, strides as many or "
                f"none; you gave {self.channels!r} and {self.strides!r}."
            )
        object.__setattr__(self, "strides", tuple(strides))

    @property
    def inputs(self) -> int:
        """Numbers in a column."""
        return self.shape[0] * self.shape[1]

    def grids(self) -> list[tuple[int, int]]:
        """Height and width of the input and of every layer's image."""
        found = [(self.shape[0], self.shape[1])]
        for s in self.strides:
            high, wide = found[-1]
            found.append((-(-high // s), -(-wide // s)))
        return found

    def features(self) -> list[int]:
        """How many numbers every layer hands on for a sample."""
        return [c * h * w for c, (h, w) in zip(self.channels, self.grids()[1:], strict=True)]

    def shapes(self) -> list[tuple[tuple[int, ...], float]]:
        """As in torch: uniform on ±1/sqrt(fan_in), biases too."""
        found, before = [], 1
        for c in self.channels:
            fan = before * self.kernel[0] * self.kernel[1]
            found += [((c, fan), fan**-0.5), ((c, 1), fan**-0.5)]
            before = c
        return found + _head(self.features()[-1], self.outputs)

    def _patches(self, H: Tensor, layer: int) -> Tensor:
        """What each output pixel sees: (T, c·k·k, pixels, n) from features (T, c·pixels, n)."""
        (h, w), (kh, kw), s = self.grids()[layer], self.kernel, self.strides[layer]
        image = H.unflatten(1, (-1, h, w))
        image = F.pad(image, (0, 0, kw // 2, kw // 2, kh // 2, kh // 2))
        return _Windows.apply(image, self.kernel, s).flatten(4, 5).flatten(1, 3)

    def linear(self, W: Tensor, b: Tensor, H: Tensor, layer: int) -> Tensor:
        """Layer ``layer`` (from 0) before its activation: (T, features, n)."""
        return _affine(W, b, self._patches(H, layer)).flatten(1, 2)

    def matrix(self, W: Tensor, layer: int) -> Tensor:
        """The convolution of layer ``layer`` as the matrix (T, features out, features in) it is.

        Examples
        --------
        >>> net = Convolutional((1, 3), channels=(1,), kernel=(1, 3), outputs=1)
        >>> net.matrix(torch.tensor([[[1.0, 2.0, 3.0]]]), 0)[0].tolist()
        [[2.0, 3.0, 0.0], [1.0, 2.0, 3.0], [0.0, 1.0, 2.0]]
        """
        before = (1, *self.channels)[layer] * int(np.prod(self.grids()[layer]))
        units = torch.eye(before, dtype=W.dtype).expand(len(W), -1, -1)
        return self.linear(W, torch.zeros_like(W[..., :1]), units, layer)

    def forward(self, weights: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
        """Every layer's activations (T, features, n), and the output (T, outputs, n)."""
        act, H, layers = POINTWISE[self.activation], X, []
        for layer in range(len(self.channels)):
            H = act(self.linear(weights[2 * layer], weights[2 * layer + 1], H, layer))
            layers.append(H)
        return layers, _affine(weights[-2], weights[-1], H)


def _sequences(X: Tensor, tokens: int | str) -> Tensor:
    """Tokens (T, p, S, B): B sequences of S tokens with p numbers each, from X (T, m, n)."""
    if tokens == "samples":
        return X[..., None]
    return X.unflatten(1, (tokens, -1)).transpose(1, 2)


def _columns(H: Tensor, tokens: int | str) -> Tensor:
    """What a layer hands on for each sample, (T, features, n), from (T, d, S, B)."""
    if tokens == "samples":
        return H[..., 0]
    return H.transpose(1, 2).flatten(1, 2)


def _check_tokens(tokens: int | str, inputs: int) -> int:
    """Numbers in a token."""
    if tokens == "samples":
        return inputs
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1 or inputs % tokens:
        raise ValueError(
            f"tokens must be 'samples' or a whole number that divides inputs = {inputs}; "
            f"you gave {tokens!r}."
        )
    return inputs // tokens


def _places(tokens: int | str) -> int:
    """Tokens in a column; where the samples are the tokens, one."""
    return tokens if isinstance(tokens, int) else 1


@dataclass(frozen=True)
class Recurrent(_Network):
    r"""A stack of LSTM layers, then a linear map from what the last layer hands on.

    With gates i, f, o (sigmoids) and candidate g, a cell does :math:`c\leftarrow fc+ig`,
    :math:`h=o\,s(c)`, where :math:`g=s(\cdot)` and s is tanh in the usual LSTM.

    Parameters
    ----------
    inputs, width, outputs
        Numbers in a column, hidden units of every layer, width of the last linear map.
    activation, place
        ``place="inside"``: the activation is s. ``"after"``: s is tanh, and every layer's hidden
        states go through the activation before they are handed on.
    tokens
        See the module. With more than one token, ``read`` says what represents a sample: the
        hidden states of ``"all"`` tokens, or the ``"last"``.

    Raises
    ------
    ValueError
        If ``tokens`` does not divide ``inputs`` or a choice is unknown.

    Examples
    --------
    >>> net = Recurrent(6, width=4, layers=2, outputs=6, tokens=3)
    >>> layers, output = net.forward(net.init(trials=2), torch.ones(2, 6, 5))
    >>> [tuple(h.shape) for h in layers], tuple(output.shape)
    ([(2, 12, 5), (2, 12, 5)], (2, 6, 5))
    """

    inputs: int
    width: int
    layers: int
    outputs: int
    activation: str = "relu"
    place: str = "inside"
    tokens: int | str = 1
    read: str = "all"

    def __post_init__(self) -> None:
        _depth_and_width(self.layers, self.width, self.activation)
        choice(self.place, ("inside", "after"), "place")
        choice(self.read, ("all", "last"), "read")
        _check_tokens(self.tokens, self.inputs)

    def features(self) -> list[int]:
        """How many numbers every layer hands on for a sample."""
        many = _places(self.tokens) if self.read == "all" else 1
        return [self.width * many] * self.layers

    def shapes(self) -> list[tuple[tuple[int, ...], float]]:
        """As in torch: uniform on ±1/sqrt(width), gates in the order i, f, g, o."""
        h, size = self.width, self.width**-0.5
        found: list[tuple[tuple[int, ...], float]] = []
        before = _check_tokens(self.tokens, self.inputs)
        for _ in range(self.layers):
            found += [((4 * h, before), size), ((4 * h, h), size), ((4 * h, 1), size)]
            before = h
        return found + _head(self.features()[-1], self.outputs)

    def _layer(self, W: Tensor, R: Tensor, b: Tensor, H: Tensor) -> Tensor:
        """Hidden states (T, width, S, B) of one layer from its tokens (T, p, S, B)."""
        inside = POINTWISE[self.activation] if self.place == "inside" else torch.tanh
        driven = _affine(W, b, H)
        hidden = cell = driven.new_zeros(len(H), self.width, H.shape[3])
        states = []
        for step, drive in enumerate(driven.unbind(2)):
            gates = torch.baddbmm(drive, R, hidden) if step else drive
            i, f, g, o = gates.chunk(4, 1)
            cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * inside(g)
            hidden = torch.sigmoid(o) * inside(cell)
            states.append(hidden)
        return torch.stack(states, 2)

    def forward(self, weights: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
        """What every layer hands on (T, features, n), and the output (T, outputs, n)."""
        H, layers = _sequences(X, self.tokens), []
        for k in range(self.layers):
            W, R, b = weights[3 * k : 3 * k + 3]
            H = self._layer(W, R, b, H)
            if self.place == "after":
                H = POINTWISE[self.activation](H)
            whole_column = self.tokens == "samples" or self.read == "all"
            layers.append(_columns(H, self.tokens) if whole_column else H[:, :, -1])
        return layers, _affine(weights[-2], weights[-1], layers[-1])


@dataclass(frozen=True)
class Transformer(_Network):
    """A linear embedding of tokens, blocks of attention and feed-forward, then a linear map.

    A block is torch's: ``H = norm(H + attention(H))``, ``H = norm(H + W2 s(W1 H))``.

    Parameters
    ----------
    inputs, outputs
        Numbers in a column, width of the last linear map.
    width, heads, hidden
        Width of a token inside the network (a multiple of ``heads``), and of the feed-forward part
        (twice ``width`` unless given).
    tokens
        See the module.
    norm, residual
        Whether blocks have their layer norms and their skip connections.
    position
        Whether each place in a column has a learned vector added; never with ``"samples"``.

    Raises
    ------
    ValueError
        If ``tokens`` does not divide ``inputs``, ``heads`` not ``width``, or a choice is unknown.

    Examples
    --------
    >>> net = Transformer(6, width=4, layers=2, outputs=6, tokens=3, heads=2)
    >>> layers, output = net.forward(net.init(trials=2), torch.ones(2, 6, 5))
    >>> [tuple(h.shape) for h in layers], tuple(output.shape)
    ([(2, 12, 5), (2, 12, 5)], (2, 6, 5))
    """

    inputs: int
    width: int
    layers: int
    outputs: int
    activation: str = "relu"
    tokens: int | str = 1
    heads: int = 1
    hidden: int = 0
    norm: bool = True
    residual: bool = True
    position: bool = True

    def __post_init__(self) -> None:
        _depth_and_width(self.layers, self.width, self.activation)
        _check_tokens(self.tokens, self.inputs)
        if whole(self.heads, "heads", 1) > self.width or self.width % self.heads:
            raise ValueError(
                f"heads must divide width; you gave {self.heads} and width = {self.width}."
            )
        object.__setattr__(self, "hidden", self.hidden or 2 * self.width)

    def features(self) -> list[int]:
        """How many numbers every layer hands on for a sample."""
        return [self.width * _places(self.tokens)] * self.layers

    def shapes(self) -> list[tuple[tuple[int, ...], float]]:
        """As in torch: attention uniform ±sqrt(6/4d) with zero biases, linear maps ±1/sqrt(in)."""
        d, f, p = self.width, self.hidden, _check_tokens(self.tokens, self.inputs)
        found: list[tuple[tuple[int, ...], float]] = [
            ((d, p), p**-0.5),
            ((d, 1), p**-0.5),
            ((d, _places(self.tokens), 1), 0.02),
        ]
        for _ in range(self.layers):
            found += [((3 * d, d), (1.5 / d) ** 0.5), ((3 * d, 1), 0.0)]
            found += [((d, d), d**-0.5), ((d, 1), 0.0), ((d, 1), -1.0), ((d, 1), 0.0)]
            found += [((f, d), d**-0.5), ((f, 1), d**-0.5)]
            found += [((d, f), f**-0.5), ((d, 1), f**-0.5), ((d, 1), -1.0), ((d, 1), 0.0)]
        return found + _head(self.features()[-1], self.outputs)

    def attend(self, weights: Sequence[Tensor], H: Tensor) -> Tensor:
        """Attention (T, d, S, B) over the S tokens of each of B sequences, heads side by side."""
        W, b, out, out_b = weights
        parts = _affine(W, b, H).unflatten(1, (3, self.heads, -1))
        q, k, v = parts.unbind(1)  # (T, heads, d, S, B)
        if H.shape[2] > 8:
            q, k, v = (part.permute(0, 1, 4, 3, 2).flatten(0, 1) for part in (q, k, v))
            mixed = F.scaled_dot_product_attention(q, k, v)
            mixed = mixed.unflatten(0, (-1, self.heads)).permute(0, 1, 4, 3, 2)
        else:  # many short sequences: tiny products would cost more than whole arrays do
            scores = (q[:, :, :, :, None] * k[:, :, :, None]).sum(2) * q.shape[2] ** -0.5
            mixed = (scores.softmax(3)[:, :, None] * v[:, :, :, None]).sum(4)
        return _affine(out, out_b, mixed.flatten(1, 2))

    def _normed(self, H: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        if not self.norm:
            return H
        unit = F.layer_norm(H.movedim(1, -1), (self.width,)).movedim(-1, 1)
        return unit * scale[..., None] + shift[..., None]

    def _block(self, w: Sequence[Tensor], H: Tensor) -> Tensor:
        skip = float(self.residual)
        H = self._normed(skip * H + self.attend(w[:4], H), w[4], w[5])
        inner = POINTWISE[self.activation](_affine(w[6], w[7], H))
        return self._normed(skip * H + _affine(w[8], w[9], inner), w[10], w[11])

    def forward(self, weights: Sequence[Tensor], X: Tensor) -> tuple[list[Tensor], Tensor]:
        """What every block hands on (T, features, n), and the output (T, outputs, n)."""
        H = _affine(weights[0], weights[1], _sequences(X, self.tokens))
        if self.position and self.tokens != "samples":
            H = H + weights[2]
        layers = []
        for k in range(self.layers):
            H = self._block(weights[3 + 12 * k : 15 + 12 * k], H)
            layers.append(_columns(H, self.tokens))
        return layers, _affine(weights[-2], weights[-1], layers[-1])
