r"""Part III on any layer: how fast its values change normal to the data, and along them.

The data's principal subspace stands for the plane that the data lie in. At points x of a sample and
for random unit vectors u normal to it, the derivative :math:`J_l(x)u` of each layer is taken by
forward-mode differentiation, all layers in one pass, and again by central differences; a step of
the data's own size is the change :math:`f(x+su)-f(x)` of :func:`lowdim.embedded.offdata.stability`.
"""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor, nn

from lowdim.instruments import capture, sources
from lowdim.instruments.capture import Call, Tap
from lowdim.instruments.numbers import Number, jackknife, missing
from lowdim.instruments.refusal import Unmeasurable
from lowdim.seeds import generator

__all__ = ["derivatives", "moves", "sensitivity_numbers", "tangent_space"]

PIECE = 256  # points in one pass
ROOM = 1 << 24  # values of all taps that are held at once, where they are so many


def tangent_space(centred: Tensor, *, explained: float) -> Tensor:
    """Basis (p, d) of the principal subspace of a covariance (p, p) with a share of its trace.

    Examples
    --------
    >>> tangent_space(torch.diag(torch.tensor([9.0, 0.5, 0.1])), explained=0.9).shape
    torch.Size([3, 1])
    """
    values, vectors = torch.linalg.eigh(centred)
    values, vectors = values.flip(0).clamp_min(0), vectors.flip(1)
    share = values.cumsum(0) / values.sum().clamp_min(1e-300)
    d = int((share < explained - 1e-12).sum()) + 1
    return vectors[:, : min(d, len(values))]


def _replaced(inputs: Any, x: Tensor) -> Any:
    """Inputs whose first tensor of real numbers is ``x``."""
    done = [False]

    def change(tree: Any) -> Any:
        if isinstance(tree, Tensor):
            if done[0] or not tree.is_floating_point():
                return tree
            done[0] = True
            return x
        if isinstance(tree, Mapping):
            return {k: change(v) for k, v in tree.items()}
        return tuple(change(v) for v in tree) if isinstance(tree, tuple | list) else tree

    return change(inputs)


def _values(
    model: nn.Module, taps: tuple[Tap, ...], inputs: Any, how: Call, n: int
) -> dict[int, Tensor]:
    """Each tap's matrix (n, width), as it comes."""
    found: dict[int, Tensor] = {}
    with capture.watch(model, taps, lambda i, H: found.__setitem__(i, 1 * H)) as begin:
        begin(n)
        for i, tap in enumerate(taps):
            if tap.side == "data":
                found[i] = 1 * capture.matrix(tap, sources.tensors(inputs)[tap.call], n)
        how(model, inputs)
    return found


def _pieces(inputs: Any, *more: Tensor) -> Iterator[tuple[Any, ...]]:
    count = len(more[0])
    for start in range(0, count, PIECE):
        at = torch.arange(start, min(start + PIECE, count))
        yield (sources.take(inputs, at), *(m[at] for m in more))


def moves(
    model: nn.Module, taps: tuple[Tap, ...], inputs: Any, steps: Tensor, *, how: Call = capture.call
) -> dict[int, Tensor]:
    """Change (n, width) of each tap when ``steps`` (n, ...) are added to the inputs.

    ``inputs`` are a batch whose first tensor of real numbers is moved. In the model's precision.

    Examples
    --------
    >>> model, x = nn.Linear(2, 1, bias=False), torch.zeros(3, 2)
    >>> _ = nn.init.ones_(model.weight)
    >>> moves(model, capture.plan(model, x).taps[1:], x, torch.ones(3, 2))[0].flatten().tolist()
    [2.0, 2.0, 2.0]
    """
    found: dict[int, list[Tensor]] = {}
    with torch.no_grad(), capture.eager():
        for part, step in _pieces(inputs, steps):
            x = next(t for t in sources.tensors(part) if t.is_floating_point())
            there = _replaced(part, x + step)  # before the model may write into x
            on = _values(model, taps, part, how, len(step))
            off = _values(model, taps, there, how, len(step))
            for i in on:
                found.setdefault(i, []).append(off[i].double() - on[i].double())
    return {i: torch.cat(parts) for i, parts in found.items()}


