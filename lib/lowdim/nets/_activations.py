"""Pointwise activations: value, and product with the slope, into memory that is already there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

_aten = torch.ops.aten


@dataclass(frozen=True)
class Activation:
    """A pointwise function with its slope.

    ``function(z)`` is s(z) by functions that autograd can follow, in new memory.
    ``value(z, out)`` writes s(z) into ``out`` (which may be ``z`` itself if ``keeps_input`` is
    false) and ``chain(grad, z, h)`` multiplies ``grad`` in place by s'(z). Where ``keeps_input``
    is false the slope is read off h = s(z) alone and ``z`` is never looked at.

    Examples
    --------
    >>> tanh = activation("tanh")
    >>> tanh(torch.zeros(1, 2, 2)).sum().item()
    0.0
    """

    name: str
    function: Callable[[Tensor], Tensor]
    value: Callable[[Tensor, Tensor], object]
    chain: Callable[[Tensor, Tensor, Tensor], object]
    keeps_input: bool = False

    def __call__(self, z: Tensor) -> Tensor:
        """s(z) in new memory."""
        out = torch.empty_like(z)
        with torch.no_grad():
            self.value(z.detach(), out)
        return out

    def slope(self, z: Tensor) -> Tensor:
        """s'(z) in new memory."""
        grad = torch.ones_like(z)
        self.chain(grad, z.detach(), self(z))
        return grad


def _copy(z: Tensor, out: Tensor) -> None:
    if out.data_ptr() != z.data_ptr():
        out.copy_(z)


def leaky_relu(slope: float = 0.01) -> Activation:
    """The leaky ReLU: z where z is positive, ``slope`` · z elsewhere, ``slope`` not negative.

    Examples
    --------
    >>> leaky_relu(0.5)(torch.tensor([-2.0, 2.0])).tolist()
    [-1.0, 2.0]
    """
    if not 0 <= slope < float("inf"):
        raise ValueError(f"slope must be a finite number, 0 or more; you gave {slope!r}.")
    return Activation(
        "leaky_relu" if slope == 0.01 else f"leaky_relu({slope:g})",
        lambda z: functional.leaky_relu(z, slope),
        lambda z, out: _aten.leaky_relu.out(z, slope, out=out),
        lambda g, z, h: _aten.leaky_relu_backward.grad_input(g, h, slope, True, grad_input=g),
    )


ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation("identity", lambda z: z, _copy, lambda g, z, h: None),
    "relu": Activation(
        "relu",
        torch.relu,
        lambda z, out: torch.clamp(z, min=0, out=out),
        lambda g, z, h: _aten.threshold_backward.grad_input(g, h, 0, grad_input=g),
    ),
    "leaky_relu": leaky_relu(),
    "gelu": Activation(
        "gelu",
        functional.gelu,
        lambda z, out: _aten.gelu.out(z, out=out),
        lambda g, z, h: _aten.gelu_backward.grad_input(g, z, grad_input=g),
        keeps_input=True,
    ),
    "silu": Activation(
        "silu",
        functional.silu,
        lambda z, out: _aten.silu.out(z, out=out),
        lambda g, z, h: _aten.silu_backward.grad_input(g, z, grad_input=g),
        keeps_input=True,
    ),
    "tanh": Activation(
        "tanh",
        torch.tanh,
        lambda z, out: torch.tanh(z, out=out),
        lambda g, z, h: _aten.tanh_backward.grad_input(g, h, grad_input=g),
    ),
    "sigmoid": Activation(
        "sigmoid",
        torch.sigmoid,
        lambda z, out: torch.sigmoid(z, out=out),
        lambda g, z, h: _aten.sigmoid_backward.grad_input(g, h, grad_input=g),
    ),
}


def _from_callable(function: Callable[[Tensor], Tensor]) -> Activation:
    name = getattr(function, "__name__", type(function).__name__)

    def value(z: Tensor, out: Tensor) -> None:
        result = function(z)
        if not isinstance(result, Tensor) or result.shape != z.shape:
            got = tuple(result.shape) if isinstance(result, Tensor) else type(result).__name__
            raise ValueError(
                f"activation {name} must return a tensor of its input's shape {tuple(z.shape)}; "
                f"it returned {got}."
            )
        out.copy_(result)

    def chain(grad: Tensor, z: Tensor, h: Tensor) -> None:
        with torch.enable_grad():
            leaf = z.detach().requires_grad_()
            result = function(leaf)
            if not result.requires_grad:
                raise ValueError(
                    f"activation {name} has no slope that autograd can take; "
                    "write it with differentiable torch functions."
                )
            (product,) = torch.autograd.grad(result, leaf, grad)
        grad.copy_(product)

    return Activation(name, function, value, chain, keeps_input=True)


def activation(which: str | Activation | Callable[[Tensor], Tensor]) -> Activation:
    """The activation of that name, or one made of a pointwise torch function.

    Raises
    ------
    ValueError
        If the name is unknown or ``which`` cannot be called.

    Examples
    --------
    >>> activation(torch.sin).slope(torch.zeros(1)).item()
    1.0
    """
    if isinstance(which, Activation):
        return which
    if isinstance(which, str) and which in ACTIVATIONS:
        return ACTIVATIONS[which]
    if not isinstance(which, str) and callable(which):
        return _from_callable(which)
    raise ValueError(
        f"activation must be one of {', '.join(ACTIVATIONS)}, or a function of a tensor; "
        f"you gave {which!r}."
    )
