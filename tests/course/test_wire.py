"""Values cross the wall unchanged, and nothing that is no message gets through."""

from __future__ import annotations

import json
import pickle
import struct
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from lowdim.course._wire import DEPTH, LIMIT, MAGIC, WireError, decode, encode

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.fractions()
ARRAYS = arrays.arrays(
    st.sampled_from([np.float64, np.int64, np.uint64, np.bool_, np.complex128]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return a == b


@given(VALUES)
def test_what_goes_in_comes_out(value: object) -> None:
    assert same(decode(encode(value)), value)


@given(st.binary(max_size=200), st.integers(0, 3))
def test_no_bytes_do_anything_but_be_refused_or_read(noise: bytes, how: int) -> None:
    head = json.dumps({"a": ["<f8", [2]]}).encode()
    message = [
        noise,
        MAGIC + noise,
        MAGIC + struct.pack("<I", len(noise)) + noise,
        MAGIC + struct.pack("<I", len(head)) + head + noise,
    ][how]
    try:
        value = decode(message)
    except WireError:
        return
    assert same(decode(encode(value)), value)


def header(tree: object, rest: bytes = b"") -> bytes:
    text = json.dumps(tree).encode()
    return MAGIC + struct.pack("<I", len(text)) + text + rest


@pytest.mark.parametrize(
    "message",
    [
        pickle.dumps([1]),
        b"",
        MAGIC,
        header({"a": ["<f8", [10**9, 10**9]]}),
        header({"a": ["<f8", [0, 1 << 40]]}),
        header({"a": ["<f8", [-1]]}),
        header({"a": ["<f8", [True]]}, b"12345678"),
        header({"a": ["|O", [1]]}, b"12345678"),
        header({"a": ["<f8", [1]]}, b"1234567"),
        header({"a": ["<f8", [1]]}, b"123456789"),
        header({"a": ["<f8", [1] * 9]}, b"12345678"),
        header({"i": "9" * 5000}),
        header({"i": "1_0"}),
        header({"i": 5}),
        header({"f": "nine"}),
        header({"q": [{"i": "1"}, {"i": "0"}]}),
        header({"q": [{"f": "0x1p0"}, {"i": "1"}]}),
        header({"d": [[1, None]]}),
        header({"l": None}),
        header({"i": "1", "s": "1"}),
        header({"": []}),
        header([1]),
        header(3),
        header({"l": [None] * 30_000}),
        MAGIC + struct.pack("<I", 40_000) + b'{"l":[' * 5_000 + b"]}" * 5_000,
        MAGIC + struct.pack("<I", 1 << 31),
    ],
)
def test_what_is_no_message_is_refused(message: bytes) -> None:
    with pytest.raises(WireError):
        decode(message)


def test_a_byte_that_is_no_truth_becomes_one() -> None:
    assert decode(header({"a": ["|b1", [2]]}, b"\x07\x00")).tolist() == [True, False]


class Anything:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


@pytest.mark.parametrize(
    "value",
    [
        Anything(),
        np.array([Anything()]),
        np.array(["text"]),
        {1: 2},
        {1},
        b"bytes",
        lambda: 0,
        np.broadcast_to(np.float64(1), (10**7, 10**7)),
        pytest.param(10**7000, id="endless"),
        "x" * (LIMIT + 1),
    ],
)
def test_values_without_a_form_are_refused(value: object) -> None:
    with pytest.raises(WireError):
        encode(value)


def test_depth_and_size_are_bounded() -> None:
    deep: list = []
    for _ in range(DEPTH + 1):
        deep = [deep]
    with pytest.raises(WireError, match="deeper"):
        encode(deep)
    endless: list = []
    endless.append(endless)
    with pytest.raises(WireError, match="deeper"):
        encode(endless)
    with pytest.raises(WireError, match="left"):
        encode([np.zeros(60), np.zeros(60)], limit=900)


def test_kin_of_plain_values_become_plain() -> None:
    class Own(np.ndarray):
        pass

    mine = np.arange(3.0).view(Own)
    assert type(decode(encode(mine))) is np.ndarray
    assert decode(encode(np.float32(0.5))) == 0.5 and decode(encode(np.int8(3))) == 3
    half = torch.arange(4, dtype=torch.float32, requires_grad=True).reshape(2, 2)
    assert decode(encode(half)).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert decode(encode(Fraction(1, 3))) == Fraction(1, 3)
