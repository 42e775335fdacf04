"""Values between Python and the script: JSON, with special forms for `undefined` and bytes.

An object whose only key is `$belljar` stands for a value that JSON does not have. Such an object
that a script or a tool made itself is escaped. `docs/HOST_PROTOCOL.md` describes the format.

| JavaScript | Python |
|---|---|
| `Uint8Array`, `ArrayBuffer` | `bytes` |
| other typed arrays | `memoryview` with the array's format |
| `undefined` | `None`, or the value of `undefined=`; to a script, `UNDEFINED` |
| `NaN`, `Infinity` from Python | `null` |
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime
import decimal
import enum
import json
import math
import struct
import uuid
from array import array
from collections.abc import Callable, Mapping
from typing import Any, Final, final

KEY: Final = "$belljar"
MAX_DEPTH: Final = 127
"""The most levels that a value may be nested in, which is belljar's own limit."""

_CONTAINERS: Final = (dict, list, tuple)
# The `struct` formats whose bytes are those of a typed array.
_ARRAYS: Final[dict[str, str]] = {
    "b": "Int8Array",
    "B": "Uint8Array",
    "h": "Int16Array",
    "H": "Uint16Array",
    "i": "Int32Array",
    "I": "Uint32Array",
    "q": "BigInt64Array",
    "Q": "BigUint64Array",
    "e": "Float16Array",
    "f": "Float32Array",
    "d": "Float64Array",
}
_FORMATS: Final[dict[str, str]] = {name: format for format, name in _ARRAYS.items()}
# In `array` and `memoryview`, `l` and `L` are 4 or 8 bytes, depending on the platform.
_BY_SIZE: Final[dict[tuple[str, int], str]] = {
    ("l", 4): "Int32Array",
    ("L", 4): "Uint32Array",
    ("l", 8): "BigInt64Array",
    ("L", 8): "BigUint64Array",
}


@final
class Undefined:
    """The type of `UNDEFINED`."""

    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Undefined:
        return self

    def __deepcopy__(self, memo: object) -> Undefined:
        return self

    def __reduce__(self) -> tuple[type[Undefined], tuple[()]]:
        return (Undefined, ())


UNDEFINED: Final = Undefined()
"""JavaScript's `undefined`, as opposed to `null`, which is `None`."""


def encode(value: object) -> str:
    """The value as JSON text for belljar.

    Raises `TypeError` for a value that cannot be converted to JSON, and `ValueError` for one that
    is nested too deeply or contains itself.
    """
    _check_depth(value)
    made = 0

    def special(other: object) -> object:
        nonlocal made
        if other is UNDEFINED or isinstance(other, (bytes, bytearray, memoryview, array)):
            made += 1
            return _special(other)
        return plain(other)

    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=special
        )
        is_exact = text.count(f'"{KEY}"') == made
    except ValueError as fault:
        if "circular" in str(fault).lower():
            raise
        is_exact = False
    # The slow way, for numbers that JSON does not have and objects that look like ours.
    if not is_exact:
        text = json.dumps(_exact(value), ensure_ascii=False, separators=(",", ":"))
    return text


def to_bytes(text: str) -> bytes:
    """The text in UTF-8. Half a surrogate pair, which UTF-8 cannot encode, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def decode(value: Any, undefined: Any = None) -> Any:
    """What belljar's JSON stands for, with `undefined` for JavaScript's `undefined`."""
    if isinstance(value, list):
        return [decode(item, undefined) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and KEY in value:
        inner = value[KEY]
        if inner == "undefined":
            return undefined
        if isinstance(inner, dict):
            if isinstance(inner.get("bytes"), str):
                return _from_bytes(inner)
            if isinstance(inner.get("object"), dict):
                return {key: decode(item, undefined) for key, item in inner["object"].items()}
        return value
    return {key: decode(item, undefined) for key, item in value.items()}


def plain(value: object) -> object:
    """Converts one level of an object that tools may return although JSON does not have it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    # Models of pydantic have this method. pydantic itself is not imported.
    dump: Callable[..., object] | None = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json")
    raise TypeError(
        f"a value of type {type(value).__name__} cannot be converted to JSON: "
        "use a dict, list, str, number, bool, None or bytes"
    )


def _check_depth(value: object) -> None:
    # Checked here, so that the code that made the value gets the error. Bytes and escaped objects
    # take more levels, which only belljar counts.
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return
        # Each item once, so that a value that contains itself twice does not grow.
        inner = {
            id(item): item
            for one in level
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, _CONTAINERS)
        }
        level = list(inner.values())
    if level:
        raise ValueError(f"the value is nested in more than {MAX_DEPTH} levels, or contains itself")


def _exact(value: object) -> object:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is UNDEFINED or isinstance(value, (bytes, bytearray, memoryview, array)):
        return _special(value)
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    if isinstance(value, dict):
        inner = {key: _exact(item) for key, item in value.items()}
        return {KEY: {"object": inner}} if list(inner) == [KEY] else inner
    return _exact(plain(value))


def _special(value: object) -> object:
    if value is UNDEFINED:
        return {KEY: "undefined"}
    assert isinstance(value, (bytes, bytearray, memoryview, array))
    if isinstance(value, (bytes, bytearray)):
        view, name = memoryview(value), "Uint8Array"
    else:
        view = memoryview(value)
        format = view.format.lstrip("@=<")
        found = _BY_SIZE.get((format, view.itemsize)) or _ARRAYS.get(format)
        if found is None:
            raise TypeError(
                f"JavaScript has no typed array for items of the format {view.format!r}: use bytes"
            )
        name = found
    return {KEY: {"bytes": base64.b64encode(view.tobytes()).decode("ascii"), "type": name}}


def _from_bytes(inner: dict[str, Any]) -> Any:
    try:
        data = base64.b64decode(inner["bytes"], validate=True)
    except (binascii.Error, ValueError):
        return {KEY: inner}
    format = _FORMATS.get(str(inner.get("type")), "B")
    if format in "Be":
        # Before Python 3.12, `memoryview` cannot read half floats, so these are bytes as well.
        return data
    view: Any = memoryview(data)
    return view.cast(format) if len(data) % struct.calcsize(format) == 0 else data
