"""The process behind the client: how it starts, dies, is restarted and ends."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import belljar._connection
from belljar import (
    Belljar,
    BinaryNotFound,
    BusyError,
    ClosedError,
    ConnectionLost,
    Log,
    OutcomeTooLong,
    RunCancelled,
    StartError,
    SyncBelljar,
)

MISBEHAVING = Path(__file__).with_name("misbehaving.py")


@pytest.fixture
def misbehaving(tmp_path: Path) -> str:
    """A program that misbehaves as its first argument says."""
    program = tmp_path / "belljar"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{MISBEHAVING}" "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("dies", "ended with status 3.*out of luck\nat line 3"),
        ("killed", "signal 9"),
        ("junk", "broke the protocol.*Hello!"),
        ("array", "broke the protocol"),
        ("deep", "broke the protocol"),
        ("long", "more than 16777216 bytes"),
        ("odd-id", "neither a number nor a string"),
        ("neither", "neither a result nor an error"),
        ("closes-stdout", "belljar's process"),
    ],
)
async def test_a_process_that_dies_or_talks_nonsense_fails_its_runs_alone(
    misbehaving: str, how: str, why: str
) -> None:
    async with Belljar(misbehaving, arguments=[how]) as jar:
        first = (await jar.start()).copy()
        runs = await asyncio.gather(*(jar.run("x") for _ in range(2)), return_exceptions=True)
        for fault in runs:
            assert isinstance(fault, ConnectionLost)
            assert re.search(f"(?s){why}", str(fault)), fault
        # The next run starts another process, which fails as well.
        assert (await jar.start()) == first
        with pytest.raises(ConnectionLost):
            await jar.run("x")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("no-greeting", "(?s)status 7.*cannot read the settings"),
        ("old", "does not speak version 1"),
        ("refuses", "too new"),
    ],
)
async def test_a_program_that_is_not_this_belljar_is_refused(
    misbehaving: str, how: str, why: str
) -> None:
    with pytest.raises(StartError, match=why):
        await Belljar(misbehaving, arguments=[how]).run("x")


async def test_a_program_that_cannot_be_run_is_a_start_error(tmp_path: Path) -> None:
    program = tmp_path / "belljar"
    program.write_text("#!/nowhere/at/all\n")
    program.chmod(0o755)
    with pytest.raises(StartError, match="cannot be started"):
        await Belljar(program).start()
    with pytest.raises(BinaryNotFound, match="binary= names"):
        await Belljar(tmp_path / "none").start()


async def test_a_program_that_never_answers_is_given_up(
    misbehaving: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(belljar._connection, "START_TIMEOUT", 0.2)
    program = Path(misbehaving)
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    with pytest.raises(StartError, match="did not answer"):
        await Belljar(program).start()


async def test_an_answer_that_is_no_outcome_is_an_error_of_its_run(misbehaving: str) -> None:
    async with Belljar(misbehaving, arguments=["no-outcome"]) as jar:
        with pytest.raises(ValueError, match="does not say"):
            await jar.run("x")


async def test_a_busy_belljar_is_an_exception_of_its_own(misbehaving: str) -> None:
    for how, why in (("busy", "too many runs"), ("ending", "belljar is ending")):
        async with Belljar(misbehaving, arguments=[how]) as jar:
            with pytest.raises(BusyError, match=why):
                await jar.run("x")


async def test_an_outcome_that_no_line_can_hold_fails_its_run_alone(misbehaving: str) -> None:
    async with Belljar(misbehaving, arguments=["too-long"]) as jar:
        with pytest.raises(OutcomeTooLong, match="above 16 MiB"):
            await jar.run("x")
        assert (await jar.run("x")).unwrap() == 1


async def test_on_log_is_told_how_many_lines_were_left_out(misbehaving: str) -> None:
    seen: list[Log] = []
    async with Belljar(misbehaving, arguments=["loses-logs"]) as jar:
        await jar.run("x", on_log=seen.append)
    assert seen == [Log("log", "a"), Log("log", "d", lost=2)]


async def test_messages_that_nobody_waits_for_do_no_harm(misbehaving: str) -> None:
    async with Belljar(misbehaving, arguments=["strangers"]) as jar:
        outcome = await jar.run("x", tools={"a": {"b": lambda: 1}})
        assert outcome.unwrap() == {
            "q": "there is no method question",
            "c1": "the run has ended",
            "c2": "there is no tool none",
        }


async def test_a_process_that_reads_nothing_blocks_no_loop_and_is_killed(
    misbehaving: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(belljar._connection, "CLOSE_TIMEOUT", 0.2)
    jar = Belljar(misbehaving, arguments=["deaf"])
    await jar.start()
    # More than a pipe holds.
    runs = [asyncio.create_task(jar.run("x" * (1 << 20))) for _ in range(3)]
    # None of them blocks the loop: this task continues.
    await asyncio.sleep(0)
    await jar.close()
    for run in runs:
        with pytest.raises(ConnectionLost, match="the client was closed"):
            await run


async def test_closing_ends_the_runs_under_way_and_joins_their_calls() -> None:
    other = Belljar()
    started, ended = asyncio.Event(), asyncio.Event()

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    run = asyncio.create_task(other.run("await forever()", functions={"forever": forever}))
    await started.wait()
    await other.close()
    with pytest.raises(RunCancelled):
        (await run).unwrap()
    assert ended.is_set()
    # And it stays closed.
    with pytest.raises(ClosedError):
        await other.run("return 1")
    await other.close()


def test_a_closed_client_takes_no_more_runs() -> None:
    async def use() -> None:
        async with Belljar() as jar:
            assert (await jar.run("return 1")).unwrap() == 1
        with pytest.raises(ClosedError, match="was closed"):
            await jar.run("return 1")

    asyncio.run(use())
    with SyncBelljar() as sync:
        assert sync.run("return 1").unwrap() == 1
    with pytest.raises(ClosedError):
        sync.run("return 1")


async def test_the_real_process_comes_again_after_it_was_killed() -> None:
    async with Belljar() as jar:
        first = (await jar.start())["pid"]
        started = asyncio.Event()

        async def forever() -> None:
            started.set()
            await asyncio.Event().wait()

        run = asyncio.create_task(jar.run("await forever()", functions={"forever": forever}))
        await started.wait()
        os.kill(first, 9)
        with pytest.raises(ConnectionLost, match="signal 9"):
            await run
        assert (await jar.run("return 1")).unwrap() == 1
        second = (await jar.start())["pid"]
        assert second != first


def test_one_process_serves_several_loops_one_after_another_and_at_once(jar: Belljar) -> None:
    async def pid() -> Any:
        assert (await jar.run("return await f()", functions={"f": lambda: 1})).unwrap() == 1
        return (await jar.start())["pid"]

    pids = [asyncio.run(pid()), asyncio.run(pid())]
    threads = [
        threading.Thread(target=lambda: pids.append(asyncio.run(pid()))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 5 and len(set(pids)) == 1


def test_a_loop_that_ends_in_the_middle_of_a_run_ends_the_run(jar: Belljar) -> None:
    async def leave() -> None:
        started = asyncio.Event()

        async def forever() -> None:
            started.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(jar.run("await forever()", functions={"forever": forever}))
        await started.wait()
        tasks.append(task)

    tasks: list[asyncio.Task[Any]] = []
    asyncio.run(leave())
    assert tasks[0].cancelled()
    assert asyncio.run(jar.run("return 1")).unwrap() == 1


def test_a_loop_that_is_closed_without_a_word_ends_its_run(jar: Belljar) -> None:
    loop = asyncio.new_event_loop()
    started = asyncio.Event()
    task = loop.create_task(
        jar.run(
            "const tick = () => { console.log('tick'); setTimeout(tick, 1) }; tick(); await forever()",
            functions={"forever": asyncio.Event().wait},
            on_log=lambda line: started.set(),
        )
    )
    loop.run_until_complete(started.wait())
    loop.close()
    connection = jar._launcher.ready()
    assert connection is not None
    # Nobody reads the script's next log, which ends the run. Its answer removes it from `_sinks`.
    deadline = time.monotonic() + 20
    while connection._sinks:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    # asyncio complains about a task that is dropped, but dropping it is the point of this test.
    _never_awaited.append(task)


_never_awaited: list[asyncio.Task[Any]] = []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_belljar_of_its_own(jar: Belljar, sync_jar: SyncBelljar) -> None:
    ours = sync_jar.start()["pid"]
    sync_jar.run("return await f()", functions={"f": lambda: 1}).unwrap()
    theirs, child = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work() -> None:
        value = sync_jar.run("return await f()", functions={"f": lambda: 2}).unwrap()
        child.send((value, sync_jar.start()["pid"]))
        sync_jar.close()

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    assert theirs.poll(30)
    value, pid = theirs.recv()
    process.join()
    assert value == 2 and pid != ours and process.exitcode == 0
    # The parent's process is still the same.
    assert sync_jar.run("return 1").unwrap() == 1 and sync_jar.start()["pid"] == ours


def test_a_client_that_is_dropped_leaves_no_process() -> None:
    async def once() -> Any:
        jar = Belljar()
        await jar.run("return 1")
        return (await jar.start())["pid"], jar._launcher.ready()

    pid, connection = asyncio.run(once())
    gc.collect()
    assert connection is not None
    connection._reader.join(10)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_program_ends_though_its_client_was_never_closed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import asyncio, belljar
            jar = belljar.Belljar()
            sync = belljar.SyncBelljar()
            print(asyncio.run(jar.run("return await f()", functions={"f": lambda: 1})).value)
            print(sync.run("return 2").value, sync.start()["pid"])
            """
        )
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(belljar.__file__).parents[1])},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "1"
