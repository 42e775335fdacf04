"""belljar as FastMCP's code mode: a `SandboxProvider`, and a `CodeMode` that asks for JavaScript.

    mcp.add_transform(BelljarCodeMode())

Needs `pip install belljar[fastmcp]`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fastmcp.exceptions import ToolError
from fastmcp.experimental.transforms.code_mode import CodeMode, DiscoveryToolFactory
from fastmcp.tools.base import Tool

from ._client import Belljar
from ._code_tool import in_json, report
from ._limits import DEFAULT_LIMITS, Limits, of_adapter
from ._outcome import Outcome
from ._shield import joined
from ._tools import TopLevel

__all__ = ["DEFAULT_LIMITS", "BelljarCodeMode", "BelljarSandbox"]

_DESCRIPTION = """\
Chain `await call_tool(...)` calls in one block of JavaScript or TypeScript; prefer returning the \
final answer from a single block.
Use `return` to produce output.
Only `call_tool(tool_name: string, params: object): Promise<any>` is available in scope."""
_CODE = "The body of an async JavaScript or TypeScript function, which calls tools with call_tool(name, params)"


class BelljarSandbox:
    """A FastMCP `SandboxProvider` that runs scripts in belljar.

    The process starts with the first script, and serves all servers that share `jar`. Limits that
    neither `limits` nor `jar` sets are those of `DEFAULT_LIMITS`, lowered to what belljar's owner
    allows. As with FastMCP's own provider, time spent waiting for tools does not count as computing
    time.
    """

    def __init__(
        self,
        jar: Belljar | None = None,
        *,
        limits: Limits | None = None,
        on_log: Callable[[Any], object] | None = None,
    ) -> None:
        self.jar = Belljar() if jar is None else jar
        self.limits = limits
        self._on_log = on_log

    async def run(
        self,
        code: str,
        *,
        inputs: dict[str, Any] | None = None,
        external_functions: dict[str, Callable[..., Any]] | None = None,
    ) -> Any:
        """Runs the code, and returns its value. If it fails, raises a `ToolError` for the model."""
        functions = {
            name: TopLevel(function, "positional")
            for name, function in (external_functions or {}).items()
        }
        outcome = await joined(
            self._run(
                code,
                functions=functions,
                prelude=_globals(inputs) if inputs else None,
                builtins=False,
                on_log=self._on_log,
            )
        )
        if outcome.error is not None:
            raise ToolError(report(outcome))
        return in_json(outcome.value)

    async def _run(self, code: str, **options: Any) -> Outcome:
        limits = of_adapter(await self.jar.start(), self.jar.limits, self.limits)
        return await self.jar.run(code, limits=limits, **options)


class BelljarCodeMode(CodeMode):
    """`CodeMode` with belljar: the model is asked for JavaScript or TypeScript."""

    def __init__(
        self,
        *,
        sandbox_provider: BelljarSandbox | None = None,
        discovery_tools: list[DiscoveryToolFactory] | None = None,
        execute_tool_name: str = "execute",
        execute_description: str | None = None,
        max_tool_calls: int | None = 50,
    ) -> None:
        super().__init__(
            sandbox_provider=sandbox_provider or BelljarSandbox(),
            discovery_tools=discovery_tools,
            execute_tool_name=execute_tool_name,
            execute_description=execute_description or _DESCRIPTION,
            max_tool_calls=max_tool_calls,
        )

    def _make_execute_tool(self) -> Tool:
        # FastMCP has no setting for the description of the parameter, "Python async code …".
        tool = super()._make_execute_tool()
        parameters = json.loads(json.dumps(tool.parameters))
        parameters["properties"]["code"]["description"] = _CODE
        return tool.model_copy(update={"parameters": parameters})


def _globals(inputs: Mapping[str, Any]) -> str:
    # Parsed and not a literal, since `__proto__` is a property in JSON but not in a literal.
    return f"Object.assign(globalThis, JSON.parse({json.dumps(json.dumps(inputs))}));"
