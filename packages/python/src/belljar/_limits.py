"""The limits of a run, by belljar's names (docs/LIMITS.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TypeAlias, TypedDict

Duration: TypeAlias = "str | timedelta"
"""`"30s"`, `"500ms"`, `"1m 30s"`, or a `timedelta`."""
Size: TypeAlias = "str | int"
"""`"64MiB"`, `"5MB"`, or a number of bytes."""


class Limits(TypedDict, total=False):
    """What a run may use. What is absent is as belljar's own configuration has it."""

    timeout: Duration
    """Wall time, waits included."""
    compute: Duration
    """Time inside the script."""
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
    """The answer of one call, as JSON."""
    max_output: Size
    """The value of the run, as JSON."""
    max_logs: Size
    max_log_lines: int
    max_held: Size


def declare(limits: Limits | Mapping[str, object]) -> dict[str, object]:
    """The limits as the protocol has them."""
    return {
        name: _text(value) if isinstance(value, timedelta) else value
        for name, value in limits.items()
    }


def _text(duration: timedelta) -> str:
    return f"{duration // timedelta(microseconds=1)}us"
