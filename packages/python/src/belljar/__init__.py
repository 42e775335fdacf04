"""Runs model-written JavaScript and TypeScript in a sandbox, with Python functions as its tools.

The jar is a process of the program `belljar`: a script that breaks it breaks neither this process
nor the next run. `Belljar` is for asyncio, `SyncBelljar` for everything else. Hosts that belljar
plugs into have modules of their own: `belljar.fastmcp`, `belljar.pydantic_ai`,
`belljar.openai_agents`, `belljar.langchain`.
"""

from __future__ import annotations

from ._binary import find_binary
from ._client import VERSION as __version__
from ._client import Belljar
from ._errors import (
    BelljarError,
    BinaryNotFound,
    BusyError,
    ClosedError,
    ConnectionLost,
    LimitReached,
    OutcomeTooLong,
    RequestError,
    RunCancelled,
    RunError,
    RunTimeout,
    ScriptException,
    ScriptSyntaxError,
    StartError,
    ToolError,
    ToolFailed,
)
from ._limits import Limits
from ._outcome import CallRecord, Failure, LimitUse, Log, Outcome, Usage
from ._run import is_cancelled
from ._sync import SyncBelljar
from ._tools import Namespace, Tool, TopLevel
from ._values import UNDEFINED, Undefined

__all__ = [
    "UNDEFINED",
    "Belljar",
    "BelljarError",
    "BinaryNotFound",
    "BusyError",
    "CallRecord",
    "ClosedError",
    "ConnectionLost",
    "Failure",
    "LimitReached",
    "LimitUse",
    "Limits",
    "Log",
    "Namespace",
    "Outcome",
    "OutcomeTooLong",
    "RequestError",
    "RunCancelled",
    "RunError",
    "RunTimeout",
    "ScriptException",
    "ScriptSyntaxError",
    "StartError",
    "SyncBelljar",
    "Tool",
    "ToolError",
    "ToolFailed",
    "TopLevel",
    "Undefined",
    "Usage",
    "__version__",
    "find_binary",
    "is_cancelled",
]
