"""Values between Python and the script, without a process."""

from __future__ import annotations

import copy
import json
import pickle
from array import array
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from belljar import UNDEFINED
from belljar._values import MAX_DEPTH, decode, encode, to_bytes

VALUES: list[Any] = [
    None,
    True,
    0,
    2**53,
    -1.5,
    "é\u2028\U0001f600",
    [],
    {},
    {"a": [1, {"b": None}]},
    b"",
    b"\0\xff",
    [b"a", {"b": b"c"}],
    {"$belljar": 1},
    {"$belljar": {"object": {}}},
    {"$belljar": {"$belljar": {"$belljar": "undefined"}}},
    {"$belljar": "undefined", "b": 1},
    {"a": '"$belljar"'},
    UNDEFINED,
    [UNDEFINED, {"$belljar": UNDEFINED}],
    [{"$belljar": b"x"}, b"y", '"$belljar"'],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_every_value_comes_back_as_it_went(value: Any) -> None:
    assert decode(json.loads(encode(value)), UNDEFINED) == value


@pytest.mark.parametrize("format", "bhHiIqQfd")
def test_typed_arrays_keep_their_format(format: str) -> None:
    value = array(format, [0, 1, 2])
    back = decode(json.loads(encode(value)))
    assert list(back) == [0, 1, 2] and memoryview(back).itemsize == value.itemsize


@pytest.mark.parametrize(
    "hostile",
    [
        {"$belljar": {"bytes": "!!!"}},
        {"$belljar": {"bytes": 3}},
        {"$belljar": {"object": 3}},
        {"$belljar": None},
        {"$belljar": []},
    ],
)
def test_what_only_looks_like_a_special_value_stays_as_it_is(hostile: Any) -> None:
    assert decode(copy.deepcopy(hostile)) == hostile


def test_a_typed_array_of_a_wrong_length_or_type_is_bytes() -> None:
    for type in ("Int32Array", "Nothing", None, "Float16Array"):
        assert decode({"$belljar": {"bytes": "AAA=", "type": type}}) == b"\0\0"


def test_what_json_has_not_becomes_what_it_has() -> None:
    value = OrderedDict(a=MappingProxyType({"x": float("inf")}), b={1: (2, float("nan"))})
    assert json.loads(encode(value)) == {"a": {"x": None}, "b": {"1": [2, None]}}
    assert to_bytes("a\ud800b") == "a\ufffdb".encode()


def test_circles_and_depths_are_errors_and_no_crash() -> None:
    most: Any = []
    for _ in range(MAX_DEPTH - 1):
        most = [most]
    assert decode(json.loads(encode(most))) == most
    with pytest.raises(ValueError, match="more than 127 levels"):
        encode([most])
    circle: list[Any] = []
    circle += [circle, circle]
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (circle, deep, [circle, float("nan")], {"$belljar": deep}):
        with pytest.raises((ValueError, RecursionError)):
            encode(value)


def test_undefined_is_one_value_that_is_false() -> None:
    assert not UNDEFINED and repr(UNDEFINED) == "UNDEFINED"
    assert pickle.loads(pickle.dumps(UNDEFINED)) is UNDEFINED is copy.deepcopy(UNDEFINED)
