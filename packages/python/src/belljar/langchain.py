"""belljar as a LangChain tool: one tool that runs code over others.

    agent = create_agent(model, tools=[code_tool([find_issue, close_issue])])

Needs `pip install belljar[langchain]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ._client import Belljar
from ._code_tool import NAME, PARAMETERS, describe, offer, report
from ._limits import Limits, of_adapter
from ._sync import SyncBelljar
from ._typescript import Declared, check_names, identifier

__all__ = ["code_tool"]


def code_tool(
    tools: Sequence[BaseTool],
    *,
    jar: Belljar | None = None,
    limits: Limits | None = None,
    name: str = NAME,
    introduction: str | None = None,
) -> StructuredTool:
    """Returns a tool that runs a script, which can call `tools`. The tool answers with text.

    Works with `invoke` and with `ainvoke`. Callbacks and the rest of the configuration reach the
    tools that a script calls.
    """
    shared = Belljar() if jar is None else jar
    sync = SyncBelljar(jar=shared)
    declared = [_declare(tool) for tool in tools]
    check_names(declared)

    def calls(by: type[_Nested], config: RunnableConfig) -> Iterator[tuple[Declared, _Nested]]:
        for tool, one in zip(tools, declared, strict=True):
            yield one, by(tool, config)

    def run(code: str, config: RunnableConfig) -> str:
        offered = offer(calls(_Nested, config))
        most = of_adapter(sync.start(), shared.limits, limits)
        return report(sync.run(code, tools=offered, builtins=False, limits=most))

    async def arun(code: str, config: RunnableConfig) -> str:
        offered = offer(calls(_AsyncNested, config))
        most = of_adapter(await shared.start(), shared.limits, limits)
        return report(await shared.run(code, tools=offered, builtins=False, limits=most))

    return StructuredTool.from_function(
        func=run,
        coroutine=arun,
        name=name,
        description=describe(declared, introduction),
        args_schema=PARAMETERS,
        infer_schema=False,
    )


class _Nested:
    """Makes a script's call to a tool in the same way as an agent makes a model's."""

    def __init__(self, tool: BaseTool, config: RunnableConfig) -> None:
        self._tool = tool
        self._config = config

    def __call__(self, arguments: dict[str, Any]) -> Any:
        return self._tool.invoke(arguments, self._config)


class _AsyncNested(_Nested):
    async def __call__(self, arguments: dict[str, Any]) -> Any:
        return await self._tool.ainvoke(arguments, self._config)


def _declare(tool: BaseTool) -> Declared:
    function = convert_to_openai_tool(tool)["function"]
    return Declared(
        name=identifier(tool.name),
        tool=tool.name,
        description=tool.description,
        input_schema=function.get("parameters") or {"type": "object", "properties": {}},
    )