def derivatives(
    model: nn.Module, taps: tuple[Tap, ...], inputs: Any, along: Tensor, *, how: Call = capture.call
) -> dict[int, Tensor]:
    """Derivative (n, width) of each tap in the directions ``along`` (n, ...), in forward mode.

    Kernels that have no forward mode (fused attention, fused recurrent cells) are switched off
    meanwhile.

    Raises
    ------
    NotImplementedError, RuntimeError
        If an operation of the model cannot be differentiated forwards.

    Examples
    --------
    >>> model, x = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()), torch.zeros(1, 2)
    >>> _ = nn.init.ones_(model[0].weight), nn.init.zeros_(model[0].bias)
    >>> derivatives(model, capture.plan(model, x).taps[1:], x, torch.ones(1, 2))[1].item()
    0.5
    """
    found: dict[int, list[Tensor]] = {}
    with torch.no_grad(), capture.eager(), _plain_kernels():
        for part, step in _pieces(inputs, along):
            x = next(t for t in sources.tensors(part) if t.is_floating_point())
            with forward_ad.dual_level():
                dual = _replaced(part, _dual(x, step.to(x.dtype)))
                values = _values(model, taps, dual, how, len(step))
                for i, value in values.items():
                    slope = forward_ad.unpack_dual(value).tangent
                    slope = torch.zeros_like(value) if slope is None else slope
                    found.setdefault(i, []).append(slope.double().clone())
    return {i: torch.cat(parts) for i, parts in found.items()}


def _dual(x: Tensor, along: Tensor) -> Tensor:
    """A dual number, without the scripts that torch would compile at the first one.

    They are rules for derivatives of derivatives, which nothing here takes, and seconds of work
    that a recorder would be charged with.
    """
    kept = os.environ.get("PYTORCH_JIT")
    os.environ["PYTORCH_JIT"] = "0"
    try:
        return forward_ad.make_dual(x, along)
    finally:
        if kept is None:
            del os.environ["PYTORCH_JIT"]
        else:
            os.environ["PYTORCH_JIT"] = kept


@contextlib.contextmanager
def _plain_kernels() -> Iterator[None]:
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    math_only = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*TF32.*")  # torch, of its own switch
            with torch.backends.mkldnn.flags(enabled=False), math_only:
                yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def sensitivity_numbers(
    model: nn.Module,
    taps: tuple[Tap, ...],
    inputs: Any,
    basis: Tensor | None,
    *,
    how: Call = capture.call,
    directions: int = 4,
    seed: int = 0,
) -> list[dict[str, Number]]:
    """Numbers of Part III at each tap from a sample of inputs and the tangent basis (p, d).

    Examples
    --------
    >>> model, x = nn.Linear(2, 1, bias=False), torch.zeros(5, 2)
    >>> _ = nn.init.constant_(model.weight, 3.0)
    >>> basis = torch.tensor([[1.0], [0.0]]).double()
    >>> found = sensitivity_numbers(model, capture.plan(model, x).taps, x, basis)
    >>> round(found[-1]["normal"].value, 6)
    3.0
    """
    names = ("normal", "along", "ratio", "normal_step", "far")
    real = [t for t in sources.tensors(inputs) if t.is_floating_point()]
    why = ""
    if not real:
        why = "the inputs are whole numbers, along which there is no derivative"
    elif basis is None:
        why = "the data's principal subspace is not known"
    elif basis.shape[1] >= basis.shape[0]:
        why = "the data fill their space: no direction is normal to them"
    if why or basis is None:
        return [dict.fromkeys(names, missing(why, "inputs of real numbers")) for _ in taps]
    x = real[0]
    n, shape = len(x), tuple(x.shape[1:])
    flat = x.detach().double().cpu().flatten(1)
    size = float((flat - flat.mean(0)).square().sum(1).mean().sqrt()) or 1.0
    many = sources.take(inputs, torch.arange(n).repeat_interleave(directions))
    point = torch.arange(n).repeat_interleave(directions)
    rng = generator(seed, 0, "directions")
    noise = torch.from_numpy(rng.standard_normal((n * directions, flat.shape[1])))
    inside = noise @ basis @ basis.mT
    units = {"normal": noise - inside, "along": inside}
    shaped = {
        name: (u / u.norm(dim=1, keepdim=True)).reshape(-1, *shape).to(x.device, x.dtype)
        for name, u in units.items()
    }
    usable = tuple(t for t in taps if not t.nested)
    found, refused = _squares(model, usable, many, shaped, size, how)
    index = {t.name: i for i, t in enumerate(usable)}
    out = []
    for tap in taps:
        if tap.nested:
            short = missing("its points have lengths of their own", "inputs of one shape")
            out.append(dict.fromkeys(names, short))
            continue
        squares = {name: values[index[tap.name]] for name, values in found.items()}
        numbers = {
            "normal_step": _rms(squares["half"], point, n, off=squares["halving"]),
            "far": _rms(squares["far"], point, n),
        }
        if refused:
            numbers |= dict.fromkeys(("normal", "along", "ratio"), missing(refused))
        else:
            numbers["normal"] = _rms(squares["normal"], point, n, off=squares["both_ways"])
            numbers["along"] = _rms(squares["along"], point, n)
            numbers["ratio"] = _ratio(squares["normal"], squares["along"], point, n)
        out.append(numbers)
    return out


