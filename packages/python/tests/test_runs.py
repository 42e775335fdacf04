"""What a run returns, and what it can be given."""

from __future__ import annotations

import asyncio
import contextvars
import datetime
import enum
import threading
from array import array
from dataclasses import dataclass
from typing import Any

import pytest

from belljar import (
    UNDEFINED,
    Belljar,
    LimitReached,
    Log,
    Namespace,
    OutcomeTooLong,
    RequestError,
    RunError,
    RunTimeout,
    ScriptException,
    ScriptSyntaxError,
    SyncBelljar,
    Tool,
    ToolError,
    ToolFailed,
    TopLevel,
)


async def test_a_script_calls_functions_by_keyword_and_gives_its_value(jar: Belljar) -> None:
    async def find(text: str, limit: int = 10) -> list[str]:
        return [text] * limit

    outcome = await jar.run(
        "return (await github.find({ text: 'a', limit: 2 })).concat(await github.plain());",
        tools={"github": {"find": find, "plain": lambda: ["b"]}},
    )
    assert outcome.ok and outcome.error is None
    assert outcome.value == ["a", "a", "b"] == outcome.unwrap()
    assert [(call.server, call.tool, call.ok) for call in outcome.calls] == [
        ("github", "find", True),
        ("github", "plain", True),
    ]
    assert outcome.usage["tool_calls"] == 2
    assert outcome.raw["ok"] is True


async def test_a_typescript_script_runs(jar: Belljar) -> None:
    outcome = await jar.run("const n: number = 6; return n * 7 as number;")
    assert outcome.unwrap() == 42


async def test_functions_stand_at_the_top_level_in_both_styles(jar: Belljar) -> None:
    def keyword(a: int, b: int) -> int:
        return a - b

    outcome = await jar.run(
        "return [await keyword({ b: 1, a: 5 }), await call_tool('x', { y: [1] }), await call_tool()]",
        functions={
            "keyword": keyword,
            "call_tool": TopLevel(lambda *given: list(given), "positional"),
        },
    )
    assert outcome.unwrap() == [4, ["x", {"y": [1]}], []]


async def test_a_positional_namespace_takes_any_json(jar: Belljar) -> None:
    given: list[tuple[Any, ...]] = []
    outcome = await jar.run(
        "await api.put('key', null, [true, 1.5], undefined, { a: 1 }); return undefined",
        tools={"api": Namespace({"put": lambda *args: given.append(args)}, "positional")},
        undefined=UNDEFINED,
    )
    assert outcome.ok, outcome.error
    assert given == [("key", None, [True, 1.5], UNDEFINED, {"a": 1})]
    assert outcome.value is UNDEFINED


async def test_a_tool_can_take_its_arguments_as_one_dict(jar: Belljar) -> None:
    outcome = await jar.run(
        "return [await api.echo({ class: 1, from: 2 }), await api.echo()]",
        tools={"api": {"echo": Tool(lambda given: given, unpack=False)}},
    )
    assert outcome.unwrap() == [{"class": 1, "from": 2}, {}]


async def test_scripts_are_told_what_tools_are(jar: Belljar) -> None:
    def find(text: str) -> None:
        """Finds a text."""

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    outcome = await jar.run(
        "return JSON.stringify(await tools.describe('github.find'))",
        tools={"github": {"find": Tool(find, effect="read_only", input_schema=schema)}},
    )
    assert "Finds a text." in outcome.unwrap()


async def test_arguments_that_do_not_fit_the_schema_do_not_reach_the_tool(jar: Belljar) -> None:
    called = []
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    outcome = await jar.run(
        "const which = ['text', 'txt']; const out = [];"
        "for (const name of which) out.push(await github.find({ [name]: 'a' }).catch((e) => e.message));"
        "return out",
        tools={
            "github": {"find": Tool(lambda **given: called.append(given), input_schema=schema)}
        },
    )
    assert called == [{"text": "a"}]
    first, second = outcome.unwrap()
    assert first is None and "text" in second


async def test_the_prelude_runs_first_and_is_not_counted(jar: Belljar) -> None:
    outcome = await jar.run(
        "\nthrow new Error(await api.twice('a'))",
        prelude="api.twice = async (text) => await api.echo({ text }) + text;\n" * 1 + "\n\n",
        tools={"api": {"echo": lambda text: text}},
    )
    assert outcome.error is not None
    assert (outcome.error.thrown, outcome.error.line) == ("aa", 2)


async def test_without_builtins_the_name_tools_is_free(jar: Belljar) -> None:
    tools = {"tools": {"add": lambda a, b: a + b}}
    outcome = await jar.run("return await tools.add({ a: 1, b: 2 })", tools=tools, builtins=False)
    assert outcome.unwrap() == 3
    with pytest.raises(RequestError, match="tools"):
        await jar.run("return 1", tools=tools)
    assert (await jar.run("return typeof tools.list")).unwrap() == "function"


async def test_null_texts_and_numbers_arrive_as_they_were_returned(jar: Belljar) -> None:
    values = [None, "3", 3, 2.5, True, [], {}, {"result": None}, "", [None], {"content": []}]
    outcome = await jar.run(
        "const out = []; for (let i = 0; i < count; i++) out.push(await get({ i }));"
        "return out.map((one) => [one === null ? 'null' : typeof one, one])",
        prelude=f"globalThis.count = {len(values)};",
        functions={"get": lambda i: values[i]},
    )
    kinds = ["null", "string", "number", "number", "boolean", "object", "object", "object"]
    kinds += ["string", "object", "object"]
    assert outcome.unwrap() == [list(pair) for pair in zip(kinds, values, strict=True)]


async def test_bytes_and_undefined_cross_both_ways(jar: Belljar) -> None:
    every = bytes(range(256))
    seen: list[Any] = []

    def swap(**given: Any) -> Any:
        seen.append(given)
        return {"back": given["data"][::-1], "half": array("h", [-1, 2]), "no": UNDEFINED}

    outcome = await jar.run(
        "const got = await swap({ data, floats: new Float32Array([0.5]), nothing: undefined });"
        "return [got.back, got.back instanceof Uint8Array, got.half instanceof Int16Array,"
        " got.half[0], 'no' in got && got.no === undefined, new Uint8Array([1, 2]).buffer]",
        prelude="globalThis.data = Uint8Array.from({ length: 256 }, (_, i) => i);",
        functions={"swap": swap},
    )
    back, is_bytes, is_half, first, is_undefined, buffer = outcome.unwrap()
    assert back == every[::-1] and is_bytes and is_half and first == -1 and is_undefined
    assert buffer == b"\1\2"
    assert seen[0]["data"] == every
    assert list(seen[0]["floats"]) == [0.5]


async def test_an_object_that_looks_like_the_protocols_own_is_none(jar: Belljar) -> None:
    odd: dict[str, Any] = {"$belljar": "undefined"}
    nested = {"$belljar": {"object": {"$belljar": {"bytes": "AA=="}}}}
    outcome = await jar.run(
        "return [await echo({ v: first }), await get(), first]",
        prelude='globalThis.first = { ["$belljar"]: "undefined" };',
        functions={"echo": lambda v: v, "get": lambda: nested},
    )
    assert outcome.unwrap() == [odd, nested, odd]


