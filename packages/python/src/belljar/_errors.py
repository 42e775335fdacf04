"""What can go wrong between a program and belljar, and how runs fail.

`Belljar.run` returns an outcome even if the script failed. The failure becomes an exception, a
`RunError`, when the program asks for the value with `outcome.unwrap()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._outcome import Failure, Outcome


class BelljarError(Exception):
    """The base class of the exceptions that this package raises."""


class BinaryNotFound(BelljarError):
    """The program `belljar` was not found."""


class StartError(BelljarError):
    """The program could not be started, or did not answer as belljar does."""


class ConnectionLost(BelljarError):
    """The process ended, or broke the protocol, while a run was under way.

    It is not known whether the tools that the run called did their work. The next run starts a new
    process.
    """


class ClosedError(BelljarError):
    """The client was closed, and cannot run anything any more."""


class OutcomeTooLong(BelljarError):
    """The run has ended, and its outcome is too long for a message of belljar.

    The tools that it called did their work. With a smaller `max_output`, the run fails instead,
    with an outcome that says why.
    """


class RequestError(BelljarError):
    """belljar refused the request, such as for wrong parameters. Nothing was run."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class BusyError(RequestError):
    """belljar cannot take another run now, or is ending. The same request can succeed later."""


class ToolError(Exception):
    """Raise this in a tool to choose the error that the script gets.

    The script sees an `Error` with this message and this `name`. Other exceptions of a tool reach
    the script with their message and the name of their class.
    """

    def __init__(self, message: str, name: str = "ToolError") -> None:
        super().__init__(message)
        self.name = name


class RunError(BelljarError):
    """The script failed. `outcome` has its logs, calls, usage and error."""

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

    Other exceptions of tools keep the name of their class. If a script does not catch one, the run
    fails with a `ScriptException`.
    """


class LimitReached(RunError):
    """A limit ended the run: memory, stack, calls or output."""


class RunTimeout(LimitReached, TimeoutError):
    """The run used up its time or its fuel."""


class RunCancelled(RunError):
    """The run was cancelled, but not by cancelling the task that awaited it."""


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
    """The exception for a failed run: a plain `RunError` for a kind that is not known here."""
    return _BY_KIND.get(failure.kind, RunError)(outcome, failure)
