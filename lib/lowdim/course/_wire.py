"""Plain values as bytes, and back: numbers, text, lists, dictionaries, arrays, and nothing else.

Answers of students cross the wall of the jail in this form. Whoever decodes it trusts nothing: a
message is a header in JSON and the bytes of its arrays, and both are bounded before they are read.
There is no pickle, no zip and no class of anyone's making. This file is also used inside the jail,
where it stands alone, so it imports numpy and the standard library only.
"""

from __future__ import annotations

import json
import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np

MAGIC = b"LDW1"
LIMIT = 1 << 24  # bytes of a message
DEPTH = 12  # of lists in lists
NODES = 20_000
DIGITS = 4_000  # of a whole number
DTYPES = {"b": "|b1", "i": "<i8", "u": "<u8", "f": "<f8", "c": "<c16"}


class WireError(ValueError):
    """What is no message, or too large a one; or a value that has no form here."""


def encode(value: Any, *, limit: int = LIMIT) -> bytes:
    """The message of at most ``limit`` bytes that :func:`decode` reads.

    Numbers keep every bit; arrays (of any shape) become double, complex, int64, uint64 or bool.

    Raises
    ------
    WireError
        If the value is too large or too deep, or holds anything but numbers, text, None, lists,
        tuples, dictionaries with text as keys, fractions and arrays of numbers.

    Examples
    --------
    >>> decode(encode({"P": np.eye(2), "r": (1, 0.5)}))
    {'P': array([[1., 0.],
           [0., 1.]]), 'r': (1, 0.5)}
    """
    writer = _Writer(limit)
    header = json.dumps(writer.tree(value, 0), separators=(",", ":")).encode()
    message = b"".join([MAGIC, struct.pack("<I", len(header)), header, *writer.buffers])
    if len(message) > limit:
        raise WireError(f"the value needs {len(message)} bytes; {limit} are allowed.")
    return message


class _Writer:
    def __init__(self, limit: int) -> None:
        self.left = limit
        self.nodes = 0
        self.buffers: list[bytes] = []

    def tree(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > DEPTH or self.nodes > NODES:
            raise WireError(f"the value is nested deeper than {DEPTH}, or has over {NODES} items.")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if value.bit_length() > 3 * DIGITS:  # never more than DIGITS, which int() would read
                raise WireError(f"a whole number has more than {DIGITS} digits.")
            return {"i": str(int(value))}
        if isinstance(value, float):
            return {"f": float(value).hex()}
        if isinstance(value, str):
            if len(value) > self.left:
                raise WireError("a text is too long.")
            return {"s": str(value)}
        if isinstance(value, Fraction):
            return {"q": [self.tree(value.numerator, depth), self.tree(value.denominator, depth)]}
        if isinstance(value, list | tuple):
            items = [self.tree(item, depth + 1) for item in value]
            return {"t" if isinstance(value, tuple) else "l": items}
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise WireError("the keys of a dictionary must be text.")
            return {"d": [[str(key), self.tree(item, depth + 1)] for key, item in value.items()]}
        return self.array(value)

    def array(self, value: Any) -> Any:
        if type(value).__module__.partition(".")[0] == "torch":
            value = value.detach().cpu().resolve_conj().resolve_neg().numpy()
        if not isinstance(value, np.ndarray | np.generic):
            raise WireError(f"a {type(value).__name__} is no number, text, list or array.")
        form = DTYPES.get(value.dtype.kind)
        if form is None:
            raise WireError(f"an array of {value.dtype} has no numbers.")
        # counted before it is copied: a view of one number may have a petabyte of entries
        need = math.prod(value.shape) * np.dtype(form).itemsize
        if need > self.left:
            raise WireError(f"an array needs {need} bytes; {self.left} are left.")
        self.left -= need
        plain = np.array(value, dtype=form, order="C", subok=False)
        if isinstance(value, np.generic):
            return self.tree(plain.item(), 0)
        self.buffers.append(plain.tobytes())
        return {"a": [form, list(plain.shape)]}


def decode(message: bytes, *, limit: int = LIMIT) -> Any:
    """The value of a message that anyone may have written.

    Raises
    ------
    WireError
        If it is not exactly what :func:`encode` could have written within ``limit``.

    Examples
    --------
    >>> decode(encode([1, None, "a"]))
    [1, None, 'a']
    """
    if len(message) > limit or len(message) < 8 or message[:4] != MAGIC:
        raise WireError(f"{len(message)} bytes that are no message of at most {limit}.")
    (length,) = struct.unpack("<I", message[4:8])
    if length > len(message) - 8:
        raise WireError("the header is cut off.")
    try:
        tree = json.loads(message[8 : 8 + length].decode("utf-8"))
        reader = _Reader(memoryview(message)[8 + length :])
        value = reader.value(tree, 0)
    except WireError:
        raise
    except (ValueError, TypeError, RecursionError, OverflowError, ZeroDivisionError) as error:
        raise WireError(f"no message: {type(error).__name__}.") from None
    if len(reader.rest):
        raise WireError(f"{len(reader.rest)} bytes too many.")
    return value


class _Reader:
    def __init__(self, rest: memoryview) -> None:
        self.rest = rest
        self.nodes = 0

    def value(self, tree: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > DEPTH or self.nodes > NODES:
            raise WireError("the message is nested too deep, or has too many items.")
        if tree is None or isinstance(tree, bool):
            return tree
        if not isinstance(tree, dict) or len(tree) != 1:
            raise WireError("a node of the message has no kind.")
        ((kind, held),) = tree.items()
        if kind in "ifs" and isinstance(held, str) and len(kind) == 1:
            if kind == "i":
                if len(held) > DIGITS or not held.removeprefix("-").isdecimal():
                    raise WireError("a whole number has no digits, or too many.")
                return int(held)
            return held if kind == "s" else float.fromhex(held)
        if kind == "q" and isinstance(held, list) and len(held) == 2:
            over, under = (self.value(item, depth + 1) for item in held)
            if type(over) is not int or type(under) is not int:
                raise WireError("a fraction needs two whole numbers.")
            return Fraction(over, under)
        if kind in ("l", "t") and isinstance(held, list):
            items = [self.value(item, depth + 1) for item in held]
            return items if kind == "l" else tuple(items)
        if kind == "d" and isinstance(held, list):
            return {self.key(pair): self.value(pair[1], depth + 1) for pair in held}
        if kind == "a" and isinstance(held, list) and len(held) == 2:
            return self.array(*held)
        raise WireError("a node of the message has an unknown kind.")

    @staticmethod
    def key(pair: Any) -> str:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise WireError("an entry of a dictionary has no text as its key.")
        return pair[0]

    def array(self, form: Any, shape: Any) -> np.ndarray:
        if form not in DTYPES.values() or not isinstance(shape, list) or len(shape) > 8:
            raise WireError("an array has an unknown type, or too many axes.")
        if not all(type(size) is int and 0 <= size < 1 << 31 for size in shape):
            raise WireError("an array has a shape that is none.")
        need = math.prod(shape) * np.dtype(form).itemsize
        if need > len(self.rest):
            raise WireError("an array is cut off.")
        held, self.rest = self.rest[:need], self.rest[need:]
        if form == "|b1":  # any other byte would be a boolean that is neither
            return (np.frombuffer(held, dtype=np.uint8) != 0).reshape(shape)
        return np.frombuffer(held, dtype=form).reshape(shape).copy()
