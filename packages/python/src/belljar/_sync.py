"""The client for programs without an event loop. It runs the asyncio client in a thread."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, TypeVar

from ._client import Belljar
from ._limits import Limits
from ._outcome import Log, Outcome
from ._tools import Functions, Tools

T = TypeVar("T")


class SyncBelljar:
    """`Belljar` for programs without asyncio. Safe to use from several threads.

    Plain functions run in threads, so that a script's calls can run at the same time; `async`
    functions can be tools too. `on_log` is called in another thread. With `jar`, this client shares
    that client's process.

        with SyncBelljar() as jar:
            outcome = jar.run("return 6 * 7")
    """

    def __init__(
        self,
        binary: str | os.PathLike[str] | None = None,
        *,
        arguments: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
        jar: Belljar | None = None,
    ) -> None:
        if jar is None:
            jar = Belljar(binary, arguments=arguments, env=env, cwd=cwd, limits=limits)
        self._jar = jar
        self._loop = _LoopThread()
        weakref.finalize(self, self._loop.stop)

    def __enter__(self) -> SyncBelljar:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> Mapping[str, Any]:
        """Starts the process if necessary, and returns its version, limits and servers."""
        return self._loop.wait_for(self._jar.start())

    def close(self) -> None:
        """Ends the process, and waits for it. Runs under way are cancelled, as with `Belljar`."""
        self._loop.wait_for(self._jar.close())
        self._loop.stop()

    def run(
        self,
        code: str,
        *,
        tools: Tools | None = None,
        functions: Functions | None = None,
        prelude: str | None = None,
        builtins: bool = True,
        belljar: Sequence[str] | bool = False,
        limits: Limits | None = None,
        on_log: Callable[[Log], object] | None = None,
        undefined: Any = None,
    ) -> Outcome:
        """Runs JavaScript or TypeScript, as `Belljar.run` does.

        If an exception such as `KeyboardInterrupt` ends the wait, the run is ended first.
        """
        return self._loop.wait_for(
            self._jar.run(
                code,
                tools=tools,
                functions=functions,
                prelude=prelude,
                builtins=builtins,
                belljar=belljar,
                limits=limits,
                on_log=on_log,
                undefined=undefined,
            )
        )


class _LoopThread:
    """A thread with an event loop, created when it is needed, and again after a fork."""

    def __init__(self) -> None:
        self._reset()
        _loops.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine, and waits for it. It has ended when this returns or raises.

        A signal can raise an exception at any line here. The loop handles `begin` and `end` in
        order, so `end` knows whether the coroutine ever began.
        """
        ended = threading.Event()
        begun: list[asyncio.Task[T]] = []

        def begin() -> None:
            begun.append(asyncio.get_running_loop().create_task(work))
            begun[0].add_done_callback(lambda _: ended.set())

        def end() -> None:
            if begun:
                begun[0].cancel()
            else:
                work.close()
                ended.set()

        loop: asyncio.AbstractEventLoop | None = None
        try:
            # The lock keeps `stop` from ending the loop before the coroutine begins on it.
            with self._lock:
                loop = self._loop or self._start()
                loop.call_soon_threadsafe(begin)
            ended.wait()
        except BaseException:
            if loop is None:
                work.close()
            elif not ended.is_set():
                loop.call_soon_threadsafe(end)
                ended.wait()
            raise
        return begun[0].result()

    def stop(self) -> None:
        """Ends the thread when nothing runs on it any more, and waits for it if nothing does."""
        idle: Future[bool] = Future()

        def finish() -> None:
            idle.set_result(not asyncio.all_tasks())
            asyncio.get_running_loop().create_task(_stop_when_idle())

        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
            if loop is None or thread is None or not thread.is_alive():
                return
            loop.call_soon_threadsafe(finish)
        if thread is not threading.current_thread() and idle.result():
            thread.join()

    def after_fork(self) -> None:
        """In a forked child: drops the loop, which is the parent's. Its thread is not here."""
        if self._loop is not None:
            _abandoned.append(self._loop)
        self._reset()

    def _start(self) -> asyncio.AbstractEventLoop:
        """Starts a thread with a loop. The lock is held."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_serve, args=(loop,), name="belljar-loop", daemon=True)
        thread.start()
        self._loop, self._thread = loop, thread
        return loop


async def _stop_when_idle() -> None:
    """Stops this loop when all of its other tasks have ended."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    asyncio.get_running_loop().stop()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


_loops: weakref.WeakSet[_LoopThread] = weakref.WeakSet()
# Loops left over from a fork. They are never closed, since they share resources with the parent.
_abandoned: list[asyncio.AbstractEventLoop] = []


def _after_fork() -> None:
    for loop in list(_loops):
        loop.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