async def test_what_tools_return_becomes_json_or_an_error(jar: Belljar) -> None:
    class Colour(enum.Enum):
        RED = "red"

    @dataclass
    class Point:
        x: int
        at: datetime.date

    answers: list[Any] = [
        Point(1, datetime.date(2026, 1, 2)),
        {Colour.RED.value: Colour.RED},
        (1, {2}),
        float("nan"),
        "\ud800",
        object(),
    ]
    outcome = await jar.run(
        "const out = []; for (const i of [0, 1, 2, 3, 4, 5])"
        " out.push(await get({ i }).catch((e) => `${e.name}: ${e.message}`)); return out",
        functions={"get": lambda i: answers[i]},
    )
    *good, bad = outcome.unwrap()
    assert good == [{"x": 1, "at": "2026-01-02"}, {"red": "red"}, [1, [2]], None, "\ufffd"]
    assert bad.startswith("TypeError: a value of type object cannot be converted to JSON")


async def test_an_answer_that_no_line_can_hold_fails_its_call_alone(jar: Belljar) -> None:
    outcome = await jar.run(
        "const long = await big().catch((e) => e.message); return [long, await small()]",
        functions={"big": lambda: "x" * (17 << 20), "small": lambda: 1},
    )
    message, small = outcome.unwrap()
    assert "16 MiB" in message and small == 1


async def test_what_belljar_could_send_in_no_line_fails_alone(jar: Belljar) -> None:
    before = (await jar.start())["pid"]
    with pytest.raises(OutcomeTooLong, match="the limit is 16777216"):
        await jar.run("return 'x'.repeat(17 << 20)", limits={"max_output": "40MiB"})
    outcome = await jar.run(
        "return await f({ a: 'x'.repeat(17 << 20) }).catch((e) => e.message)",
        functions={"f": lambda a: a},
        limits={"max_arguments": "40MiB"},
    )
    assert "the limit is 16777216" in outcome.unwrap()
    assert (await jar.start())["pid"] == before


async def test_a_script_that_no_line_can_hold_is_refused(jar: Belljar) -> None:
    with pytest.raises(ValueError, match="16777216"):
        await jar.run("/" * (17 << 20))
    assert (await jar.run("return 1")).unwrap() == 1


async def test_exceptions_reach_the_script_with_name_and_bare_message(jar: Belljar) -> None:
    class OutOfStock(Exception):
        pass

    def fail(how: str) -> None:
        raise {
            "own": OutOfStock("none left"),
            "chosen": ToolError("no such thing", "NotFound"),
            "plain": ToolError("no"),
            "empty": ValueError(),
            "stop": StopIteration("done"),
            "system": ValueError("é\n" * 3),
        }[how]

    outcome = await jar.run(
        "const out = []; for (const how of ['own', 'chosen', 'plain', 'empty', 'stop', 'system'])"
        " try { await shop.fail({ how }) } catch (e) { out.push([e instanceof Error, e.name, e.message]) }"
        "return out",
        tools={"shop": {"fail": fail}},
    )
    assert outcome.unwrap() == [
        [True, "OutOfStock", "none left"],
        [True, "NotFound", "no such thing"],
        [True, "ToolError", "no"],
        [True, "ValueError", "ValueError"],
        [True, "RuntimeError", "the tool raised StopIteration"],
        [True, "ValueError", "é\n" * 3],
    ]
    wrong = await jar.run("await shop.fail({ what: 1 })", tools={"shop": {"fail": fail}})
    assert wrong.error is not None and "unexpected keyword argument" in wrong.error.message


async def test_a_failed_run_is_an_outcome_and_an_exception_on_demand(jar: Belljar) -> None:
    async def no(fault: str) -> None:
        raise {"type": TypeError, "tool": ToolError}[fault]("no")

    for fault, name, exception in (
        ("type", "TypeError", ScriptException),
        ("tool", "ToolError", ToolFailed),
    ):
        outcome = await jar.run(
            "console.log('before');\nawait api.no({ fault });",
            prelude=f"globalThis.fault = '{fault}'",
            tools={"api": {"no": no}},
        )
        assert not outcome.ok and outcome.value is None and outcome.error is not None
        assert (outcome.error.name, outcome.error.thrown) == (name, "no")
        assert outcome.error.line == 2
        with pytest.raises(exception, match="no") as raised:
            outcome.unwrap()
        assert type(raised.value) is exception
        assert raised.value.outcome is outcome and raised.value.failure is outcome.error
        assert raised.value.outcome.logs == (Log("log", "before"),)


@pytest.mark.parametrize(
    ("code", "limits", "kind", "exception"),
    [
        ("return (", {}, "syntax", ScriptSyntaxError),
        ("null.x", {}, "exception", ScriptException),
        ("await new Promise((r) => setTimeout(r, 9000))", {"timeout": "200ms"}, "timeout", RunTimeout),
        ("for (;;);", {"fuel": 10_000_000}, "fuel", RunTimeout),
        ("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", {"memory": "64MiB"}, "memory", LimitReached),
        ("for (;;) await f()", {"max_calls": 3}, "calls", LimitReached),
        ("return 'x'.repeat(1e5)", {"max_output": 1000}, "output", LimitReached),
        ("await new Promise(() => {})", {}, "deadlock", RunError),
    ],
)
async def test_limits_and_faults_have_exceptions_of_their_own(
    jar: Belljar, code: str, limits: Any, kind: str, exception: type[RunError]
) -> None:
    outcome = await jar.run(code, limits=limits, functions={"f": lambda: 1})
    assert outcome.error is not None and outcome.error.kind == kind
    with pytest.raises(exception) as raised:
        outcome.unwrap()
    assert raised.value.kind == kind
    if limits:
        limit = outcome.error.limit
        assert limit is not None and limit.name in limits and limit.unit
    assert isinstance(raised.value, TimeoutError) == (kind in ("timeout", "fuel"))


async def test_a_limit_is_a_timedelta_too_and_the_clients_hold_for_all_runs() -> None:
    async with Belljar(limits={"timeout": datetime.timedelta(milliseconds=150)}) as jar:
        outcome = await jar.run("await new Promise((r) => setTimeout(r, 5000))")
        assert outcome.error is not None and outcome.error.kind == "timeout"
        assert (await jar.run("return 1", limits={"timeout": "9s"})).ok
        with pytest.raises(RequestError):
            await jar.run("return 1", limits={"timeout": "soon"})


async def test_logs_come_while_the_script_runs(jar: Belljar) -> None:
    seen: list[Log] = []
    first = asyncio.Event()

    def note(line: Log) -> None:
        seen.append(line)
        first.set()

    async def wait() -> int:
        # Returns only because the line came before the end.
        await first.wait()
        return len(seen)

    outcome = await jar.run(
        "console.warn('one'); const n = await wait(); console.log('two', n); return n",
        functions={"wait": wait},
        on_log=note,
    )
    assert outcome.unwrap() == 1
    assert seen == [Log("warn", "one"), Log("log", "two 1")] == list(outcome.logs)


async def test_an_exception_of_on_log_ends_the_run_and_is_raised(jar: Belljar) -> None:
    def note(line: Log) -> None:
        raise LookupError(line.text)

    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(LookupError, match="one"):
        await jar.run(
            "const p = forever(); console.log('one'); await p",
            functions={"forever": forever},
            on_log=note,
        )
    assert ended.is_set()


async def test_tools_find_the_context_of_their_caller(jar: Belljar) -> None:
    user = contextvars.ContextVar("user", default="nobody")
    user.set("ada")

    async def on_loop() -> str:
        return user.get()

    outcome = await jar.run(
        "return [await on_loop(), await in_thread()]",
        functions={"on_loop": on_loop, "in_thread": lambda: user.get()},
    )
    assert outcome.unwrap() == ["ada", "ada"]


async def test_plain_functions_run_together_and_not_on_the_loop(jar: Belljar) -> None:
    together = threading.Barrier(3, timeout=10)

    def meet() -> bool:
        together.wait()
        return threading.current_thread() is not threading.main_thread()

    outcome = await jar.run(
        "return await Promise.all([meet(), meet(), meet()])", functions={"meet": meet}
    )
    assert outcome.unwrap() == [True, True, True]


