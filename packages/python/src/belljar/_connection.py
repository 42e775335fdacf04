"""A process of `belljar host`, and the messages to it and from it.

It uses threads and no event loop, so that one process serves any number of loops, one after another
or at once, and no loop ever waits for a pipe. It never interprets a value.
"""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from ._errors import (
    BelljarError,
    BusyError,
    ConnectionLost,
    OutcomeTooLong,
    RequestError,
    StartError,
)
from ._values import to_bytes

PROTOCOL: Final = 1
MAX_LINE: Final = 16 << 20
"""The longest line that the protocol allows, in bytes."""
START_TIMEOUT: Final = 60.0
"""How many seconds the process has to answer the first request."""
CLOSE_TIMEOUT: Final = 5.0
"""How many seconds the process has to end by itself after its stdin was closed."""
BUSY: Final = (-32000, -32001)
"""Too many runs; or belljar is ending, and the next run starts a new process."""
TOO_LONG: Final = -32003

_CHUNK: Final = 256 << 10
_ID: Final = (int, str, type(None))
# How many lines of stderr are kept for the error if the process dies, and how long they are.
_LAST_WORDS: Final = 20
_LAST_LINE: Final = 400

log = logging.getLogger("belljar")


class Sink(Protocol):
    """Receives the messages of a run. The connection's threads call it, so it must not block."""

    def call(self, call: object, params: dict[str, Any]) -> None:
        """The script calls a tool."""

    def cancel(self, call: object) -> None:
        """A call is no longer needed."""

    def log(self, entry: dict[str, Any]) -> None:
        """The script logged a line."""

    def end(self, answer: dict[str, Any] | BelljarError) -> None:
        """The run ended. No other method is called afterwards."""


