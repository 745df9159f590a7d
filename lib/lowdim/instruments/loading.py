"""A model from a Python file, its checkpoint, and data by name or from a file: for reports.

Running a model file runs its code: only files that are trusted should be named. A checkpoint is
read with ``weights_only``, so that it cannot run any.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lowdim.data import images
from lowdim.instruments import capture
from lowdim.instruments.refusal import Unmeasurable
from lowdim.instruments.untouched import untouched
from lowdim.seeds import generator

__all__ = ["Data", "checkpoint", "data", "factory", "made"]


@dataclass(frozen=True)
class Data:
    """train, held_out: (inputs, labels) or inputs, held_out None if there is none; name."""

    train: Any
    held_out: Any
    name: str


def factory(text: str) -> Callable[[], nn.Module]:
    """The function that ``MODEL.py:make_model`` names, after running that file.

    Raises
    ------
    Unmeasurable
        If the text has no such form, the file is not there or does not import, or the name is not
        a function that can be called without arguments.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as at:
    ...     file = Path(at, "net.py")
    ...     _ = file.write_text("from torch import nn\\ndef make():\\n    return nn.ReLU()")
    ...     print(factory(f"{file}:make")())
    ReLU()
    """
    file, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier() or not file.endswith(".py"):
        raise Unmeasurable(
            f"A model is named FILE.py:FUNCTION, as in net.py:make_model; you gave {text!r}."
        )
    path = Path(file)
    if not path.is_file():
        raise Unmeasurable(f"There is no file {file}.")
    spec = importlib.util.spec_from_file_location(f"lowdim_model_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        said = " ".join(str(error).split())[:160]
        raise Unmeasurable(f"{file} does not import: {type(error).__name__}: {said}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    made = getattr(module, name, None)
    if not callable(made):
        known = [n for n, v in vars(module).items() if inspect.isfunction(v) and n[0] != "_"]
        raise Unmeasurable(f"{file} has no function {name}; it has {', '.join(known) or 'none'}.")
    return made


def made(make: Callable[[], nn.Module], text: str) -> nn.Module:
    """The model that a factory makes.

    Raises
    ------
    Unmeasurable
        If it needs arguments, raises, or returns no module.

    Examples
    --------
    >>> made(lambda: nn.Linear(2, 1), "net.py:make_model").out_features
    1
    """
    try:
        needed = [
            p.name
            for p in inspect.signature(make).parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
    except (TypeError, ValueError):
        needed = []
    if needed:
        raise Unmeasurable(
            f"{text} needs arguments ({', '.join(needed)}), and is called without any; "
            "give them defaults, or name a function that needs none."
        )
    try:
        model = make()
    except Exception as error:
        said = " ".join(str(error).split())[:160]
        raise Unmeasurable(f"{text} raised {type(error).__name__}: {said}") from error
    if not isinstance(model, nn.Module):
        raise Unmeasurable(f"{text} returned {type(model).__name__}, not a torch.nn.Module.")
    return model


def checkpoint(model: nn.Module, path: Path) -> None:
    """Load weights into ``model`` from a file, with ``weights_only``.

    A dictionary under ``state_dict`` or ``model`` is taken where there is one.

    Raises
    ------
    Unmeasurable
        If the file is not there, holds more than weights, or does not fit the model.

    Examples
    --------
    >>> import tempfile
    >>> one, two = nn.Linear(2, 1), nn.Linear(2, 1)
    >>> with tempfile.TemporaryDirectory() as at:
    ...     torch.save(one.state_dict(), Path(at, "net.pt"))
    ...     checkpoint(two, Path(at, "net.pt"))
    >>> torch.equal(one.weight, two.weight)
    True
    """
    if not path.is_file():
        raise Unmeasurable(f"There is no checkpoint {path}.")
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise Unmeasurable(
            f"{path} is no checkpoint of weights only: {type(error).__name__}; "
            "save it as torch.save(model.state_dict(), FILE)."
        ) from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(held, dict) and isinstance(held.get(key), dict):
            held = held[key]
            break
    if not isinstance(held, dict) or not all(isinstance(v, Tensor) for v in held.values()):
        raise Unmeasurable(f"{path} holds {type(held).__name__}, not weights by name.")
    own = model.state_dict()
    lacking, strange = sorted(set(own) - set(held)), sorted(set(held) - set(own))
    wrong = [k for k in own if k in held and own[k].shape != held[k].shape]
    if lacking or strange or wrong:
        parts = []
        if lacking:
            parts.append(f"it lacks {lacking[0]} ({len(lacking)} in all)")
        if strange:
            parts.append(f"it has {strange[0]} ({len(strange)} in all), which the model lacks")
        if wrong:
            k = wrong[0]
            parts.append(f"{k} is {tuple(held[k].shape)} and should be {tuple(own[k].shape)}")
        raise Unmeasurable(f"{path} does not fit the model: {'; '.join(parts)}.")
    model.load_state_dict(held)


def data(name: str, model: nn.Module, *, points: int = 2000, seed: int = 0) -> Data:
    """Data by the name of a set, or from a file ``.npz`` with x, y and perhaps x_test, y_test.

    Images of a named set are tried as (n, channels, side, side) and then as vectors.

    Raises
    ------
    Unmeasurable
        If there is no such set or file, a file lacks x, or no shape of the images fits the model.

    Examples
    --------
    >>> data("digits", nn.Flatten(), points=50).train[0].shape
    torch.Size([40, 1, 8, 8])
    """
    if name.endswith(".npz"):
        return _from_file(Path(name))
    if name not in images.names():
        raise Unmeasurable(
            f"There is no data set {name!r}; there are {', '.join(images.names())}, "
            "or give a file FILE.npz with x and y."
        )
    try:
        found = images.load(name)
    except Exception as error:
        raise Unmeasurable(f"{name} is not at hand: {' '.join(str(error).split())}") from error
    order = generator(seed, 0, "report").permutation(len(found.labels))[:points]
    x = torch.from_numpy(found.images[order]).float() / 255
    x = x[:, None] if x.ndim == 3 else x.permute(0, 3, 1, 2)
    y = torch.from_numpy(found.labels[order].astype(np.int64))
    x = _fitting(model, [x.contiguous(), x.flatten(1)], name)
    cut = max(1, len(y) * 4 // 5)
    return Data((x[:cut], y[:cut]), (x[cut:], y[cut:]), name)


def _fitting(model: nn.Module, shapes: list[Tensor], name: str) -> Tensor:
    plain = capture.plain_model(model)
    place = next((p for p in plain.parameters() if p.is_floating_point()), None)
    said = ""
    for x in shapes:
        few = x[:2].clone() if place is None else x[:2].to(place.device, place.dtype, copy=True)
        try:
            with untouched(plain), torch.no_grad(), capture.eager():
                plain.eval()
                plain(few)
            return x
        except Exception as error:
            said = " ".join(str(error).split())[:120]
    tried = " and ".join(str((*("n",), *x.shape[1:])) for x in shapes)
    raise Unmeasurable(f"The model takes {name} in neither shape, {tried}: {said}.")


def _from_file(path: Path) -> Data:
    if not path.is_file():
        raise Unmeasurable(f"There is no file {path}.")
    try:
        with np.load(path, allow_pickle=False) as file:
            held = {key: file[key] for key in file.files}
    except Exception as error:
        raise Unmeasurable(f"{path} is damaged or no .npz file: {type(error).__name__}.") from error
    if "x" not in held:
        raise Unmeasurable(
            f"{path} needs an array x of inputs; it has {', '.join(held) or 'none'}."
        )
    train: Any = (held["x"], held["y"]) if "y" in held else held["x"]
    test: Any = None
    if "x_test" in held:
        test = (held["x_test"], held["y_test"]) if "y_test" in held else held["x_test"]
    return Data(train, test, path.name)
