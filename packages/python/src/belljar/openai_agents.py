"""belljar as a `FunctionTool` of the OpenAI Agents SDK: one tool that runs code over others.

    agent = Agent(name="…", tools=[code_tool([find_issue, close_issue])])

Needs `pip install belljar[openai-agents]`.
"""

from __future__ import annotations

import inspect
import itertools
import json
from collections.abc import Sequence
from typing import Any

from agents import FunctionTool
from agents.tool import invoke_function_tool
from agents.tool_context import ToolContext

from ._client import Belljar
from ._code_tool import NAME, PARAMETERS, describe, offer, report
from ._limits import Limits, of_adapter
from ._typescript import Declared, check_names, identifier

__all__ = ["code_tool"]


def code_tool(
    tools: Sequence[FunctionTool],
    *,
    jar: Belljar | None = None,
    limits: Limits | None = None,
    name: str = NAME,
    introduction: str | None = None,
) -> FunctionTool:
    """Returns a tool that runs a script, which can call `tools`. The tool answers with text.

    By default, a tool made by `function_tool` answers with text when it fails. A script gets an
    error that it can catch only if the tool has `failure_error_function=None`.

    Raises `ValueError` for tools with approvals or guardrails, which a script's calls would bypass:
    give these tools to the agent itself.
    """
    declared = [_declare(tool) for tool in tools]
    check_names(declared)
    runner = _Runner(tools, declared, Belljar() if jar is None else jar, limits)
    return FunctionTool(
        name=name,
        description=describe(declared, introduction),
        params_json_schema=PARAMETERS,
        on_invoke_tool=runner,
    )


class _Runner:
    def __init__(
        self,
        tools: Sequence[FunctionTool],
        declared: Sequence[Declared],
        jar: Belljar,
        limits: Limits | None,
    ) -> None:
        self._tools = list(zip(tools, declared, strict=True))
        self._jar = jar
        self._limits = limits

    async def __call__(self, context: ToolContext[Any], arguments: str) -> str:
        try:
            code = json.loads(arguments)["code"]
        except (ValueError, KeyError, TypeError):
            return 'The arguments are wrong: they must be {"code": "…"}'
        numbers = itertools.count(1)
        calls = [
            (one, _Nested(tool, context, numbers))
            for tool, one in self._tools
            if await _is_enabled(tool, context)
        ]
        limits = of_adapter(await self._jar.start(), self._jar.limits, self._limits)
        outcome = await self._jar.run(code, tools=offer(calls), builtins=False, limits=limits)
        return report(outcome)


class _Nested:
    """Makes a script's call to a tool in the same way as the SDK makes a model's."""

    def __init__(
        self, tool: FunctionTool, context: ToolContext[Any], numbers: itertools.count[int]
    ) -> None:
        self._tool = tool
        self._context = context
        self._numbers = numbers

    async def __call__(self, arguments: dict[str, Any]) -> Any:
        outer = self._context
        text = json.dumps(arguments)
        context = ToolContext(
            context=outer.context,
            usage=outer.usage,
            tool_name=self._tool.name,
            tool_call_id=f"{outer.tool_call_id}:{next(self._numbers)}",
            tool_arguments=text,
            agent=outer.agent,
            run_config=outer.run_config,
        )
        return await invoke_function_tool(
            function_tool=self._tool, context=context, arguments=text
        )


async def _is_enabled(tool: FunctionTool, context: ToolContext[Any]) -> bool:
    if isinstance(tool.is_enabled, bool):
        return tool.is_enabled
    if context.agent is None:
        return False
    answer = tool.is_enabled(context, context.agent)
    return bool(await answer if inspect.isawaitable(answer) else answer)


def _declare(tool: FunctionTool) -> Declared:
    for what in ("needs_approval", "tool_input_guardrails", "tool_output_guardrails"):
        if getattr(tool, what, None):
            raise ValueError(
                f"the tool {tool.name!r} has {what}, which a script's calls would bypass: "
                "give the tool to the agent itself"
            )
    return Declared(
        name=identifier(tool.name),
        tool=tool.name,
        description=tool.description,
        input_schema=tool.params_json_schema,
        output_schema=tool.output_json_schema,
    )
