"""belljar as a capability of a pydantic-ai agent. The models are pydantic-ai's own for tests."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, Tool
from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from belljar import Belljar
from belljar.pydantic_ai import BelljarCodeMode


class Scripted:
    """A model that answers with these scripts in turn, and keeps what the tool answered."""

    def __init__(self, *scripts: str) -> None:
        self._scripts = list(scripts)
        self.tools: list[str] = []
        self.description = ""
        self.answers: list[Any] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.tools = [tool.name for tool in info.function_tools]
        by_name = {tool.name: tool for tool in info.function_tools}
        if "run_code" in by_name:
            self.description = by_name["run_code"].description or ""
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        self.answers += [
            part.content
            for part in last.parts
            if isinstance(part, ToolReturnPart | RetryPromptPart)
        ]
        if not self._scripts:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("run_code", {"code": self._scripts.pop(0)})])


def _agent(model: Scripted, jar: Belljar, has: Any, **options: Any) -> Agent[int, str]:
    mode: BelljarCodeMode[int] = BelljarCodeMode(jar=jar, **options)
    return Agent(FunctionModel(model), deps_type=int, tools=has, capabilities=[mode])


def add(x: int, y: int) -> int:
    """Adds two numbers."""
    return x + y


async def who(ctx: RunContext[int], name: str = "you") -> dict[str, Any]:
    return {"name": name, "user": ctx.deps, "tool": ctx.tool_name}


async def test_a_script_calls_the_agents_tools_and_the_model_reads_its_value(jar: Belljar) -> None:
    model = Scripted(
        "const n = await tools.add({ x: 1, y: 2 }); return [n, await tools.who({ name: 'a' })]"
    )
    result = await _agent(model, jar, [add, who]).run("go", deps=7)
    assert result.output == "done"
    assert model.tools == ["run_code"]
    assert model.answers == [[3, {"name": "a", "user": 7, "tool": "who"}]]


async def test_the_model_is_shown_each_tool_as_typescript(jar: Belljar) -> None:
    model = Scripted()
    await _agent(model, jar, [add, who]).run("go", deps=1)
    assert "declare const tools: {" in model.description
    assert "/** Adds two numbers. */\n  add(input: { x: number; y: number }): Promise<" in model.description
    assert "who(input: { name?: string }): Promise<" in model.description


async def test_logs_reach_the_model_beside_the_value(jar: Belljar) -> None:
    model = Scripted("console.warn('careful'); return 1")
    await _agent(model, jar, [add]).run("go", deps=1)
    assert model.answers == [{"value": 1, "logs": ["[warn] careful"]}]


async def test_a_script_that_fails_is_tried_again_with_the_reason(jar: Belljar) -> None:
    model = Scripted("await tools.add({ x: 1, y: 2 });\nnull.x", "return 2")
    result = await _agent(model, jar, [add]).run("go", deps=1)
    assert result.output == "done"
    reason, value = model.answers
    assert "null" in reason and "line 2" in reason and "Calls that had ended: add" in reason
    assert value == 2


async def test_a_model_that_never_gets_it_right_is_given_up(jar: Belljar) -> None:
    model = Scripted(*["throw new Error('no')"] * 3)
    with pytest.raises(UnexpectedModelBehavior):
        await _agent(model, jar, [add], max_retries=1).run("go", deps=1)


async def test_arguments_are_validated_as_those_of_the_model_are(jar: Belljar) -> None:
    model = Scripted("return await tools.add({ x: 'one', y: 2 }).catch((e) => e.message)")
    await _agent(model, jar, [add]).run("go", deps=1)
    assert "x" in model.answers[0]


async def test_a_retry_that_a_tool_asks_for_is_an_error_of_its_call(jar: Belljar) -> None:
    def picky() -> None:
        raise ModelRetry("ask for less")

    model = Scripted("return await tools.picky().catch((e) => e.message)")
    await _agent(model, jar, [picky]).run("go", deps=1)
    assert "ask for less" in model.answers[0]


async def test_hooks_see_the_calls_of_a_script(jar: Belljar) -> None:
    hooks: Hooks[int] = Hooks()
    seen: list[str] = []

    @hooks.on.before_tool_execute
    async def note(ctx: RunContext[int], *, call: ToolCallPart, tool_def: Any, args: Any) -> Any:
        seen.append(call.tool_name)
        return args

    model = Scripted("return await tools.add({ x: 1, y: 2 })")
    mode: BelljarCodeMode[int] = BelljarCodeMode(jar=jar)
    agent = Agent(FunctionModel(model), deps_type=int, tools=[add], capabilities=[hooks, mode])
    await agent.run("go", deps=1)
    assert seen == ["run_code", "add"]


async def test_tools_that_are_not_selected_stay_as_they_are(jar: Belljar) -> None:
    model = Scripted("return Object.keys(tools)")
    await _agent(model, jar, [add, who], tools=["add"]).run("go", deps=1)
    assert sorted(model.tools) == ["run_code", "who"]
    assert model.answers == [["add"]]


async def test_a_tool_that_needs_approval_cannot_be_called_by_a_script(jar: Belljar) -> None:
    called: list[int] = []

    def delete() -> None:
        called.append(1)

    tool = Tool(delete, requires_approval=True)
    model = Scripted("return Object.keys(tools)")
    await _agent(model, jar, [add, tool]).run("go", deps=1)
    assert called == []
    assert model.answers == [["add"]]


async def test_an_agent_without_tools_is_left_alone(jar: Belljar) -> None:
    model = Scripted()
    await _agent(model, jar, []).run("go", deps=1)
    assert model.tools == []


async def test_names_that_scripts_cannot_write_are_changed_and_clashes_refused(
    jar: Belljar,
) -> None:
    model = Scripted("return await tools.add_numbers({ x: 1, y: 2 })")
    await _agent(model, jar, [Tool(add, name="add-numbers")]).run("go", deps=1)
    assert model.answers == [3]
    clash = [Tool(add, name="a-b"), Tool(add, name="a_b")]
    with pytest.raises(ValueError, match="rename one"):
        await _agent(Scripted(), jar, clash).run("go", deps=1)
    with pytest.raises(UserError, match="another name"):
        await _agent(Scripted(), jar, [Tool(add, name="run_code")]).run("go", deps=1)


async def test_bytes_are_told_of_by_their_number(jar: Belljar) -> None:
    model = Scripted("return [new Uint8Array([255]), new Int32Array(3), new BigInt64Array(2)]")
    await _agent(model, jar, [add]).run("go", deps=1)
    assert model.answers == [["<1 bytes>", "<12 bytes>", "<16 bytes>"]]


async def test_a_script_may_make_as_many_calls_as_it_needs(jar: Belljar) -> None:
    model = Scripted(
        "for (let i = 0; i < 1100; i += 1) await tools.add({ x: i, y: 1 }); return 'all'"
    )
    await _agent(model, jar, [add]).run("go", deps=1)
    assert model.answers == ["all"]


async def test_limits_end_a_script_of_the_model(jar: Belljar) -> None:
    model = Scripted("for (;;);", "return 1")
    await _agent(model, jar, [add], limits={"timeout": "100ms"}).run("go", deps=1)
    assert "time" in model.answers[0].lower() and model.answers[1] == 1


async def test_pydantic_ais_own_test_model_can_call_it(jar: Belljar) -> None:
    mode: BelljarCodeMode[None] = BelljarCodeMode(jar=jar, max_retries=0)
    agent = Agent(TestModel(), tools=[add], capabilities=[mode])
    # It makes up an argument from the schema: the code `a`, which fails when it is run.
    with pytest.raises(UnexpectedModelBehavior):
        await agent.run("go")
