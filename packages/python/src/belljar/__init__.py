"""Runs model-written JavaScript and TypeScript in a sandbox, with Python functions as its tools.

Scripts run in a process of the program `belljar`: if a script breaks that process, neither this one
nor the next run is affected. `Belljar` is for asyncio, `SyncBelljar` for everything else. The
adapters for other frameworks are modules of their own: `belljar.fastmcp`, `belljar.pydantic_ai`,
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
