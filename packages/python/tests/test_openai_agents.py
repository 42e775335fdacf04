"""belljar as a `FunctionTool` of the OpenAI Agents SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    Runner,
    Usage,
    function_tool,
)
from agents.tool_context import ToolContext
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from belljar import Belljar
from belljar.openai_agents import code_tool


@function_tool(failure_error_function=None)
def add(x: int, y: int) -> int:
    """Adds two numbers."""
    return x + y


@function_tool(failure_error_function=None)
async def who(context: RunContextWrapper[Any], name: str) -> dict[str, Any]:
    return {"name": name, "user": context.context}


@function_tool(failure_error_function=None)
def fail() -> str:
    raise LookupError("nothing there")


async def _invoke(tool: FunctionTool, code: str, context: Any = "ada") -> str:
    arguments = json.dumps({"code": code})
    outer = ToolContext(
        context=context, tool_name=tool.name, tool_call_id="call", tool_arguments=arguments
    )
    answer: str = await tool.on_invoke_tool(outer, arguments)
    return answer


async def test_a_script_calls_the_tools(jar: Belljar) -> None:
    tool = code_tool([add, who], jar=jar)
    code = "return [await tools.add({ x: 1, y: 2 }), await tools.who({ name: 'a' })]"
    assert json.loads(await _invoke(tool, code)) == [3, {"name": "a", "user": "ada"}]


async def test_a_script_may_make_as_many_calls_as_it_needs(jar: Belljar) -> None:
    code = "for (let i = 0; i < 1100; i += 1) await tools.add({ x: i, y: 1 }); return 'all'"
    assert json.loads(await _invoke(code_tool([add], jar=jar), code)) == "all"


async def test_errors_of_tools_can_be_caught_and_those_of_scripts_are_read(jar: Belljar) -> None:
    tool = code_tool([add, fail], jar=jar)
    caught = await _invoke(tool, "return await tools.fail().catch((e) => [e.name, e.message])")
    assert json.loads(caught) == ["LookupError", "nothing there"]
    failed = await _invoke(tool, "console.log('on');\nawait tools.add({ x: 1, y: 1 }); null.x")
    assert failed.startswith("The script failed: ") and "line 2" in failed
    assert "Calls that had ended: add" in failed and "[log] on" in failed


async def test_wrong_arguments_of_the_model_are_an_answer(jar: Belljar) -> None:
    tool = code_tool([add], jar=jar)
    outer = ToolContext(context=None, tool_name="run_code", tool_call_id="c", tool_arguments="")
    for wrong in ("", "[]", "{}", "3"):
        assert "The arguments are wrong" in await tool.on_invoke_tool(outer, wrong)


async def test_each_call_has_an_id_of_its_own_below_that_of_the_script(jar: Belljar) -> None:
    seen: list[str] = []

    @function_tool
    def note(context: ToolContext[Any]) -> str:
        seen.append(f"{context.tool_call_id} {context.tool_name}")
        return ""

    await _invoke(code_tool([note], jar=jar), "await tools.note(); await tools.note()")
    assert seen == ["call:1 note", "call:2 note"]


async def test_a_tool_that_is_not_enabled_is_not_there(jar: Belljar) -> None:
    @function_tool(is_enabled=False)
    def off() -> str:
        return "on"

    tool = code_tool([add, off], jar=jar)
    assert await _invoke(tool, "return Object.keys(tools)") == '["add"]'


async def test_a_tools_own_timeout_holds(jar: Belljar) -> None:
    import asyncio

    @function_tool(timeout=0.05, timeout_behavior="raise_exception", failure_error_function=None)
    async def slow() -> str:
        await asyncio.Event().wait()
        return ""

    answer = await _invoke(code_tool([slow], jar=jar), "return await tools.slow().catch((e) => e.name)")
    assert "Timeout" in answer


def test_tools_with_approvals_or_guardrails_are_refused(jar: Belljar) -> None:
    @function_tool(needs_approval=True)
    def delete() -> str:
        return ""

    with pytest.raises(ValueError, match="needs_approval"):
        code_tool([delete], jar=jar)


def test_the_model_is_shown_each_tool_as_typescript(jar: Belljar) -> None:
    tool = code_tool([add, who], jar=jar, name="script")
    assert tool.name == "script"
    assert "/** Adds two numbers. */\n  add(input: { x: number; y: number }): Promise<" in tool.description
    assert tool.params_json_schema["required"] == ["code"]


class _Scripted(Model):
    """A model that calls the tool once, and then repeats its answer."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = [item["output"] for item in input if isinstance(item, dict) and "output" in item]
        item: Any
        if outputs:
            text = ResponseOutputText(type="output_text", text=str(outputs[-1]), annotations=[])
            item = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            arguments = json.dumps({"code": "return await tools.add({ x: 20, y: 22 })"})
            item = ResponseFunctionToolCall(
                type="function_call", call_id="c", name="run_code", arguments=arguments
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


async def test_an_agent_runs_it(jar: Belljar) -> None:
    agent = Agent(name="a", model=_Scripted(), tools=[code_tool([add], jar=jar)])
    result = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    assert result.final_output == "42"
