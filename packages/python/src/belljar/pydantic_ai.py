"""belljar as a capability of pydantic-ai agents: one tool that runs code, in place of many.

    agent = Agent(model, tools=[...], capabilities=[BelljarCodeMode()])

Needs `pip install belljar[pydantic-ai]`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, UserError
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.tools import AgentDepsT, ToolDefinition, ToolSelector, matches_tool_selector
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator
from typing_extensions import TypedDict

from ._client import Belljar
from ._code_tool import NAME, PARAMETERS, describe, in_json, offer, report
from ._errors import ToolError
from ._limits import Limits, of_adapter
from ._shield import joined
from ._typescript import Declared, check_names, identifier

__all__ = ["BelljarCodeMode", "BelljarToolset"]


class _Arguments(TypedDict):
    code: str


_ARGUMENTS = SchemaValidator(TypeAdapter(_Arguments).core_schema)


@dataclass
class BelljarCodeMode(AbstractCapability[AgentDepsT]):
    """Turns the agent's tools into functions for scripts: the model sees `run_code` instead.

    Each call from a script goes through pydantic-ai like a call from the model: its arguments are
    validated, and hooks see it. `tools` selects which tools scripts can call. The others stay as
    they are, and so do tools that pydantic-ai itself has to handle: deferred and external tools,
    and fallbacks.
    """

    jar: Belljar = field(default_factory=Belljar)
    tools: ToolSelector[AgentDepsT] = "all"
    limits: Limits | None = None
    name: str = NAME
    introduction: str | None = None
    """What the description of `run_code` says before the declarations of the tools."""
    max_retries: int = 3
    """How many times the model may try again after a script failed."""

    def get_wrapper_toolset(
        self, toolset: AbstractToolset[AgentDepsT]
    ) -> AbstractToolset[AgentDepsT]:
        return BelljarToolset(toolset, self)


@dataclass
class BelljarToolset(WrapperToolset[AgentDepsT]):
    """Replaces the agent's toolset."""

    capability: BelljarCodeMode[AgentDepsT]

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        outside: dict[str, ToolsetTool[AgentDepsT]] = {}
        inside: dict[str, ToolsetTool[AgentDepsT]] = {}
        for name, tool in (await self.wrapped.get_tools(ctx)).items():
            goes_in = _can_go_in(tool.tool_def) and await matches_tool_selector(
                self.capability.tools, ctx, tool.tool_def
            )
            (inside if goes_in else outside)[name] = tool
        if not inside:
            return outside
        name = self.capability.name
        if name in outside or name in inside:
            raise UserError(f"there already is a tool {name!r}: give BelljarCodeMode another name")
        declared = [_declare(tool.tool_def) for tool in inside.values()]
        check_names(declared)
        definition = ToolDefinition(
            name=name,
            description=describe(declared, self.capability.introduction),
            parameters_json_schema=PARAMETERS,
            sequential=True,
        )
        return {
            name: _RunCode(
                toolset=self,
                tool_def=definition,
                max_retries=self.capability.max_retries,
                args_validator=_ARGUMENTS,
                inside=inside,
                declared=declared,
            ),
            **outside,
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> Any:
        if not isinstance(tool, _RunCode):
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        outer = ctx.tool_manager
        nested = ToolManager(
            toolset=self.wrapped,
            root_capability=None if outer is None else outer.root_capability,
            ctx=ctx,
            tools=tool.inside,
        )
        jar = self.capability.jar
        limits = of_adapter(await jar.start(), jar.limits, self.capability.limits)
        outcome = await joined(
            jar.run(
                tool_args["code"],
                tools=offer((one, _Nested(nested, one.tool)) for one in tool.declared),
                builtins=False,
                limits=limits,
            )
        )
        if outcome.error is not None:
            raise ModelRetry(report(outcome))
        if outcome.logs:
            logs = [f"[{line.level}] {line.text}" for line in outcome.logs]
            return {"value": in_json(outcome.value), "logs": logs}
        return in_json(outcome.value)


@dataclass(kw_only=True)
class _RunCode(ToolsetTool[AgentDepsT]):
    """`run_code`, with the tools that its scripts can call in this step."""

    inside: dict[str, ToolsetTool[AgentDepsT]]
    declared: list[Declared]


@dataclass
class _Nested:
    """Makes a script's call to a tool in the same way as the agent makes a model's."""

    manager: ToolManager[Any]
    tool: str

    async def __call__(self, arguments: dict[str, Any]) -> Any:
        part = ToolCallPart(tool_name=self.tool, args=arguments)
        try:
            return await self.manager.handle_call(part, wrap_validation_errors=False)
        except (ApprovalRequired, CallDeferred) as fault:
            raise ToolError(
                f"{self.tool} needs approval or an answer from outside, which a script cannot "
                "wait for",
                type(fault).__name__,
            ) from fault


def _can_go_in(definition: ToolDefinition) -> bool:
    return (
        definition.kind == "function"
        and definition.tool_kind is None
        and definition.unless_native is None
        and not definition.defer_loading
    )


def _declare(definition: ToolDefinition) -> Declared:
    return Declared(
        name=identifier(definition.name),
        tool=definition.name,
        description=definition.description,
        input_schema=definition.parameters_json_schema,
        output_schema=definition.return_schema,
    )
