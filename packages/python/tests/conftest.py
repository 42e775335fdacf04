"""Every test uses the real program, except those of `test_process.py` where it misbehaves."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Iterator

import pytest

from belljar import Belljar, SyncBelljar


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An `async` test has an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    names = inspect.signature(pyfuncitem.function).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(pyfuncitem.function(**arguments))
    return True


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes files of the user who runs it."""
    if not os.environ.get("BELLJAR_BINARY"):
        pytest.exit("BELLJAR_BINARY is not set: it must name the program to test", returncode=2)
    home = str(tmp_path_factory.mktemp("home"))
    os.environ.update(HOME=home, XDG_CONFIG_HOME=home, XDG_STATE_HOME=home, XDG_CACHE_HOME=home)
    yield


@pytest.fixture(scope="session")
def jar() -> Iterator[Belljar]:
    """One client, and one process, for the event loops of all tests."""
    jar = Belljar(limits={"timeout": "120s"})
    yield jar
    asyncio.run(jar.close())


@pytest.fixture(scope="session")
def sync_jar(jar: Belljar) -> Iterator[SyncBelljar]:
    sync = SyncBelljar(jar=jar)
    yield sync
    sync.close()
