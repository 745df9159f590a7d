"""Instances for attacks on what is said of noisy inputs: how to draw them, and edges.

Each function returns the samplers of a case, by name, and its named edge cases.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim.embedded.two_hidden import lone_neuron
from lowdim.evidence.attacks import Case, Sampler, normal, uniform

__all__ = ["bent", "counts", "in_range", "kinks", "moments", "networks", "pairs", "waves"]

Instances = tuple[dict[str, Sampler], dict[str, Case]]


def _case(**values: object) -> dict[str, Tensor]:
    """One instance, with its leading axis."""
    return {name: torch.as_tensor(np.asarray(value, float))[None] for name, value in values.items()}


def pairs() -> Instances:
    """h and d (B, 4): two functions at four points.

    Examples
    --------
    >>> sorted(pairs()[0]), list(pairs()[1])
    (['d', 'h'], ['1 and 1'])
    """
    return {"h": normal(4), "d": normal(4)}, {"1 and 1": _case(h=[1], d=[1])}


def bent() -> Instances:
    """x, e (B, 4): points and their noise; v, k (B, 4): weights and kinks of a sum of neurons.

    Examples
    --------
    >>> list(bent()[0])
    ['x', 'e', 'v', 'k']
    """
    straight: dict[str, Case] = {"g = x": _case(x=[1], e=[1], v=[1], k=[0])}
    return {name: normal(4) for name in "xevk"}, straight


def counts() -> Instances:
    """n (B,), a number of points from 1 to 10⁷, and u (B,), uniform.

    Examples
    --------
    >>> float(counts()[0]["n"](1, np.random.default_rng(0)).clamp(1, 1e7)) > 1
    True
    """
    return {"n": uniform(low=0, high=7).map(lambda power: 10**power), "u": uniform()}, {}


def kinks() -> Instances:
    """c, k (B, 3): a sum of c|x - k|; s (B,), the logarithm of the noise.

    Examples
    --------
    >>> list(kinks()[1])
    ['|x|, σ = 0.01']
    """
    draw = {"c": normal(3), "k": 0.7 * normal(3), "s": uniform(low=-5, high=0.5)}
    return draw, {"|x|, σ = 0.01": _case(c=[1], k=[0], s=np.log(0.01))}


def waves() -> Instances:
    """a, b (B, 3): a sum of a sin(jπx/2 + b); s (B,), the logarithm of the noise, 0.03 to 3.

    Examples
    --------
    >>> list(waves()[0])
    ['a', 'b', 's']
    """
    return {"a": normal(3), "b": normal(3), "s": uniform(low=np.log(0.03), high=np.log(3))}, {}


def in_range(free: Case) -> Case:
    """The case with its logarithm of the noise, s, cut to where quadrature is sure.

    Examples
    --------
    >>> in_range({"s": torch.tensor([9.0])})["s"].tolist()
    [1.5]
    """
    return {**free, "s": free["s"].clamp(np.log(0.03), 1.5)}


def moments() -> Instances:
    """M (B, 3, 3), a root of the moments; v (B, 3), weights; s (B, 1), the logarithm of the noise.

    Examples
    --------
    >>> moments()[1]["tiny σ"]["M"].shape
    torch.Size([1, 3, 3])
    """
    middle = 0.5 * torch.eye(3, dtype=torch.float64)
    draw = {"M": normal(3, 3).map(lambda M: M + middle), "v": normal(3), "s": normal(1)}
    return draw, {"tiny σ": _case(M=np.eye(3), v=[1, 0, 0], s=[-8])}


def networks() -> Instances:
    """Two hidden layers of three neurons, six points x with noise e and values g, s = log σ.

    Examples
    --------
    >>> list(networks()[0])
    ['A', 'a', 'B', 'C', 'x', 'e', 'g', 's']
    """
    layers = {"A": normal(3, 2), "a": normal(3, 1), "B": normal(3, 3), "C": normal(1, 3)}
    points = {"x": normal(1, 6), "e": normal(2, 6), "g": normal(1, 6), "s": normal()}
    return {**layers, **points}, {"one neuron, equal y": lone_neuron()}
