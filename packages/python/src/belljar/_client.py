"""The client for asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Final, cast

from ._binary import find_binary
from ._connection import Connection
from ._errors import ClosedError, ConnectionLost
from ._limits import Limits
from ._limits import declare as declare_limits
from ._outcome import Log, Outcome, read_outcome
from ._run import Run
from ._tools import Functions, Offer, Tools

VERSION: Final = "0.1.0"
THREADS: Final = 32
"""How many plain functions can run at once. `asyncio`'s own executor has the same maximum."""


class Belljar:
    """Runs scripts in one `belljar` process, any number at once.

    The process starts with the first run or with `async with`, and serves all event loops of this
    Python process. If it dies, the next run starts another. After a fork, the child starts its own.

        async with Belljar() as jar:
            outcome = await jar.run("return await github.find({ text: 'jar' })",
                                    tools={"github": {"find": find}})

    `limits` apply to each run, unless the run sets its own.
    """

    def __init__(
        self,
        binary: str | os.PathLike[str] | None = None,
        *,
        arguments: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._launcher = _Launcher(binary, arguments, env, cwd)
        self.limits: Final = cast("Limits", dict(limits or {}))

    async def __aenter__(self) -> Belljar:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self) -> Mapping[str, Any]:
        """Starts the process if necessary, and returns its version, limits and servers."""
        return (await self._connection()).greeting

    async def close(self) -> None:
        """Ends the process, and waits for it. Runs under way are cancelled.

        They return an outcome that says so, or raise `ConnectionLost` if there is none. Later runs
        raise `ClosedError`.
        """
        await asyncio.to_thread(self._launcher.close)

    async def run(
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
        """Runs JavaScript or TypeScript, and returns its outcome, even if the script failed.

        - `tools`: namespaces by name, each with its functions.
        - `functions`: functions that the script calls without a namespace.
        - `prelude`: JavaScript that runs first and is not counted in line numbers. It can add to
          namespaces.
        - `builtins=False`: leaves out belljar's own global `tools`, so that the name is free.
        - `belljar`: which of belljar's own tools the script may call too, by server
          (`["fs", "github.list_issues"]`), or `True` for all of them.
        - `on_log`: is called with each line of `console` while the script runs. If it raises, the
          run ends, and `run` raises the same exception.
        - `undefined`: the Python value for `undefined` in what comes from the script.

        Cancelling the task that awaits this ends the run. Calls that the script has under way when
        the run ends are cancelled and awaited.

        Raises `ConnectionLost` if the process dies, `RequestError` for wrong parameters, and
        `ClosedError` once the client is closed.
        """
        offer = Offer(tools, functions)
        params: dict[str, Any] = {"code": code, "value": "extended"}
        if offer.namespaces:
            params["namespaces"] = offer.namespaces
        if offer.functions:
            params["functions"] = offer.functions
        if prelude is not None:
            params["prelude"] = prelude
        if not builtins:
            params["builtins"] = False
        if belljar:
            if isinstance(belljar, str):
                raise TypeError(f"belljar= must be a list of servers, as in [{belljar!r}], or True")
            params["belljar"] = True if belljar is True else list(belljar)
        if on_log is not None:
            params["stream"] = ["logs"]
        if bounds := declare_limits({**self.limits, **(limits or {})}):
            params["limits"] = bounds
        text = json.dumps(params, ensure_ascii=False)
        connection = await self._connection()
        executor = self._launcher.executor
        run = Run(connection, offer, executor, on_log, undefined)
        try:
            run.begin(text)
        except ConnectionLost:
            # The process had died while nothing ran.
            run = Run(await self._connection(), offer, executor, on_log, undefined)
            run.begin(text)
        return read_outcome(await run.outcome(), undefined)

    async def _connection(self) -> Connection:
        ready = self._launcher.ready()
        if ready is not None:
            return ready
        return await asyncio.to_thread(self._launcher.connect)


class _Launcher:
    """Starts the process when one is needed."""

    def __init__(
        self,
        binary: str | os.PathLike[str] | None,
        arguments: Sequence[str],
        env: Mapping[str, str] | None,
        cwd: str | os.PathLike[str] | None,
    ) -> None:
        self._binary = binary
        self._arguments = list(arguments)
        self._env = env
        self._cwd = None if cwd is None else os.fspath(cwd)
        self._held = _Held()
        self._is_closed = False
        self._reset()
        # A client that is dropped without being closed leaves no process behind.
        weakref.finalize(self, _Held.let_go, self._held)
        _launchers.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    @property
    def executor(self) -> ThreadPoolExecutor:
        """The threads for plain functions, which are created when they are needed."""
        if self._executor is None:
            with self._lock:
                self._executor = self._executor or ThreadPoolExecutor(THREADS, "belljar-tool")
        return self._executor

    def ready(self) -> Connection | None:
        """The process, if it is running."""
        connection = self._held.connection
        return None if connection is None or connection.is_lost else connection

    def connect(self) -> Connection:
        """The process, which is started if necessary. This blocks: do not call it on a loop."""
        with self._lock:
            if self._is_closed:
                raise ClosedError("this client was closed: create a new one")
            ready = self.ready()
            if ready is not None:
                return ready
            command = [find_binary(self._binary), "host", *self._arguments]
            connection = Connection(command, self._env, self._cwd)
            connection.greet({"name": "belljar-python", "version": VERSION})
            self._held.connection = connection
            return connection

    def close(self) -> None:
        """Ends the process for good."""
        with self._lock:
            self._is_closed = True
            connection, self._held.connection = self._held.connection, None
            executor, self._executor = self._executor, None
        if connection is not None:
            connection.close()
        if executor is not None:
            executor.shutdown(wait=False)

    def after_fork(self) -> None:
        """In a forked child: drops the process, locks and threads, which are the parent's."""
        connection, self._held.connection = self._held.connection, None
        self._reset()
        if connection is not None:
            connection.forget()


class _Held:
    """What lives on after a launcher until its finalizer has run."""

    connection: Connection | None = None

    def let_go(self) -> None:
        if self.connection is not None:
            self.connection.let_go()


_launchers: weakref.WeakSet[_Launcher] = weakref.WeakSet()


def _after_fork() -> None:
    for launcher in list(_launchers):
        launcher.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