class Connection:
    """A process, and its runs that are under way."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | None
    ) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if env is None else dict(env),
                cwd=cwd,
                # Ctrl-C in a terminal is for the program that uses belljar.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as fault:
            raise StartError(f"{command[0]} cannot be started: {fault}") from fault
        self._program = command[0]
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout, self._stderr = (
            self._process.stdin,
            self._process.stdout,
            self._process.stderr,
        )
        # Guards everything below.
        self._lock = threading.Lock()
        self._sinks: dict[int, Sink] = {}
        self._next_id = 1
        self._lost: str | None = None
        self._is_closing = False
        self._why: str | None = None
        self._outgoing: deque[bytes] = deque()
        self._wake_writer = threading.Condition(self._lock)
        self._writer: threading.Thread | None = None
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self.greeting: dict[str, Any] = {}
        if sys.platform != "win32":
            os.set_blocking(self._stdin.fileno(), False)
        self._listener = _thread(self._listen, "belljar-stderr")
        self._reader = _thread(self._read, "belljar-reader")

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_lost(self) -> bool:
        """Whether it accepts no more runs."""
        return self._lost is not None or self._is_closing or self._stdin.closed

    def greet(self, client: Mapping[str, str]) -> None:
        """Makes sure that the process is belljar and speaks this protocol."""
        hello = _Hello()
        try:
            self.request("hello", {"protocol": PROTOCOL, "client": dict(client)}, hello)
        except ConnectionLost:
            # The process ended at once. The reader knows how.
            self._reader.join()
            hello.end(ConnectionLost(self._how_it_ended()))
        if not hello.ended.wait(START_TIMEOUT):
            self._break(f"it did not answer within {START_TIMEOUT:g} seconds")
            hello.ended.wait()
        answer = hello.answer
        if isinstance(answer, BelljarError):
            self.close()
            raise StartError(f"{self._program} host: {answer}")
        if answer.get("protocol") != PROTOCOL:
            self.close()
            raise StartError(f"{self._program} host does not speak version {PROTOCOL} of the protocol")
        self.greeting = answer

    def request(self, method: str, params: dict[str, Any], sink: Sink) -> int:
        """Sends a request, and returns its number for `cancel`."""
        return self.request_text(method, json.dumps(params, ensure_ascii=False), sink)

    def request_text(self, method: str, params: str, sink: Sink) -> int:
        """Like `request`, with parameters that are JSON text already."""
        with self._lock:
            id = self._next_id
            self._next_id += 1
        line = to_bytes(f'{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}\n')
        if len(line) > MAX_LINE:
            raise ValueError(
                f"the request has {len(line)} bytes, but the limit is {MAX_LINE}: "
                "pass less to the script, and let it call a tool for the rest"
            )
        with self._lock:
            if self._lost is not None:
                raise ConnectionLost(self._lost)
            self._sinks[id] = sink
        if not self._send(line):
            with self._lock:
                self._sinks.pop(id, None)
            raise ConnectionLost("belljar's process ended before the run began")
        return id

    def cancel(self, id: int) -> None:
        """Cancels a run. It is still answered."""
        self.send(f'{{"jsonrpc":"2.0","method":"cancel","params":{{"id":{id}}}}}')

    def answer(self, call: object, body: str) -> bool:
        """Answers a call with `"result":…` or `"error":…`. Returns False if that is too long."""
        return self.send(f'{{"jsonrpc":"2.0","id":{json.dumps(call)},{body}}}')

    def send(self, message: str) -> bool:
        """Sends a message, unless the process is gone. Returns False if it is too long."""
        line = to_bytes(message + "\n")
        if len(line) > MAX_LINE:
            return False
        self._send(line)
        return True

    def close(self) -> None:
        """Ends the process and its runs, and waits until it is gone."""
        with self._lock:
            self._is_closing = True
        self._close_stdin()
        self._reader.join(CLOSE_TIMEOUT)
        if self._reader.is_alive():
            self._process.kill()
            self._reader.join()

    def let_go(self) -> None:
        """Ends the process, and does not wait for it."""
        with self._lock:
            self._is_closing = True
        self._close_stdin()

    def forget(self) -> None:
        """In a forked child: closes the pipes. The process and the threads are the parent's."""
        for pipe in (self._stdin, self._stdout, self._stderr):
            try:
                pipe.close()
            except OSError:
                pass
        # So that `Popen` does not wait for a process that is not a child of this one.
        self._process.returncode = 0

    def _send(self, line: bytes) -> bool:
        """Writes, or leaves it to the writer. Returns False if nobody can read it."""
        with self._lock:
            if self._lost is not None or self._stdin.closed:
                return False
            if not self._outgoing and sys.platform != "win32":
                # Usually the pipe has room, and no other thread has to wake up.
                try:
                    written = os.write(self._stdin.fileno(), line)
                except BlockingIOError:
                    written = 0
                except OSError:
                    # The reader sees why, and reports it to all runs.
                    self._stdin.close()
                    return False
                line = line[written:]
            if line:
                self._outgoing.append(line)
                if self._writer is None:
                    self._writer = _thread(self._write, "belljar-writer")
                self._wake_writer.notify()
            return True

    def _write(self) -> None:
        """Writes lines for which the pipe had no room."""
        fd = self._stdin.fileno()
        while True:
            with self._lock:
                while not self._outgoing and not self._is_over():
                    self._wake_writer.wait()
                if not self._outgoing or self._lost is not None:
                    break
                # The line stays in the queue until it is written, so that nothing comes in between.
                line = memoryview(self._outgoing[0])
            try:
                while line:
                    line = line[_write_some(fd, line) :]
            except OSError:
                # The reader sees why, and reports it to all runs.
                break
            with self._lock:
                self._outgoing.popleft()
        with self._lock:
            self._outgoing.clear()
            self._stdin.close()

    def _is_over(self) -> bool:
        return self._is_closing or self._lost is not None

    def _close_stdin(self) -> None:
        with self._lock:
            if not self._outgoing:
                self._stdin.close()
            # Otherwise the writer closes it.
            self._wake_writer.notify()

    def _read(self) -> None:
        try:
            for line in _lines(self._stdout.fileno()):
                self._dispatch(line)
        except OSError as fault:
            self._why = self._why or f"its stdout cannot be read: {fault}"
        except Exception as fault:
            # Any exception: if the reader just ended, its runs would wait forever.
            self._why = self._why or f"it broke the protocol: {fault}"
        self._end()

    def _dispatch(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            raise ValueError(f"{line[:80]!r} is not a message") from None
        if not isinstance(message, dict):
            raise ValueError(f"{line[:80]!r} is not a message")
        method = message.get("method")
        params = message.get("params")
        if method is None:
            self._answered(message)
        elif not isinstance(params, dict):
            raise ValueError(f"{method!r} has no parameters")
        elif not isinstance(message.get("id", params.get("id")), _ID):
            raise ValueError(f"{method!r} has an id that is neither a number nor a string")
        elif method == "call":
            sink = self._sink(params.get("run"))
            if sink is None:
                self.answer(message.get("id"), error_body("the run has ended"))
            else:
                sink.call(message.get("id"), params)
        elif method == "log":
            sink = self._sink(params.get("run"))
            if sink is not None:
                sink.log(params)
        elif method == "cancel":
            with self._lock:
                sinks = list(self._sinks.values())
            for sink in sinks:
                sink.cancel(params.get("id"))
        elif "id" in message:
            unknown = {"code": -32601, "message": f"there is no method {method}"}
            self.answer(message["id"], f'"error":{json.dumps(unknown)}')

    def _answered(self, message: dict[str, Any]) -> None:
        id, result, error = (message.get(key) for key in ("id", "result", "error"))
        answer: dict[str, Any] | BelljarError
        if isinstance(result, dict):
            answer = result
        elif not isinstance(error, dict):
            raise ValueError("an answer has neither a result nor an error")
        elif id is None:
            raise ValueError(f"belljar could not read a message: {error.get('message')}")
        else:
            answer = _refusal(error)
        with self._lock:
            sink = self._sinks.pop(id, None) if isinstance(id, int) else None
        if sink is not None:
            sink.end(answer)

    def _sink(self, id: object) -> Sink | None:
        with self._lock:
            return self._sinks.get(id) if isinstance(id, int) else None

    def _break(self, why: str) -> None:
        self._why = self._why or why
        self._process.kill()

    def _end(self) -> None:
        """The reader's last step: nothing more will come from the process."""
        if self._why is not None:
            self._process.kill()
        self._close_stdin()
        try:
            self._process.wait(CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # A child of the process may still have stderr open.
        self._listener.join(3.0)
        how = self._how_it_ended()
        with self._lock:
            self._lost = how
            sinks = list(self._sinks.values())
            self._sinks.clear()
            self._wake_writer.notify()
        self._stdout.close()
        for sink in sinks:
            sink.end(ConnectionLost(how))

    def _how_it_ended(self) -> str:
        if self._is_closing:
            return "the client was closed"
        status = self._process.returncode
        ended = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        text = f"belljar's process {ended}"
        if self._why is not None:
            text = f"belljar's process was stopped because {self._why}"
        if self._last_words:
            text += "; its last lines on stderr:\n" + "\n".join(self._last_words)
        return text

    def _listen(self) -> None:
        """Passes the process's stderr on to `logging`."""
        rest = b""
        while chunk := os.read(self._stderr.fileno(), _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            # A line that does not end is cut.
            rest = rest[:_LAST_LINE]
            for line in lines:
                text = line[:_LAST_LINE].decode(errors="replace").rstrip()
                self._last_words.append(text)
                log.info("%s", text)
        self._stderr.close()


class _Hello:
    """Waits for the answer to the first request."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.answer: dict[str, Any] | BelljarError = {}

    def call(self, call: object, params: dict[str, Any]) -> None:
        pass

    def cancel(self, call: object) -> None:
        pass

    def log(self, entry: dict[str, Any]) -> None:
        pass

    def end(self, answer: dict[str, Any] | BelljarError) -> None:
        self.answer = answer
        self.ended.set()


def _lines(fd: int) -> Iterator[bytes]:
    """The lines of a pipe. Raises `ValueError` if one is longer than the protocol allows."""
    rest = bytearray()
    while chunk := os.read(fd, _CHUNK):
        start = len(rest)
        rest += chunk
        begin = 0
        while (end := rest.find(b"\n", max(begin, start))) >= 0:
            yield bytes(rest[begin:end])
            begin = end + 1
        del rest[:begin]
        if len(rest) > MAX_LINE:
            raise ValueError(f"a line has more than {MAX_LINE} bytes")


def _write_some(fd: int, data: memoryview) -> int:
    if sys.platform == "win32":
        return os.write(fd, data)
    try:
        return os.write(fd, data)
    except BlockingIOError:
        room = select.poll()
        room.register(fd, select.POLLOUT)
        room.poll()
        return 0


def _refusal(error: dict[str, Any]) -> BelljarError:
    code = error.get("code")
    message = str(error.get("message", ""))
    if code == TOO_LONG:
        return OutcomeTooLong(message)
    kind = BusyError if code in BUSY else RequestError
    return kind(message, code if isinstance(code, int) else 0)


def error_body(message: str, name: str | None = None) -> str:
    """The answer to a call that failed: the error that the script gets."""
    error: dict[str, Any] = {"code": -32000, "message": message}
    if name is not None:
        error["data"] = {"name": name}
    return f'"error":{json.dumps(error)}'


def _thread(work: Any, name: str) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread
