"""What can go wrong between a program and belljar, and how runs fail.

A script that fails does not make `Belljar.run` raise, which gives an outcome in any case. It becomes
an exception, a `RunError`, where the program asks for the value: `outcome.unwrap()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._outcome import Failure, Outcome


class BelljarError(Exception):
    """What all exceptions of this package have in common."""


class BinaryNotFound(BelljarError):
    """The program `belljar` is not on this machine, or not where it was said to be."""


class StartError(BelljarError):
    """The program was started, and did not answer as belljar does."""


class ConnectionLost(BelljarError):
    """The process ended, or broke the protocol, while a run was under way.

    Whether the tools that the run called did their work is not known. The next run starts another
    process.
    """


class ClosedError(BelljarError):
    """The client was closed, and runs nothing any more."""


class OutcomeTooLong(BelljarError):
    """The run has ended, and its outcome is longer than a message of belljar can be.

    The tools that it called did their work. A smaller `max_output` tells the script instead.
    """


class RequestError(BelljarError):
    """belljar refused the request: its parameters are wrong. Nothing was run."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class BusyError(RequestError):
    """belljar has as many runs as it takes, or is ending. The same request can succeed later."""


class ToolError(Exception):
    """Raised by a tool, to choose the error that the script gets.

    The script sees an `Error` with this message and, as its `name`, `name`. Other exceptions of a
    tool reach the script with their own message and the name of their class.
    """

    def __init__(self, message: str, name: str = "ToolError") -> None:
        super().__init__(message)
        self.name = name


class RunError(BelljarError):
    """The script failed. `outcome` has all that is known: logs, calls, usage and the error."""

    def __init__(self, outcome: Outcome, failure: Failure) -> None:
        super().__init__(failure.text)
        self.outcome = outcome
        self.failure = failure

    @property
    def kind(self) -> str:
        """The kind of failure, such as `"timeout"`."""
        return self.failure.kind


class ScriptSyntaxError(RunError):
    """The source is not JavaScript or TypeScript. Nothing was run."""


class ScriptException(RunError):
    """The script threw, and nothing caught it. `failure.name` is the error's name."""


class ToolFailed(ScriptException):
    """A tool raised a `ToolError`, and the script did not catch it.

    Other exceptions of tools are errors of their own names, so a script that does not catch them
    ends with a `ScriptException`.
    """


class LimitReached(RunError):
    """A limit ended the run: memory, stack, calls or output."""


class RunTimeout(LimitReached, TimeoutError):
    """The time or the fuel of the run was used up."""


class RunCancelled(RunError):
    """The run was cancelled by other means than the task that awaited it."""


_BY_KIND: dict[str, type[RunError]] = {
    "syntax": ScriptSyntaxError,
    "exception": ScriptException,
    "tool": ToolFailed,
    "timeout": RunTimeout,
    "fuel": RunTimeout,
    "memory": LimitReached,
    "stack": LimitReached,
    "calls": LimitReached,
    "output": LimitReached,
    "cancelled": RunCancelled,
}


def run_error(outcome: Outcome, failure: Failure) -> RunError:
    """The exception for a failed run. A kind that this version does not know is a `RunError`."""
    return _BY_KIND.get(failure.kind, RunError)(outcome, failure)
