"""The limits of a run, by belljar's names (docs/LIMITS.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias, TypedDict, cast

Duration: TypeAlias = "str | timedelta"
"""`"30s"`, `"500ms"`, `"1m 30s"`, or a `timedelta`."""
Size: TypeAlias = "str | int"
"""`"64MiB"`, `"5MB"`, or a number of bytes."""


class Limits(TypedDict, total=False):
    """What a run may use. Limits that are absent are those of belljar's own configuration."""

    timeout: Duration
    """Wall-clock time, including waits."""
    compute: Duration
    """Time spent running the script itself, without waits."""
    wait: Duration
    """Time spent waiting for tools and timers."""
    call: Duration
    """Time of one call."""
    fuel: int
    """Work, in units that are the same on every machine."""
    memory: Size
    max_calls: int
    max_concurrent_calls: int
    max_source: Size
    max_arguments: Size
    max_result: Size
    """Size of the answer to one call, as JSON."""
    max_output: Size
    """Size of the value of the run, as JSON."""
    max_logs: Size
    max_log_lines: int
    max_held: Size


DEFAULT_LIMITS: Final[Limits] = {
    "compute": "30s",
    "timeout": "10m",
    "call": "10m",
    "max_output": "1MiB",
    "max_calls": 10_000,
}
"""The default limits of the adapters, which leave time to wait for slow tools."""


def of_adapter(about: Mapping[str, Any], *said: Limits | None) -> Limits:
    """The limits in `said`, where later ones win. The others are from `DEFAULT_LIMITS`, lowered to
    what belljar's owner allows.
    """
    asked: dict[str, object] = {}
    for limits in said:
        asked.update({k: v for k, v in (limits or {}).items() if v is not None})
    others = {name: value for name, value in DEFAULT_LIMITS.items() if name not in asked}
    return cast("Limits", at_most(others, about.get("ceiling") or {}) | asked)


def declare(limits: Limits | Mapping[str, object]) -> dict[str, object]:
    """The limits in the form of the protocol."""
    return {
        name: _text(value) if isinstance(value, timedelta) else value
        for name, value in limits.items()
    }


def at_most(limits: Limits | Mapping[str, object], ceiling: Mapping[str, object]) -> Limits:
    """Default limits, lowered to what belljar's owner allows."""
    declared = declare(limits)
    smaller = {
        name: ceiling[name]
        for name, value in declared.items()
        if name in ceiling and _amount(value) > _amount(ceiling[name])
    }
    return cast("Limits", declared | smaller)


_UNITS: Final[dict[str, float]] = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}


def _amount(value: object) -> float:
    """`"1m 30s"` in seconds, `"64MiB"` in bytes; numbers are left as they are."""
    if isinstance(value, (int, float)):
        return value
    parts = re.findall(r"([\d.]+)\s*([A-Za-z]*)", str(value))
    return sum(float(count) * _UNITS.get(unit, 1) for count, unit in parts)


def _text(duration: timedelta) -> str:
    if duration < timedelta(0):
        raise ValueError(f"a limit cannot be negative: {duration!r}")
    return f"{duration // timedelta(microseconds=1)}us"
