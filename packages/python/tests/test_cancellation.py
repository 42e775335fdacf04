"""Cancellation both ways: of a run by its host, and of the host's calls when a run ends."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable

import pytest

from belljar import Belljar, Log, Outcome, SyncBelljar, is_cancelled


async def test_cancelling_the_task_ends_the_run_and_its_calls(jar: Belljar) -> None:
    started, ended = asyncio.Event(), asyncio.Event()
    lines: list[Log] = []

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            # What a tool awaits while it is cancelled is awaited too.
            await asyncio.sleep(0)
            ended.set()

    task = asyncio.create_task(
        jar.run(
            "const tick = () => { console.log('tick'); setTimeout(tick, 1) }; tick(); await forever()",
            functions={"forever": forever},
            on_log=lines.append,
        )
    )
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    _assert_that_nothing_runs(jar)
    assert lines


async def test_a_script_that_only_computes_ends_when_its_task_does(jar: Belljar) -> None:
    started = asyncio.Event()
    task = asyncio.create_task(
        jar.run("console.log('on'); for (;;);", on_log=lambda line: started.set())
    )
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    _assert_that_nothing_runs(jar)


async def test_a_timeout_of_asyncio_ends_the_run(jar: Belljar) -> None:
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(jar.run("await new Promise((r) => setTimeout(r, 9000))"), 0.1)
    _assert_that_nothing_runs(jar)


# When a script returns or throws, belljar waits for calls that it left behind. So a limit ends the
# runs here.
async def test_the_end_of_a_run_cancels_and_joins_what_it_left_behind(jar: Belljar) -> None:
    ended: list[str] = []
    started = asyncio.Event()

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("forever")

    async def wait() -> None:
        await started.wait()

    outcome = await jar.run(
        "forever().catch(() => {}); for (;;) await wait()",
        functions={"forever": forever, "wait": wait},
        limits={"max_calls": 3},
    )
    assert outcome.error is not None and outcome.error.kind == "calls"
    assert ended == ["forever"]


async def test_a_call_that_reaches_its_limit_is_cancelled_while_the_run_goes_on(
    jar: Belljar,
) -> None:
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def wait() -> bool:
        await ended.wait()
        return True

    outcome = await jar.run(
        "const why = await forever().catch((e) => e.message); return [why, await wait()]",
        functions={"forever": forever, "wait": wait},
        limits={"call": "100ms"},
    )
    why, was_cancelled = outcome.unwrap()
    assert why and was_cancelled


async def test_a_function_in_a_thread_is_told_and_waited_for(jar: Belljar) -> None:
    events: list[str] = []
    started = asyncio.Event()
    loop = asyncio.get_running_loop()
    over = threading.Event()

    def slow() -> None:
        loop.call_soon_threadsafe(started.set)
        while not is_cancelled():
            over.wait(0.001)
        events.append("told")

    async def wait() -> None:
        await started.wait()

    assert not is_cancelled()
    outcome = await jar.run(
        "slow().catch(() => {}); for (;;) await wait()",
        functions={"slow": slow, "wait": wait},
        limits={"max_calls": 3},
    )
    assert outcome.error is not None and outcome.error.kind == "calls"
    assert events == ["told"]


async def test_no_function_begins_or_goes_on_when_its_run_has_ended(jar: Belljar) -> None:
    begun = under_way = 0
    lock = threading.Lock()
    loop = asyncio.get_running_loop()
    full = asyncio.Event()
    over = threading.Event()

    def slow() -> None:
        nonlocal begun, under_way
        with lock:
            begun, under_way = begun + 1, under_way + 1
            if begun == 32:
                loop.call_soon_threadsafe(full.set)
        while not is_cancelled():
            over.wait(0.001)
        with lock:
            under_way -= 1

    async def wait() -> None:
        await full.wait()

    # More than there are threads.
    outcome = await jar.run(
        "for (let i = 0; i < 40; i++) slow().catch(() => {}); for (;;) await wait()",
        functions={"slow": slow, "wait": wait},
        limits={"max_calls": 42},
    )
    assert outcome.error is not None and outcome.error.kind == "calls"
    begun_then, under_way_then = begun, under_way
    assert 32 <= begun_then <= 40 and under_way_then == 0
    # The threads are free, and nothing of the run that has ended is queued before this.
    again = await jar.run("return await f()", functions={"f": lambda: 1})
    assert again.unwrap() == 1 and (begun, under_way) == (begun_then, 0)


async def test_a_tool_that_cancels_itself_fails_its_call(jar: Belljar) -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    outcome = await jar.run(
        "return await gives_up().catch((e) => e.message)", functions={"gives_up": gives_up}
    )
    assert outcome.unwrap() == "the call was cancelled"


async def test_a_tool_can_run_a_script_of_its_own(jar: Belljar) -> None:
    async def again(n: int) -> int:
        inner = await jar.run("return n + 1", prelude=f"globalThis.n = {n};")
        value: int = inner.unwrap()
        return value

    outcome = await jar.run("return await again({ n: 1 })", functions={"again": again})
    assert outcome.unwrap() == 2


def test_ctrl_c_ends_a_run_of_the_sync_client(sync_jar: SyncBelljar) -> None:
    ended = threading.Event()

    async def forever() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    # Where a shell starts the tests in the background, Python finds the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sync_jar.run("await forever()", functions={"forever": forever})
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.is_set()
    assert sync_jar.run("return 1").unwrap() == 1


@pytest.mark.parametrize("told", ["before", "after"])
def test_ctrl_c_while_a_run_begins_leaves_nothing_running(
    sync_jar: SyncBelljar, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    assert sync_jar.run("return 1").unwrap() == 1
    loop = sync_jar._loop._loop
    assert loop is not None
    tell = loop.call_soon_threadsafe

    def interrupted(callback: Callable[[], object]) -> None:
        monkeypatch.undo()
        if told == "after":
            tell(callback)
        raise KeyboardInterrupt

    begun: list[str] = []
    ended: list[str] = []

    async def forever() -> None:
        begun.append("forever")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("forever")

    monkeypatch.setattr(loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sync_jar.run("await forever()", functions={"forever": forever})
    assert begun == ended and (told == "after" or not begun)
    assert sync_jar.run("return 1").unwrap() == 1
    _assert_that_nothing_runs(sync_jar._jar)


def test_closing_ends_the_runs_of_other_threads_too() -> None:
    """Also one whose function is in a thread, which nothing can interrupt."""
    sync = SyncBelljar()
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    outcomes: list[Outcome] = []

    def slow() -> None:
        begun.set()
        go_on.wait()

    def run() -> None:
        outcomes.append(sync.run("await slow()", functions={"slow": slow}))
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    assert begun.wait(60)
    thread = sync._loop._thread
    assert thread is not None
    sync.close()
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(60)
    assert outcomes[0].error is not None and outcomes[0].error.kind == "cancelled"
    thread.join(60)
    assert not thread.is_alive()


def _assert_that_nothing_runs(jar: Belljar) -> None:
    """Asserts that belljar has answered every run: until then, the connection has its sink."""
    connection = jar._launcher.ready()
    assert connection is not None and not connection._sinks
