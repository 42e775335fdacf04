"""Monty, by the protocol of ../README.md: Python, with the workloads translated line by line.

A sandbox is a worker process of a warm pool, which one session has to itself and gives back.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

from pydantic_monty import AsyncMonty

HERE = Path(__file__).parent.parent
ROWS = json.loads((HERE / 'rows.json').read_text())
# What a sandbox may take in the rows that are no attack.
PATIENT = {'max_feed_duration_secs': 30.0, 'max_memory': 256_000_000, 'max_suspensions': 100_000}
LONGEST_SAMPLES = 500


async def answer():
    row = sys.argv[1]
    if row == 'about':
        say(
            {
                'name': 'Monty',
                'versions': {'pydantic-monty': version('pydantic-monty'), 'python': sys.version.split()[0]},
                'fresh': 'a session in a worker process of a warm pool',
            }
        )
        return
    answers = {'fresh': fresh, 'work': work, 'waiting': waiting, 'hostile': hostile}
    budget = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.0
    say(await answers[ROWS[row]['kind']](row, budget))
    sys.stdout.flush()
    # Sandboxes that wait do not end by themselves.
    os._exit(0)


async def fresh(row, budget):
    """A new session for each sample, from nothing to nothing."""
    script = workload(row)
    async with AsyncMonty() as pool:

        async def once():
            begun = time.perf_counter()
            async with pool.checkout(limits=PATIENT) as session:
                value = await session.feed_run(script)
            return milliseconds_since(begun), value

        return await sample(budget, once)


async def work(row, budget):
    """A session that is up and has run nothing, for each sample: the time of the script alone."""
    script = workload(row)
    box = tools()
    async with AsyncMonty() as pool:

        async def once():
            async with pool.checkout(limits=PATIENT) as session:
                begun = time.perf_counter()
                value = await session.feed_run(script, external_lookup=box)
                milliseconds = milliseconds_since(begun)
            return milliseconds, len(value) if isinstance(value, list) else value

        return await sample(budget, once)


async def waiting(row, _budget):
    """Many sandboxes that wait for a tool; whoever started this process measures its memory before and then."""
    count = ROWS[row]['count']
    arrived = 0
    everybody = asyncio.Event()

    async def hold(_given):
        nonlocal arrived
        arrived += 1
        if arrived == count:
            everybody.set()
        await asyncio.Event().wait()

    async with AsyncMonty(max_processes=count) as pool:

        async def one(script, box):
            async with pool.checkout(limits=PATIENT) as session:
                return await session.feed_run(script, external_lookup=box)

        await one(workload('fresh'), {})
        say({'waiting': 0})
        await asked()
        held = [asyncio.create_task(one(workload(row), {'hold': hold})) for _ in range(count)]
        await everybody.wait()
        say({'waiting': arrived})
        await asked()
        # The process ends here, and its workers with it: those that wait are not given back.
        say({'done': True})
        sys.stdout.flush()
        os._exit(0 if len(held) == count else 1)


async def hostile(row, _budget):
    """One attack, and whether this process can go on afterwards."""
    limits = {
        **PATIENT,
        'max_feed_duration_secs': ROWS[row]['milliseconds'] / 1000,
        'max_memory': ROWS[row]['megabytes'] * 1_000_000,
    }
    async with AsyncMonty() as pool:
        begun = time.perf_counter()
        with contextlib.suppress(asyncio.CancelledError):
            try:
                async with pool.checkout(limits=limits) as session:
                    ended = {'returned': await session.feed_run(workload(row), external_lookup=tools())}
            except Exception as error:
                ended = {'ended': f'{type(error).__name__}: {error}'[:200]}
        ended['milliseconds'] = milliseconds_since(begun)
        async with pool.checkout(limits=PATIENT) as session:
            ended['serves'] = await session.feed_run(workload('fresh')) == ROWS['fresh']['value']
        return ended


async def sample(budget, once):
    """One run that does not count, then as many as there is time for."""
    _, value = await once()
    milliseconds = []
    end = time.perf_counter() + budget
    while not milliseconds or (time.perf_counter() < end and len(milliseconds) < LONGEST_SAMPLES):
        one, again = await once()
        if again != value:
            raise ValueError(f'{again!r} after {value!r}')
        milliseconds.append(one)
    return {'milliseconds': milliseconds, 'value': value}


def tools():
    all_records = [
        {
            'id': number,
            'name': f'record number {number}',
            'tags': ['a', 'b'],
            'open': number % 3 == 0,
            'at': '2026-01-01T00:00:00Z',
        }
        for number in range(10_000)
    ]

    async def echo(given):
        return given

    async def wait(_given):
        await asyncio.sleep(0.05)
        return 50

    async def records(_given):
        return {'records': all_records}

    return {'echo': echo, 'wait': wait, 'records': records}


def workload(row):
    return (HERE / 'workloads' / f'{row}.py').read_text().strip()


def milliseconds_since(begun):
    return (time.perf_counter() - begun) * 1000


def say(line):
    print(json.dumps(line), flush=True)


async def asked():
    """Waits for a line."""
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


asyncio.run(answer())