def _squares(
    model: nn.Module,
    taps: tuple[Tap, ...],
    inputs: Any,
    units: Mapping[str, Tensor],
    size: float,
    how: Call,
) -> tuple[dict[str, list[Tensor]], str]:
    """Squared lengths (n,) of changes at each tap, and why there is no derivative, if so.

    half: of the central difference at the shorter step; halving: of what the longer step changes
    in it; far: of a step of length ``size``; normal, along: of derivatives; both_ways: of the
    difference of derivative and central difference. A few points at a time, so that wide layers
    are not held for all of them.
    """
    u = units["normal"]
    # the step at which the error of a central difference and rounding are about as large
    h = torch.finfo(u.dtype).eps ** (1 / 3) * max(size, 1e-3)
    few = max(1, min(PIECE, ROOM // max(1, sum(t.width for t in taps))))
    found: dict[str, list[list[Tensor]]] = {}
    refused = ""

    def keep(name: str, values: list[Tensor]) -> None:
        lines = found.setdefault(name, [[] for _ in taps])
        for line, value in zip(lines, values, strict=True):
            line.append(value.square().sum(1))

    for at in torch.arange(len(u)).split(few):
        part = sources.take(inputs, at)
        x = next(t for t in sources.tensors(part) if t.is_floating_point()).clone()
        there = lambda step, part=part, x=x: _values(  # noqa: E731
            model, taps, _replaced(sources.take(part, torch.arange(len(x))), x + step), how, len(x)
        )
        with torch.no_grad(), capture.eager():
            slopes = []
            for step in (h, h / 2):
                up, down = there(step * u[at]), there(-step * u[at])
                slopes.append([_over(up[i], down[i], 2 * step) for i in range(len(taps))])
            on, away = there(0), there(size * u[at])
        keep("half", slopes[1])
        keep("halving", [a - b for a, b in zip(*slopes, strict=True)])
        keep("far", [_over(away[i], on[i], 1.0) for i in range(len(taps))])
        if refused:
            continue
        try:
            for name, direction in units.items():
                got = derivatives(model, taps, part, direction[at], how=how)
                keep(name, [got[i] for i in range(len(taps))])
                if name == "normal":
                    keep("both_ways", [got[i] - slopes[1][i] for i in range(len(taps))])
        except (NotImplementedError, RuntimeError, Unmeasurable) as error:
            short = str(error).split(". ")[0][:90]
            refused = f"automatic differentiation is not possible here: {short}"
    whole = {name: [torch.cat(line) for line in lines] for name, lines in found.items()}
    return whole, refused


def _over(top: Tensor, below: Tensor, by: float) -> Tensor:
    return (top.double() - below.double()) / by


NEEDS = ("inputs of real numbers", "a tangent space", "a sample")


def _rms(squares: Tensor, point: Tensor, n: int, *, off: Tensor | None = None) -> Number:
    """Root of the mean of squared lengths (n k,); ``off``: those of how far another way is."""
    value = float(squares.mean().sqrt())
    low, high = jackknife(value, [math.sqrt(m) for m in _means(squares, point, n)], least=0.0)
    error = None if off is None else float(off.mean().sqrt())
    return Number(value, low, high, error, n, NEEDS)


def _means(squares: Tensor, point: Tensor, n: int) -> list[float]:
    """Means over the points without one of ten groups of them."""
    group, groups = point % 10, min(10, n)
    zeros = torch.zeros(groups, dtype=torch.float64)
    sums = zeros.index_add(0, group, squares)
    counts = torch.bincount(group, minlength=groups)
    left = squares.sum() - sums
    return (left.clamp_min(0) / (len(squares) - counts)).tolist()


def _ratio(a: Tensor, b: Tensor, point: Tensor, n: int) -> Number:
    if float(b.sum()) <= 0:
        return missing("it does not change along the data")
    both = lambda top, below: math.sqrt(top / max(below, 1e-300))  # noqa: E731
    value = both(float(a.mean()), float(b.mean()))
    without = map(both, _means(a, point, n), _means(b, point, n))
    low, high = jackknife(value, list(without), least=0.0)
    return Number(value, low, high, None, n, NEEDS)
