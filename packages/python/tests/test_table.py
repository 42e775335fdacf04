"""The protocol's own table of runs, by way of this client: what it says comes of them, comes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from belljar import UNDEFINED, Belljar, Namespace, RequestError, Tool, ToolError, TopLevel
from belljar._values import decode, encode

TABLE = Path(__file__).parents[3] / "tests/host-protocol/cases.json"
CASES = json.loads(TABLE.read_text(encoding="utf-8"))["cases"]
PARAMETERS = {"code", "prelude", "limits", "builtins", "namespaces", "functions", "belljar", "value"}


def _can_be_said(case: dict[str, Any]) -> bool:
    """Whether the client's interface can make this request at all: some are wrong in ways it is not."""
    run = case["run"]
    spaces = run.get("namespaces", [])
    names = [[tool["name"] for tool in space["tools"]] for space in spaces]
    values = [does["value"] for does in case.get("functions", {}).values() if "value" in does]
    return (
        "code" in run
        and set(run) <= PARAMETERS
        and all(len(set(tools)) == len(tools) for tools in names)
        and all(json.loads(encode(decode(value, UNDEFINED))) == value for value in values)
    )


def _tool(name: str, declared: dict[str, Any], case: dict[str, Any], asked: list[str]) -> Tool:
    does = case.get("functions", {}).get(name, {})

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


def _differs(expected: Any, found: Any) -> bool:
    """Objects may have more members than are expected."""
    if isinstance(expected, dict):
        return not isinstance(found, dict) or any(
            key not in found or _differs(value, found[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            not isinstance(found, list)
            or len(found) != len(expected)
            or any(_differs(one, other) for one, other in zip(expected, found, strict=True))
        )
    return bool(expected != found)


@pytest.mark.parametrize(
    "case", [pytest.param(one, id=one["name"]) for one in CASES if _can_be_said(one)]
)
async def test_what_the_table_says_comes_of_a_run(jar: Belljar, case: dict[str, Any]) -> None:
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
    undefined = UNDEFINED if run.get("value") == "extended" else None
    same = {key: run[key] for key in ("prelude", "limits", "builtins") if key in run}
    begun = jar.run(
        run["code"],
        tools=tools,
        functions=functions,
        belljar=run.get("belljar", False),
        undefined=undefined,
        **same,
    )
    if "refused" in case:
        with pytest.raises(RequestError) as raised:
            await begun
        assert raised.value.code == case["refused"]
        return
    outcome = await begun
    found = {**outcome.raw, "value": outcome.value}
    expected = dict(case["expect"])
    if "value" in expected:
        expected["value"] = decode(expected["value"], undefined)
    assert not _differs(expected, found), (expected, found)
    assert len(asked) == case.get("asked", len(asked))


def test_most_of_the_table_can_be_said() -> None:
    assert len(list(filter(_can_be_said, CASES))) > 0.8 * len(CASES)
