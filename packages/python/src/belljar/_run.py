"""One run, on the event loop on which it is awaited.

It owns the tasks for the calls that the script makes. When the run ends, for whatever reason, tasks
that are still under way are cancelled and awaited. Nothing of a run is left once `outcome` has
returned or raised.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from ._connection import Connection, error_body
from ._errors import BelljarError, ToolError
from ._outcome import Log, read_log
from ._tools import Call, Offer
from ._values import UNDEFINED, decode, encode

GRACE: Final = 5.0
"""How many seconds to wait for the answer to a cancelled run."""
# The longest message of an exception that a script gets, in characters.
_MAX_MESSAGE: Final = 16_000

_is_over: contextvars.ContextVar[threading.Event] = contextvars.ContextVar("belljar_call_is_over")


def is_cancelled() -> bool:
    """Whether the call that this plain function is answering is no longer needed.

    A function in a thread cannot be interrupted, and its run does not end before it returns. A slow
    function can ask this, and return early. Outside of a call, the answer is False.
    """
    event = _is_over.get(None)
    return event is not None and event.is_set()


class Run:
    """A run that is under way. Its connection calls the methods of `Sink`."""

    def __init__(
        self,
        connection: Connection,
        offer: Offer,
        executor: ThreadPoolExecutor,
        on_log: Callable[[Log], object] | None,
        undefined: Any,
    ) -> None:
        self._connection = connection
        self._offer = offer
        self._executor = executor
        self._on_log = on_log
        self._undefined = undefined
        self._loop = asyncio.get_running_loop()
        # Tools and `on_log` see the context variables of the caller that runs the script.
        self._context = contextvars.copy_context()
        self._ended: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._unanswered: set[object] = set()
        self._id = 0
        # Set before anything is cancelled, and read by the threads of plain functions, so that none
        # begins when another one ends and its thread becomes free.
        self._is_ending = False
        # Events from the connection's threads, and whether the loop knows that there are some.
        self._inbox: deque[Callable[[], None]] = deque()
        self._is_scheduled = False
        self._lock = threading.Lock()

    def begin(self, params: str) -> None:
        """Sends the script. Raises `ConnectionLost` if it has certainly not arrived."""
        self._id = self._connection.request_text("run", params, self)

    async def outcome(self) -> dict[str, Any]:
        """Returns belljar's answer. Raises `BelljarError` if there is none.

        When the awaiting task is cancelled, so is the run.
        """
        try:
            return await asyncio.shield(self._ended)
        except asyncio.CancelledError:
            self._connection.cancel(self._id)
            self._cancel_calls()
            await asyncio.wait([self._ended], timeout=GRACE)
            raise
        finally:
            self._close()
            await _wait_all(list(self._tasks.values()))

    def call(self, call: object, params: dict[str, Any]) -> None:
        self._post(functools.partial(self._begin, call, params))

    def cancel(self, call: object) -> None:
        self._post(functools.partial(self._cancel_call, call))

    def log(self, entry: dict[str, Any]) -> None:
        if self._on_log is not None:
            self._post(functools.partial(self._context.copy().run, self._show, entry))

    def end(self, answer: dict[str, Any] | BelljarError) -> None:
        self._post(functools.partial(self._finish, answer))

    def _post(self, event: Callable[[], None]) -> None:
        """Hands an event to the loop. One wake-up of the loop handles all events that are there."""
        with self._lock:
            self._inbox.append(event)
            if self._is_scheduled:
                return
            self._is_scheduled = True
        try:
            self._loop.call_soon_threadsafe(self._drain)
        except RuntimeError:
            # The loop was closed without awaiting its tasks, so nobody waits for this run.
            self._connection.cancel(self._id)

    def _drain(self) -> None:
        with self._lock:
            events, self._inbox = self._inbox, deque()
            self._is_scheduled = False
        for event in events:
            event()

    def _begin(self, call: object, params: dict[str, Any]) -> None:
        name = str(params.get("tool", params.get("function")))
        namespace = params.get("namespace")
        found = self._offer.find(None if namespace is None else str(namespace), name)
        if found is None or self._is_ending or self._ended.done():
            why = f"there is no tool {name}" if found is None else "the run has ended"
            self._connection.answer(call, error_body(why))
            return
        # Before Python 3.11, a task always has the context in which it is created.
        make = functools.partial(self._loop.create_task, self._answer(call, found, params))
        self._tasks[call] = self._context.copy().run(make)

    async def _answer(self, id: object, call: Call, params: dict[str, Any]) -> None:
        """Calls the tool, and sends the answer unless it is no longer needed."""
        body = error_body("the call was cancelled")
        try:
            arguments = decode(params.get("arguments"), self._undefined)
            value = await self._invoke(call, arguments)
            body = '"result":{}' if value is UNDEFINED else f'"result":{{"value":{encode(value)}}}'
        except (asyncio.CancelledError, GeneratorExit):
            # The call was cancelled, or its loop was closed.
            raise
        except BaseException as fault:
            # Even `SystemExit` and `KeyboardInterrupt`, which would end the loop and all its tasks.
            body = _as_error(fault)
        finally:
            self._tasks.pop(id, None)
            if id in self._unanswered:
                self._unanswered.discard(id)
            elif not self._connection.answer(id, body):
                self._connection.answer(id, error_body(_TOO_LONG))

    async def _invoke(self, call: Call, arguments: Any) -> Any:
        work = call.bind(arguments)
        if _is_async(call.tool.function):
            return await work()
        value = await self._in_thread(work)
        # A function that looks like a plain one may return an awaitable.
        return await value if inspect.isawaitable(value) else value

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        over = threading.Event()
        _is_over.set(over)
        begun = self._executor.submit(contextvars.copy_context().run, self._work, work)
        ended = asyncio.wrap_future(begun)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            over.set()
            # A function that still waits for a thread never begins; one that has begun is awaited.
            if not begun.cancel():
                await _wait_all([ended])
            if ended.done() and not ended.cancelled():
                ended.exception()
            raise

    def _work(self, work: Callable[[], Any]) -> Any:
        if self._is_ending:
            return None
        try:
            return work()
        except StopIteration as fault:
            # A future cannot hold a `StopIteration`.
            raise RuntimeError("the tool raised StopIteration") from fault

    def _show(self, entry: dict[str, Any]) -> None:
        if self._on_log is None or self._ended.done():
            return
        try:
            self._on_log(read_log(entry))
        except Exception as fault:
            # `on_log` is the caller's own, so `outcome` raises its exception.
            self._connection.cancel(self._id)
            self._ended.set_exception(fault)

    def _finish(self, answer: dict[str, Any] | BelljarError) -> None:
        if self._ended.done():
            return
        if isinstance(answer, BelljarError):
            self._ended.set_exception(answer)
        else:
            self._ended.set_result(answer)

    def _close(self) -> None:
        """Makes sure that nothing more begins."""
        if not self._ended.done():
            self._ended.cancel()
        elif not self._ended.cancelled():
            self._ended.exception()
        self._cancel_calls()

    def _cancel_calls(self) -> None:
        self._is_ending = True
        for call in list(self._tasks):
            self._cancel_call(call)

    def _cancel_call(self, call: object) -> None:
        task = self._tasks.get(call)
        if task is not None and call not in self._unanswered:
            self._unanswered.add(call)
            task.cancel()


_TOO_LONG: Final = "the answer is longer than the limit of 16 MiB for a message: return less"


async def _wait_all(futures: list[Any]) -> None:
    """Waits until all have ended. If this is cancelled meanwhile, it raises only afterwards."""
    cancelled: asyncio.CancelledError | None = None
    waiting = [future for future in futures if not future.done()]
    while waiting:
        try:
            await asyncio.wait(waiting)
        except asyncio.CancelledError as fault:
            cancelled = fault
        waiting = [future for future in waiting if not future.done()]
    if cancelled is not None:
        raise cancelled


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)
    )


def _as_error(fault: BaseException) -> str:
    if not isinstance(fault, Exception):
        fault = ToolError(f"the tool raised {type(fault).__name__}: {fault}".removesuffix(": "))
    name = fault.name if isinstance(fault, ToolError) else type(fault).__name__
    message = str(fault) or type(fault).__name__
    return error_body(message[:_MAX_MESSAGE], name)
