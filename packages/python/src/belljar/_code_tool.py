"""Shared by the adapters: the tool that runs code, as a model sees it, and its answer as text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from ._outcome import Outcome
from ._tools import Function, Tool
from ._typescript import Declared, declare_namespace

NAME: Final = "run_code"
NAMESPACE: Final = "tools"
"""The agent's tools, as scripts see them. belljar's own global of this name is left out."""
PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "code": {
            "type": "string",
            "description": "The body of an async function in JavaScript or TypeScript.",
        }
    },
    "required": ["code"],
    "additionalProperties": False,
}

_INTRODUCTION: Final = """\
Runs JavaScript or TypeScript in a sandbox that has no network, no files and no modules, only the \
tools below. Write the body of an async function, and `return` the answer. Each call is a promise: \
await it, and use Promise.all for calls that do not need each other. Return only what you need."""


def describe(declared: Iterable[Declared], introduction: str | None = None) -> str:
    """The description of the tool: what code to write, and what it can call."""
    declaration = declare_namespace(NAMESPACE, declared)
    return f"{introduction or _INTRODUCTION}\n\n```ts\n{declaration}\n```"


def offer(calls: Iterable[tuple[Declared, Function]]) -> dict[str, dict[str, Tool]]:
    """The tools that scripts may call. Each function gets a call's arguments as one `dict`."""
    return {
        NAMESPACE: {
            one.name: Tool(
                call,
                description=one.description,
                input_schema=one.input_schema,
                output_schema=one.output_schema,
                unpack=False,
            )
            for one, call in calls
        }
    }


def report(outcome: Outcome) -> str:
    """The outcome as a model reads it: the value or the error, then the logs."""
    if outcome.error is None:
        parts = [json.dumps(outcome.value, ensure_ascii=False, default=_shown)]
    else:
        parts = [f"The script failed: {outcome.error.text}"]
        begun = [f"{call.tool}{'' if call.ok else ' (failed)'}" for call in outcome.calls]
        if begun:
            # The next attempt has to know what has been done already.
            parts.append(f"Calls that had ended: {', '.join(begun[:50])}")
    if outcome.logs:
        lines = "\n".join(f"[{line.level}] {line.text}" for line in outcome.logs)
        parts.append(f"Logs:\n{lines}")
    return "\n\n".join(parts)


def in_json(value: Any) -> Any:
    """A value as hosts show it to a model, with bytes as `<16 bytes>`."""
    return json.loads(json.dumps(value, default=_shown))


def _shown(value: object) -> object:
    size = memoryview(value).nbytes if isinstance(value, (bytes, memoryview)) else 0
    return f"<{size} bytes>"
