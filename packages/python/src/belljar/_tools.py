"""What a run may call, as its host declares it: functions in namespaces or at the top level."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Function: TypeAlias = Callable[..., Any]
"""A function, `async` or not. A plain one runs in a thread."""
Style: TypeAlias = Literal["object", "positional"]
Effect: TypeAlias = Literal["read_only", "mutating", "external"]


@dataclass(frozen=True)
class Tool:
    """A function, and what scripts are told about it.

    A script passes one object, whose properties become keyword arguments; with `unpack=False`, the
    function gets it as one `dict`. If the style is positional, the script's arguments become the
    function's positional arguments, and `unpack` has no effect.
    """

    function: Function
    description: str | None = None
    """What the function does. By default, its docstring."""
    effect: Effect | None = None
    """What a call may change."""
    input_schema: Mapping[str, Any] | None = None
    """The JSON Schema of the arguments. Calls that do not match it never reach the function."""
    output_schema: Mapping[str, Any] | None = None
    unpack: bool = True

    def declare(self, name: str) -> dict[str, Any]:
        """The tool in the form of the protocol."""
        said = {
            "description": self.description or inspect.getdoc(self.function),
            "effect": self.effect,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
        }
        return {"name": name} | {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True)
class Namespace:
    """Tools under one name, and how scripts pass arguments to them."""

    tools: Mapping[str, Tool | Function]
    style: Style = "object"


@dataclass(frozen=True)
class TopLevel:
    """A function that scripts call without a namespace, and how they pass arguments to it."""

    tool: Tool | Function
    style: Style = "object"


Tools: TypeAlias = Mapping[str, "Namespace | Mapping[str, Tool | Function]"]
"""Namespaces by name: `{"github": {"find": find}}` is `github.find(…)` in the script."""
Functions: TypeAlias = Mapping[str, "TopLevel | Tool | Function"]
"""Top-level functions by name: `{"find": find}` is `find(…)` in the script."""


@dataclass(frozen=True)
class Call:
    """A tool and its style, as a call from a script needs them."""

    tool: Tool
    style: Style

    def bind(self, arguments: Any) -> Callable[[], Any]:
        """The call to the function, with the arguments in the form that it takes."""
        function = self.tool.function
        if self.style == "positional":
            given = arguments if isinstance(arguments, list) else [arguments]
            return lambda: function(*given)
        properties = {} if arguments is None else arguments
        if not self.tool.unpack or not isinstance(properties, dict):
            return lambda: function(properties)
        return lambda: function(**properties)


class Offer:
    """Everything that one run may call."""

    def __init__(self, tools: Tools | None, functions: Functions | None) -> None:
        _check_mapping("tools", tools, '{"github": {"find": find}}')
        _check_mapping("functions", functions, '{"find": find}')
        self._calls: dict[tuple[str | None, str], Call] = {}
        self.namespaces = [self._namespace(*entry) for entry in (tools or {}).items()]
        self.functions = [self._function(*entry) for entry in (functions or {}).items()]

    def find(self, namespace: str | None, name: str) -> Call | None:
        """The tool that the script calls."""
        return self._calls.get((namespace, name))

    def _namespace(
        self, name: str, given: Namespace | Mapping[str, Tool | Function]
    ) -> dict[str, Any]:
        namespace = given if isinstance(given, Namespace) else Namespace(given)
        _check_mapping(f"the namespace {name!r}", namespace.tools, '{"find": find}')
        declared = []
        for tool_name, tool in _tools(namespace.tools):
            self._calls[(name, tool_name)] = Call(tool, namespace.style)
            declared.append(tool.declare(tool_name))
        return {"name": name, "style": namespace.style, "tools": declared}

    def _function(self, name: str, given: TopLevel | Tool | Function) -> dict[str, Any]:
        top = given if isinstance(given, TopLevel) else TopLevel(given)
        tool = _tool(name, top.tool)
        self._calls[(None, name)] = Call(tool, top.style)
        return tool.declare(name) | {"style": top.style}


def _check_mapping(what: str, given: object, example: str) -> None:
    if given is not None and not isinstance(given, Mapping):
        advice = "; a function without a namespace belongs in functions=" if callable(given) else ""
        kind = type(given).__name__
        raise TypeError(f"{what} is a {kind}, but must be a dict such as {example}{advice}")


def _tools(given: Mapping[str, Tool | Function]) -> Iterator[tuple[str, Tool]]:
    for name, tool in given.items():
        yield name, _tool(name, tool)


def _tool(name: str, given: Tool | Function) -> Tool:
    tool = given if isinstance(given, Tool) else Tool(given)
    if not callable(tool.function):
        raise TypeError(f"the tool {name!r} is a {type(tool.function).__name__}, not a function")
    return tool
