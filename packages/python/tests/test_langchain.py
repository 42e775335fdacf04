"""belljar as a LangChain tool."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from belljar import Belljar
from belljar.langchain import code_tool


@tool
def add(x: int, y: int) -> int:
    """Adds two numbers."""
    return x + y


@tool
def fail() -> str:
    """Fails."""
    raise ToolException("nothing there")


async def _double(x: int) -> int:
    await asyncio.sleep(0)
    return 2 * x


double = StructuredTool.from_function(coroutine=_double, name="double", description="Doubles.")


class Names(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **more: Any) -> None:
        self.seen.append(serialized["name"])


def test_invoke_runs_a_script_over_the_tools(jar: Belljar) -> None:
    run = code_tool([add], jar=jar)
    code = "return (await Promise.all([1, 2, 3].map((x) => tools.add({ x, y: 1 })))).join()"
    assert run.invoke({"code": code}) == '"2,3,4"'


async def test_ainvoke_runs_a_script_over_tools_of_both_kinds(jar: Belljar) -> None:
    run = code_tool([add, double], jar=jar)
    code = "return [await tools.add({ x: 1, y: 2 }), await tools.double({ x: 4 })]"
    assert json.loads(await run.ainvoke({"code": code})) == [3, 8]


async def test_bytes_are_told_of_by_their_number(jar: Belljar) -> None:
    code = "return [new Uint8Array([255]), new Int32Array(3), new BigInt64Array(2)]"
    assert json.loads(await code_tool([add], jar=jar).ainvoke({"code": code})) == ["<1 bytes>", "<12 bytes>", "<16 bytes>"]


async def test_a_script_may_make_as_many_calls_as_it_needs(jar: Belljar) -> None:
    code = "for (let i = 0; i < 1100; i += 1) await tools.add({ x: i, y: 1 }); return 'all'"
    assert json.loads(await code_tool([add], jar=jar).ainvoke({"code": code})) == "all"
    assert code_tool([add], jar=jar).invoke({"code": code}) == '"all"'


def test_a_call_of_a_model_is_answered_with_a_message(jar: Belljar) -> None:
    run = code_tool([add], jar=jar)
    call = {"type": "tool_call", "id": "1", "name": run.name, "args": {"code": "return 'a'"}}
    message = run.invoke(call)
    assert (message.tool_call_id, message.content) == ("1", '"a"')


async def test_errors_of_tools_can_be_caught_and_those_of_scripts_are_read(jar: Belljar) -> None:
    run = code_tool([add, fail], jar=jar)
    code = "return await tools.fail().catch((e) => [e.name, e.message])"
    assert json.loads(await run.ainvoke({"code": code})) == ["ToolException", "nothing there"]
    wrong = "return await tools.add({ x: 'one', y: 2 }).catch((e) => e.message)"
    assert "x" in await run.ainvoke({"code": wrong})
    failed = await run.ainvoke({"code": "null.x"})
    assert failed.startswith("The script failed: ")


@pytest.mark.parametrize("is_async", [False, True])
async def test_callbacks_reach_the_tools_that_a_script_calls(jar: Belljar, is_async: bool) -> None:
    names = Names()
    config: RunnableConfig = {"callbacks": [names]}
    run = code_tool([add], jar=jar)
    given = {"code": "await tools.add({ x: 1, y: 2 })"}
    if is_async:
        await run.ainvoke(given, config)
    else:
        await asyncio.to_thread(run.invoke, given, config)
    assert names.seen == ["run_code", "add"]


def test_the_model_is_shown_each_tool_as_typescript(jar: Belljar) -> None:
    shown = convert_to_openai_tool(code_tool([add, double], jar=jar))["function"]
    assert "/** Adds two numbers. */\n  add(input: { x: number; y: number }): Promise<" in shown["description"]
    assert list(shown["parameters"]["properties"]) == ["code"]
    assert shown["parameters"]["required"] == ["code"]


async def test_cancelling_the_invocation_cancels_the_tools(jar: Belljar) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    slow = StructuredTool.from_function(coroutine=forever, name="forever", description="Waits.")
    run = code_tool([slow], jar=jar)
    task = asyncio.create_task(run.ainvoke({"code": "await tools.forever()"}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