async def test_a_thousand_calls_and_many_runs_are_under_way_at_once(jar: Belljar) -> None:
    waiting = 0
    all_here = asyncio.Event()

    async def meet(i: int) -> int:
        nonlocal waiting
        waiting += 1
        if waiting == 1000:
            all_here.set()
        await all_here.wait()
        return i

    code = "const all = Array.from({ length: 250 }, (_, i) => meet({ i })); return (await Promise.all(all)).length"
    outcomes = await asyncio.gather(*(jar.run(code, functions={"meet": meet}) for _ in range(4)))
    assert [outcome.unwrap() for outcome in outcomes] == [250] * 4


async def test_wrong_requests_are_exceptions_and_run_nothing(jar: Belljar) -> None:
    with pytest.raises(RequestError) as raised:
        await jar.run("return 1", tools={"not a name": {"f": lambda: 1}})
    assert raised.value.code == -32602
    with pytest.raises(TypeError, match="'f' is a int"):
        await jar.run("return 1", tools={"api": {"f": 3}})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"tools": {"f": len}}, "the namespace 'f' is a builtin.*functions="),
        ({"tools": {"api": [len]}}, "the namespace 'api' is a list.*a dict such as"),
        ({"tools": [len]}, "tools is a list.*a dict such as"),
        ({"functions": [len]}, "functions is a list.*a dict such as"),
        ({"functions": len}, "functions is a builtin"),
        ({"belljar": "fs"}, r"belljar= must be a list of servers, as in \['fs'\], or True"),
    ],
)
async def test_what_is_not_a_dict_of_functions_is_told_of(
    jar: Belljar, wrong: Any, why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        await jar.run("return 1", **wrong)


async def test_a_limit_is_not_negative(jar: Belljar) -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        await jar.run("return 1", limits={"timeout": datetime.timedelta(seconds=-1)})


async def test_a_tool_that_ends_its_program_fails_its_call_alone(jar: Belljar) -> None:
    async def on_loop(how: str) -> None:
        raise {"exit": SystemExit(3), "interrupt": KeyboardInterrupt()}[how]

    def in_thread(how: str) -> None:
        raise {"exit": SystemExit(3), "interrupt": KeyboardInterrupt()}[how]

    outcome = await jar.run(
        "const out = []; for (const f of [on_loop, in_thread]) for (const how of ['exit', 'interrupt'])"
        " await f({ how }).catch((e) => out.push([e.name, e.message])); return out",
        functions={"on_loop": on_loop, "in_thread": in_thread},
    )
    assert outcome.unwrap() == 2 * [
        ["ToolError", "the tool raised SystemExit: 3"],
        ["ToolError", "the tool raised KeyboardInterrupt"],
    ]


async def test_the_greeting_says_what_the_program_is(jar: Belljar) -> None:
    greeting = await jar.start()
    assert greeting["protocol"] == 1 and greeting["servers"] == []
    assert greeting["version"]


def test_the_sync_client_does_the_same(sync_jar: SyncBelljar) -> None:
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    lines: list[str] = []
    outcome = sync_jar.run(
        "console.log('hi'); return [await api.later({ n: 1 }), await api.now({ n: 1 })]",
        tools={"api": {"later": later, "now": lambda n: n}},
        on_log=lambda line: lines.append(line.text),
    )
    assert outcome.unwrap() == [2, 1] and lines == ["hi"]
    assert sync_jar.start()["protocol"] == 1
    with pytest.raises(ScriptException, match="no"):
        sync_jar.run("throw new Error('no')").unwrap()


def test_the_sync_client_is_shared_by_threads(sync_jar: SyncBelljar) -> None:
    got: dict[int, Any] = {}

    def work(n: int) -> None:
        got[n] = sync_jar.run("return await get()", functions={"get": lambda: n}).unwrap()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {n: n for n in range(8)}
