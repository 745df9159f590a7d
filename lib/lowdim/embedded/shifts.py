r"""What a shift off the data does to ReLU neurons on the cube :math:`\Omega=(-1,1)^d`.

A neuron :math:`\alpha(t)`, :math:`t=w\cdot x+b`, is shifted to :math:`\alpha(t+s)`.
:func:`measured` has the change exactly and the terms of its bounds, :func:`two_signs` adds up the
bounds of many neurons, and :class:`Strip` is the drawing of the proof: the strip in which a neuron
switches, inside a cylinder over the shadow of the square.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lowdim.embedded import offdata

__all__ = ["Measured", "Strip", "measured", "random_neurons", "single", "two_signs"]


def random_neurons(count: int, rng: np.random.Generator, *, d: int) -> dict[str, Tensor]:
    """Weights w (B, d), biases b (B,) and shifts s (B,) of both signs, over three decades.

    Examples
    --------
    >>> case = random_neurons(200, np.random.default_rng(0), d=2)
    >>> case["w"].shape, bool((case["s"] > 0).any() and (case["s"] < 0).any())
    (torch.Size([200, 2]), True)
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(np.asarray(rng.standard_normal((count, *shape))))

    scale = torch.from_numpy(10 ** rng.uniform(-2, 1, count))
    return {"w": normal(d), "b": normal(), "s": scale * normal()}


def single(w: list[float], b: float, s: float) -> dict[str, Tensor]:
    """One neuron as a case of one instance.

    Examples
    --------
    >>> {name: tuple(value.shape) for name, value in single([1.0, 0.0], 0.0, 1.0).items()}
    {'w': (1, 2), 'b': (1,), 's': (1,)}
    """
    values = {"w": w, "b": b, "s": s}
    return {name: torch.tensor([v], dtype=torch.float64) for name, v in values.items()}


@dataclass(frozen=True)
class Measured:
    """Shifted neurons with output weight one; every tensor has the shape (...) of their shifts."""

    shift: offdata.Shift
    s: Tensor
    size: Tensor
    d: int

    @property
    def change(self) -> Tensor:
        """The squared norm of α(t + s) - α(t) over Ω."""
        return self.shift.total

    @property
    def first(self) -> Tensor:
        """s²|{t > 0}|."""
        return self.s.square() * self.shift.active

    @property
    def strip(self) -> Tensor:
        """|s|³/(3‖w‖)."""
        return self.s.abs() ** 3 / (3 * self.size)

    @property
    def rest(self) -> Tensor:
        """s₊²|{t ≤ 0}|."""
        return self.s.clamp_min(0).square() * (2.0**self.d - self.shift.active)

    @property
    def printed(self) -> Tensor:
        """The bound of Lemma 3.2, with C the largest slice of the cube."""
        return self.first + offdata.largest_section(self.d) * self.strip

    @property
    def one_sided(self) -> Tensor:
        """The bound with a strip only for s > 0, and no more of it than there is room."""
        strip = torch.where(self.s > 0, offdata.largest_section(self.d) * self.strip, 0.0)
        return self.first + torch.minimum(strip, self.rest)


def measured(w: Tensor, b: Tensor, s: Tensor) -> Measured:
    """The change and the terms of its bounds for weights (..., d), biases and shifts (...).

    Examples
    --------
    >>> one = torch.ones(1, 1, dtype=torch.float64)  # t = x, s = 1: 1 + 1/3, attained
    >>> q = measured(one, 0 * one[0], one[0])
    >>> [round(v.item(), 9) for v in (q.change, q.printed, q.one_sided)]
    [1.333333333, 1.333333333, 1.333333333]
    """
    d = w.shape[-1]
    shift = offdata.neuron_shift(w.reshape(-1, d), b.reshape(-1), s.reshape(-1))
    parts = (part.view_as(s) for part in (shift.active, shift.plus, shift.minus))
    return Measured(offdata.Shift(*parts), s, w.norm(dim=-1), d)


def two_signs(bounds: Tensor, push: Tensor) -> Tensor:
    """(Σ √B)² over the neurons that push up, plus the same over those that push down, (...).

    ``bounds`` (..., n) are those of the single neurons; ``push`` (..., n) has the signs of their
    changes.

    Examples
    --------
    >>> two_signs(torch.tensor([[1.0, 4.0, 9.0]]), torch.tensor([[1.0, 1.0, -1.0]])).item()
    18.0
    """
    up, down = (
        torch.where(side, bounds, 0.0).sqrt().sum(-1).square() for side in (push > 0, push < 0)
    )
    return up + down


@dataclass(frozen=True)
class Strip:
    """A neuron on the square, α(w·x + b), and a shift s > 0 that switches it on in a strip."""

    weight: tuple[float, float]
    bias: float
    shift: float

    @cached_property
    def w(self) -> Tensor:
        """The weight as a row (1, 2)."""
        return torch.tensor([self.weight], dtype=torch.float64)

    @property
    def size(self) -> float:
        """‖w‖."""
        return float(self.w.norm())

    @property
    def normal(self) -> Tensor:
        """The unit vector (2,) across the strip."""
        return self.w[0] / self.size

    @property
    def along(self) -> Tensor:
        """The unit vector (2,) along the strip."""
        return torch.stack([-self.w[0, 1], self.w[0, 0]]) / self.size

    @property
    def half(self) -> float:
        """Half the shadow of the square on the strip's edge."""
        return float(offdata.shadow(self.w)) / 2

    @property
    def edges(self) -> tuple[float, float]:
        """Where on the normal the neuron's edge is before and after the shift."""
        return -self.bias / self.size, -(self.bias + self.shift) / self.size

    @property
    def box_area(self) -> float:
        """Area of the rectangle over the shadow."""
        return 2 * self.half * self.shift / self.size

    @property
    def box_integral(self) -> float:
        """The squared change, integrated over the rectangle."""
        return 2 * self.half * self.shift**3 / (3 * self.size)

    @property
    def area(self) -> float:
        """Area of the strip in the square.

        Examples
        --------
        >>> round(Strip((1.0, 0.0), 0.0, 0.5).area, 9)  # 2 · 1/2
        1.0
        """
        b, s = self.bias, self.shift
        kinks = torch.tensor([[-b, -b - s]], dtype=torch.float64)

        def inside(t: Tensor) -> Tensor:
            return ((t + b <= 0) & (t + b + s >= 0)).double()

        return float(offdata.ridge_integral(self.w, inside, kinks))

    @property
    def integral(self) -> float:
        """The squared change, integrated over the strip in the square."""
        return float(offdata.neuron_shift(self.w, [self.bias], [self.shift]).minus)

    def grid(self) -> tuple[Tensor, Tensor, Tensor]:
        """Coordinates x and y (81, 81) of the square, and t there.

        Examples
        --------
        >>> Strip((1.0, 0.0), 0.0, 0.5).grid()[2][0, [0, 80]].tolist()
        [-1.0, 1.0]
        """
        axis = torch.linspace(-1, 1, 81).double()
        x, y = torch.meshgrid(axis, axis, indexing="xy")
        return x, y, self.w[0, 0] * x + self.w[0, 1] * y + self.bias

    @property
    def contained(self) -> bool:
        """Whether the strip lies in the rectangle, at the points of the grid."""
        x, y, t = self.grid()
        switched = (t <= 0) & (t + self.shift >= 0)
        points = torch.stack([x[switched], y[switched]])
        return bool(((self.along @ points).abs() <= self.half + 1e-12).all())
