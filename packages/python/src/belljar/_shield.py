"""Cancellation as anyio's hosts mean it: a cancelled task is cancelled again at each `await`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def joined(work: Coroutine[Any, Any, T]) -> T:
    """Awaits the coroutine in a task of its own, which is cancelled once and then waited for."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
