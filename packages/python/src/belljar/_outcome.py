"""The outcome of a run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from ._errors import run_error
from ._values import decode

__all__ = ["CallRecord", "Failure", "LimitUse", "Log", "Outcome", "Usage"]


class Usage(TypedDict, total=False):
    """How much of its limits a run used. Values that were not measured are absent."""

    wall_ms: float
    guest_ms: float
    wait_ms: float
    fuel: int
    peak_memory_bytes: int
    peak_held_bytes: int
    source_bytes: int
    tool_calls: int
    concurrent_calls: int
    largest_arguments_bytes: int
    largest_result_bytes: int
    log_bytes: int
    log_lines: int
    output_bytes: int


@dataclass(frozen=True)
class Log:
    """A line of `console`: its level is debug, log, info, warn or error."""

    level: str
    text: str
    lost: int = 0
    """For `on_log`: how many lines before this one were left out because it was too slow.

    The outcome has them."""


@dataclass(frozen=True)
class LimitUse:
    """The limit that ended a run, under belljar's name, and how much of it was used."""

    name: str
    max: float | None = None
    used: float | None = None
    unit: str | None = None


@dataclass(frozen=True)
class CallRecord:
    """A call that has ended."""

    tool: str
    ok: bool
    server: str | None = None
    effect: str | None = None
    ms: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class Failure:
    """Why a script failed, in words that help a model to fix it."""

    kind: str
    """syntax, exception, tool, timeout, fuel, memory, stack, deadlock, calls, output, plan, …"""
    message: str
    """What happened, in one line."""
    where: str | None = None
    """`prelude` if the prelude, and not the script, failed or reached a limit."""
    name: str | None = None
    """The name of the error that the script threw, such as `TypeError`."""
    thrown: str | None = None
    """The message of the error that the script threw, without its name."""
    line: int | None = None
    column: int | None = None
    frame: str | None = None
    """The source lines around the error, with a marker."""
    stack: str | None = None
    hint: str | None = None
    """What to try."""
    recoverable: bool = False
    """Whether a changed script or a second try can succeed."""
    retry_after_ms: int | None = None
    limit: LimitUse | None = None
    """The limit that ended the run."""

    @property
    def text(self) -> str:
        """The whole failure, as a model should read it."""
        place = f" (line {self.line}, column {self.column})" if self.line is not None else ""
        parts = [f"{self.message}{place}", self.frame, f"hint: {self.hint}" if self.hint else None]
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Outcome:
    """The end of a run, successful or not."""

    ok: bool
    value: Any
    """What the script returned; `None` if it failed."""
    error: Failure | None
    logs: tuple[Log, ...]
    """The lines of `console`, even if the script failed."""
    calls: tuple[CallRecord, ...]
    """The calls that have ended, in the order in which the script got their answers."""
    usage: Usage
    raw: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)
    """The outcome as belljar sent it."""

    def unwrap(self) -> Any:
        """Returns the script's value. If the script failed, raises the matching `RunError`."""
        if self.error is not None:
            raise run_error(self, self.error)
        return self.value


def read_outcome(raw: dict[str, Any], undefined: Any = None) -> Outcome:
    """Reads the answer to `run`. Raises `ValueError` if it is not an outcome."""
    if not isinstance(raw.get("ok"), bool):
        raise ValueError("the outcome does not say whether the run succeeded")
    error = raw.get("error")
    if not raw["ok"] and not isinstance(error, dict):
        raise ValueError("the outcome does not say why the run failed")
    return Outcome(
        ok=raw["ok"],
        value=decode(raw.get("value"), undefined) if raw["ok"] else None,
        error=None if raw["ok"] else _failure(error if isinstance(error, dict) else {}),
        logs=tuple(read_log(entry) for entry in raw.get("logs") or ()),
        calls=tuple(
            _known(CallRecord, {"tool": "", "ok": False, **entry}) for entry in raw.get("calls") or ()
        ),
        usage=cast("Usage", raw.get("usage") or {}),
        raw=raw,
    )


def read_log(entry: dict[str, Any]) -> Log:
    """Reads a line of the logs."""
    lost = entry.get("lost")
    return Log(
        str(entry.get("level", "log")),
        str(entry.get("text", "")),
        lost if isinstance(lost, int) else 0,
    )


def _failure(error: dict[str, Any]) -> Failure:
    thrown = error.get("thrown")
    apart = thrown if isinstance(thrown, dict) else {}
    limit = error.get("limit")
    known = {
        **error,
        "name": apart.get("name"),
        "thrown": apart.get("message"),
        "limit": _known(LimitUse, {"name": "", **limit}) if isinstance(limit, dict) else None,
    }
    failure: Failure = _known(Failure, {"kind": "internal", "message": "", **known})
    return failure


def _known(of: type[Any], entry: dict[str, Any]) -> Any:
    # A later belljar may send members that this version does not know.
    names = {known.name for known in dataclasses.fields(of)}
    return of(**{name: value for name, value in entry.items() if name in names})
