"""FastMCP's code mode in belljar's jar.

The cases that do not depend on a provider are those of FastMCP 4.1.6,
`tests/experimental/transforms/test_code_mode.py` (Apache-2.0), with the snippets in JavaScript. Their
names are kept after `test_`, so that they can be compared. The cases about Monty's own limits and
missing package are left out, and so are those about discovery tools, which involve no provider.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.experimental.transforms.code_mode import CodeMode, SandboxProvider, Search
from fastmcp.tools.base import ToolResult
from mcp_types import ImageContent, TextContent

from belljar import Belljar
from belljar._limits import DEFAULT_LIMITS, of_adapter
from belljar.fastmcp import BelljarCodeMode, BelljarSandbox


@pytest.fixture
def sandbox(jar: Belljar) -> BelljarSandbox:
    return BelljarSandbox(jar)


def _server(sandbox: SandboxProvider, **options: Any) -> FastMCP:
    mcp = FastMCP("belljar")
    mcp.add_transform(BelljarCodeMode(sandbox_provider=sandbox, **options))  # type: ignore[arg-type]
    return mcp


async def _execute(mcp: FastMCP, code: str) -> Any:
    result = await mcp.call_tool("execute", {"code": code})
    if result.structured_content is not None:
        return result.structured_content
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    if not texts:
        return None
    try:
        return json.loads(texts[0])
    except ValueError:
        return texts[0]


async def test_code_mode_default_tools(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def ping() -> str:
        return "pong"

    listed = await mcp.list_tools(run_middleware=False)
    assert {tool.name for tool in listed} == {"search", "get_schema", "execute"}


async def test_the_texts_ask_for_javascript_and_no_python(sandbox: BelljarSandbox) -> None:
    async with Client(_server(sandbox)) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    execute = tools["execute"]
    assert "JavaScript" in execute.input_schema["properties"]["code"]["description"]
    assert "JavaScript" in (execute.description or "")
    assert "python" not in json.dumps(execute.model_dump(mode="json")).lower()
    own = CodeMode(sandbox_provider=sandbox)._get_execute_tool()
    assert "Python" in own.parameters["properties"]["code"]["description"]


async def test_code_mode_execute_works(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def add(x: int, y: int) -> int:
        return x + y

    assert await _execute(mcp, "return await call_tool('add', { x: 2, y: 3 })") == {"result": 5}


async def test_code_mode_custom_execute_name(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox, execute_tool_name="run_code")
    listed = await mcp.list_tools(run_middleware=False)
    assert {tool.name for tool in listed} == {"search", "get_schema", "run_code"}


async def test_code_mode_custom_execute_description(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox, execute_description="Custom execute description")
    tools = {tool.name: tool for tool in await mcp.list_tools(run_middleware=False)}
    assert tools["execute"].description == "Custom execute description"


async def test_code_mode_no_discovery_tools(sandbox: BelljarSandbox) -> None:
    listed = await _server(sandbox, discovery_tools=[]).list_tools(run_middleware=False)
    assert {tool.name for tool in listed} == {"execute"}


def test_code_mode_rejects_discovery_execute_name_collision(sandbox: BelljarSandbox) -> None:
    mode = BelljarCodeMode(discovery_tools=[Search(name="execute")], sandbox_provider=sandbox)
    with pytest.raises(ValueError, match="collides"):
        mode._build_discovery_tools()


async def test_code_mode_execute_respects_disabled_tool_visibility(
    sandbox: BelljarSandbox,
) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def secret() -> str:
        return "nope"

    mcp.disable(names={"secret"}, components={"tool"})
    with pytest.raises(ToolError, match=r"Unknown tool"):
        await _execute(mcp, "return await call_tool('secret', {})")


async def test_code_mode_execute_sees_mid_run_visibility_changes(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    async def unlock(ctx: Context) -> str:
        await ctx.enable_components(names={"secret"}, components={"tool"})
        return "unlocked"

    @mcp.tool
    async def secret() -> str:
        return "secret-ok"

    mcp.disable(names={"secret"}, components={"tool"})
    code = "await call_tool('unlock', {});\nreturn await call_tool('secret', {})"
    async with Client(mcp) as client:
        result = await client.call_tool("execute", {"code": code})
    assert result.data == {"result": "secret-ok"}


async def test_code_mode_execute_respects_tool_auth(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool(auth=lambda _ctx: False)
    def protected() -> str:
        return "nope"

    with pytest.raises(ToolError, match=r"Unknown tool"):
        await _execute(mcp, "return await call_tool('protected', {})")


async def test_code_mode_shadows_colliding_tool_names(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def search() -> str:
        return "real search"

    @mcp.tool
    def ping() -> str:
        return "pong"

    assert await _execute(mcp, 'return await call_tool("ping", {})') == {"result": "pong"}


async def test_code_mode_execute_non_text_content_stringified(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def image_tool() -> ImageContent:
        return ImageContent(type="image", data="base64data", mime_type="image/png")

    value = await _execute(mcp, "return await call_tool('image_tool', {})")
    assert isinstance(value, str) and "base64data" in value


async def test_code_mode_execute_multi_tool_chaining(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def double(x: int) -> int:
        return x * 2

    @mcp.tool
    async def add_one(x: int) -> int:
        return x + 1

    code = (
        "const a = await call_tool('double', { x: 3 });\n"
        "return await call_tool('add_one', { x: a.result });"
    )
    assert await _execute(mcp, code) == {"result": 7}


async def test_code_mode_sandbox_error_surfaces_as_tool_error(sandbox: BelljarSandbox) -> None:
    with pytest.raises(ToolError, match="boom"):
        await _execute(_server(sandbox), "throw new Error('boom')")


@pytest.mark.parametrize("async_tool", [False, True])
async def test_code_mode_execute_call_tool(sandbox: BelljarSandbox, async_tool: bool) -> None:
    mcp = _server(sandbox)

    async def later(x: int, y: int) -> int:
        return x + y

    def now(x: int, y: int) -> int:
        return x + y

    mcp.tool(later if async_tool else now, name="add")
    assert await _execute(mcp, "return await call_tool('add', { x: 2, y: 3 })") == {"result": 5}


async def test_code_mode_execute_string_result(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    value = await _execute(mcp, "return (await call_tool('greet', { name: 'World' })).result")
    assert value in ("Hello, World!", {"result": "Hello, World!"})


@pytest.mark.parametrize(
    ("failing_call", "expected_message"),
    [
        ("await call_tool('no_such_tool', {})", "Unknown tool: no_such_tool"),
        ("await call_tool('boom', {})", "call_tool('boom') failed: deliberate tool failure"),
    ],
    ids=["unknown-tool", "tool-error"],
)
async def test_code_mode_call_tool_errors_are_catchable(
    sandbox: BelljarSandbox, failing_call: str, expected_message: str
) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def add(x: int, y: int) -> int:
        return x + y

    @mcp.tool
    def boom() -> None:
        raise ToolError("deliberate tool failure")

    code = (
        "const total = (await call_tool('add', { x: 2, y: 3 })).result;\n"
        "let caught = null;\n"
        f"try {{ {failing_call} }} catch (e) {{ caught = e.message }}\n"
        "return { caught, total }"
    )
    assert await _execute(mcp, code) == {"caught": expected_message, "total": 5}


async def test_code_mode_uncaught_call_tool_error_surfaces(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def boom() -> None:
        raise ToolError("deliberate tool failure")

    with pytest.raises(ToolError, match="deliberate tool failure"):
        await _execute(mcp, "return await call_tool('boom', {})")


async def test_code_mode_script_without_a_value_gives_an_empty_result(
    sandbox: BelljarSandbox,
) -> None:
    result = await _server(sandbox).call_tool("execute", {"code": "console.log('hi')"})
    assert result.content == [] and result.structured_content is None


async def test_provider_forwards_limits(jar: Belljar) -> None:
    limits: Any = {"timeout": "100ms"}
    with pytest.raises(ToolError, match=r"(?i)time"):
        await BelljarSandbox(jar, limits=limits).run("for (;;);")
    assert limits == {"timeout": "100ms"}


async def test_bytes_are_told_of_by_their_number(sandbox: BelljarSandbox) -> None:
    code = "return [new Uint8Array([255]), new Int32Array(3), new BigInt64Array(2)]"
    assert await sandbox.run(code) == ["<1 bytes>", "<12 bytes>", "<16 bytes>"]


async def test_provider_forwards_inputs(sandbox: BelljarSandbox) -> None:
    inputs = {"value": 2, "text": "</script>\u2028'\"`${1}", "__proto__": {"a": 1}}
    code = "return [value + 1, text, Object.getPrototypeOf({}).a === undefined]"
    assert await sandbox.run(code, inputs=inputs) == [3, inputs["text"], True]


async def test_provider_applies_default_limits_unless_the_owner_allows_less(
    tmp_path: Path,
) -> None:
    assert BelljarSandbox().limits is None
    settings = tmp_path / "belljar.toml"
    settings.write_text('[limits]\ncompute = "2s"\n')
    async with Belljar(arguments=["--config", str(settings)]) as jar:
        with pytest.raises(ToolError, match="longer than 2000 ms"):
            await BelljarSandbox(jar).run("for (;;);")
        assert await BelljarSandbox(jar).run("return 1 + 2") == 3
    settings.write_text("[limits]\ntimeout = '1day'\ncall = '2days'\n")
    async with Belljar(arguments=["--config", str(settings)]) as jar:
        # A ceiling above the defaults changes nothing.
        assert of_adapter(await jar.start(), {"wait": None}) == DEFAULT_LIMITS  # type: ignore[typeddict-item]
    settings.write_text("[limits]\ntimeout = '5s'\n")
    async with Belljar(arguments=["--config", str(settings)]) as jar:
        # The other defaults still apply.
        with pytest.raises(ToolError, match="the limit is 1048576"):
            await BelljarSandbox(jar).run("return 'x'.repeat(3 << 20)")


async def test_limits_of_the_jar_go_before_those_of_the_adapter() -> None:
    async with Belljar(limits={"compute": "100ms"}) as jar:
        with pytest.raises(ToolError, match=r"(?i)100\s?ms"):
            await BelljarSandbox(jar, limits={"timeout": "1m"}).run("for (;;);")


def test_code_mode_max_tool_calls_default_is_50(sandbox: BelljarSandbox) -> None:
    assert BelljarCodeMode(sandbox_provider=sandbox).max_tool_calls == 50


@pytest.mark.parametrize(("most", "calls"), [(3, 5), (None, 1_100)])
async def test_code_mode_max_tool_calls_enforced(
    sandbox: BelljarSandbox, most: int | None, calls: int
) -> None:
    mcp = _server(sandbox, max_tool_calls=most)

    @mcp.tool
    def ping() -> str:
        return "pong"

    code = f"let n = 0; for (; n < {calls}; n++) await call_tool('ping', {{}}); return n"
    if most is None:
        assert await _execute(mcp, code) in (calls, {"result": calls})
    else:
        with pytest.raises(ToolError, match=r"Tool call limit exceeded: at most 3"):
            await _execute(mcp, code)


async def test_provider_stops_the_run_and_joins_its_calls_when_task_cancelled(
    sandbox: BelljarSandbox,
) -> None:
    mcp = _server(sandbox)
    started, ended = asyncio.Event(), asyncio.Event()

    @mcp.tool
    async def forever() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
            return "never"
        finally:
            await asyncio.sleep(0)
            ended.set()

    # Over MCP: the client's cancellation reaches the server as a cancelled anyio scope.
    async with Client(mcp) as client:
        call = client.call_tool("execute", {"code": "return await call_tool('forever', {})"})
        task = asyncio.ensure_future(call)
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 10)


async def test_code_mode_is_error_result_raises_in_sandbox(sandbox: BelljarSandbox) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def flaky() -> ToolResult:
        return ToolResult(content="backend exploded", is_error=True)

    caught = await _execute(mcp, _CATCH.format("'flaky', {}"))
    assert "call_tool('flaky') failed" in caught["caught"]
    assert "backend exploded" in caught["caught"]


async def test_code_mode_validation_error_names_valid_parameters(
    sandbox: BelljarSandbox,
) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def greet(name: str, punctuation: str = "!") -> str:
        return f"hi {name}{punctuation}"

    caught = (await _execute(mcp, _CATCH.format("'greet', { nom: 'x' }")))["caught"]
    assert "call_tool('greet') failed" in caught
    assert "Valid parameters for greet" in caught
    assert "name*" in caught and "punctuation" in caught


@pytest.mark.parametrize("content", [[], ["image"]])
async def test_error_result_without_text_uses_generic_message(
    sandbox: BelljarSandbox, content: list[str]
) -> None:
    mcp = _server(sandbox)
    blocks = [ImageContent(type="image", data="A" * 4096, mime_type="image/png") for _ in content]

    @mcp.tool
    def fail() -> ToolResult:
        return ToolResult(content=blocks, is_error=True)

    caught = await _execute(mcp, _CATCH.format("'fail', {}"))
    assert caught["caught"] == "call_tool('fail') failed: tool returned an error"


@pytest.mark.parametrize("text", ["backend exploded", ""])
async def test_error_result_preserves_text_with_structured_content(
    sandbox: BelljarSandbox, text: str
) -> None:
    mcp = _server(sandbox)

    @mcp.tool
    def fail() -> ToolResult:
        return ToolResult(content=text, structured_content={"code": 42}, is_error=True)

    caught = await _execute(mcp, _CATCH.format("'fail', {}"))
    assert (text or "42") in caught["caught"] and "call_tool('fail') failed" in caught["caught"]


async def test_mounted_validation_error_uses_public_identity(sandbox: BelljarSandbox) -> None:
    child = FastMCP("Orders")

    @child.tool
    def search(query: str) -> str:
        return query

    mcp = _server(sandbox)
    mcp.mount(child, namespace="orders")
    message = (await _execute(mcp, _CATCH.format("'orders_search', { wrong: 'value' }")))["caught"]
    assert "call_tool('orders_search') failed" in message
    assert "query: Missing required argument" in message
    assert "wrong: Unexpected keyword argument" in message
    assert "Valid parameters for orders_search" in message
    assert "call[search]" not in message and "https://" not in message


_CATCH = (
    "let caught = null;\n"
    "try {{ await call_tool({}) }} catch (e) {{ caught = e.message }}\n"
    "return {{ caught }}"
)
