"""Runs the client through the protocol's own table of runs, for
`scripts/host-conformance --client python packages/python/tests/table.py`. It needs BELLJAR_BINARY.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from belljar import (  # noqa: E402
    UNDEFINED,
    Belljar,
    Namespace,
    RequestError,
    Tool,
    ToolError,
    TopLevel,
)
from belljar._values import decode, encode  # noqa: E402

PARAMETERS = {"code", "prelude", "limits", "builtins", "namespaces", "functions", "belljar", "value"}


def _inexpressible(case: dict[str, Any]) -> str | None:
    """Why the client cannot make this request at all, if so: it rules out some mistakes."""
    run = case["run"]
    names = [[tool["name"] for tool in space["tools"]] for space in run.get("namespaces", [])]
    values = [does["value"] for does in case["functions"].values() if "value" in does]
    if "code" not in run or not set(run) <= PARAMETERS:
        return "its parameters are those of the protocol"
    if any("style" in tool for space in run.get("namespaces", []) for tool in space["tools"]):
        return "a namespace has a style, and a tool has none"
    if any(len(set(tools)) < len(tools) for tools in names):
        return "tools are the keys of a dict"
    if any(json.loads(encode(decode(value, UNDEFINED))) != value for value in values):
        return "it escapes such an answer"
    return None


def _tool(name: str, declared: dict[str, Any], case: dict[str, Any], asked: list[str]) -> Tool:
    does = case["functions"].get(name, {})

    async def answer(*positional: Any, **by_name: Any) -> Any:
        asked.append(name)
        if does.get("never"):
            await asyncio.Event().wait()
        if "error" in does:
            raise ToolError(does["error"]["message"], does["error"].get("name", "ToolError"))
        if does.get("echo"):
            return by_name if declared.get("style", "object") == "object" else list(positional)
        return UNDEFINED if does.get("nothing") else decode(does.get("value"), UNDEFINED)

    return Tool(
        answer,
        description=declared.get("description"),
        effect=declared.get("effect"),
        input_schema=declared.get("inputSchema"),
        output_schema=declared.get("outputSchema"),
    )


async def said_of(jar: Belljar, case: dict[str, Any]) -> dict[str, Any]:
    """What the client answers to a case."""
    why_not = _inexpressible(case)
    if why_not:
        return {"inexpressible": why_not}
    run, asked = case["run"], list[str]()
    tools = {
        space["name"]: Namespace(
            {
                tool["name"]: _tool(
                    f"{space['name']}.{tool['name']}", {**space, **tool}, case, asked
                )
                for tool in space["tools"]
            },
            space.get("style", "object"),
        )
        for space in run.get("namespaces", [])
    }
    functions = {
        one["name"]: TopLevel(_tool(one["name"], one, case, asked), one.get("style", "object"))
        for one in run.get("functions", [])
    }
    try:
        outcome = await jar.run(
            run["code"],
            tools=tools,
            functions=functions,
            belljar=run.get("belljar", False),
            undefined=UNDEFINED if run.get("value") == "extended" else None,
            **{key: run[key] for key in ("prelude", "limits", "builtins") if key in run},
        )
    except RequestError as error:
        return {"refused": error.code}
    # The client returns the value as Python values.
    value = json.loads(encode(outcome.value))
    return {"outcome": {**outcome.raw, "value": value}, "asked": len(asked)}


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, XDG_CONFIG_HOME=home, XDG_STATE_HOME=home, XDG_CACHE_HOME=home)
        jar = Belljar(limits={"timeout": "120s"})
        # Waiting for a line may block: there is nothing else to do.
        for line in sys.stdin:
            print(json.dumps(await said_of(jar, json.loads(line))), flush=True)
        await jar.close()


if __name__ == "__main__":
    asyncio.run(main())
