"""Cancellation in frameworks on anyio, which cancel a cancelled task again at each `await`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def joined(work: Coroutine[Any, Any, T]) -> T:
    """Awaits the coroutine in its own task, which is cancelled at most once and then awaited."""
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
