"""The package's types are right, and the examples in its documents work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import belljar

PACKAGE = Path(__file__).parents[1]
TEXTS = [PACKAGE / "README.md", PACKAGE.parents[1] / "docs/HOSTS.md"]
EXAMPLES = [
    pytest.param(example, id=f"{text.name}-{number}")
    for text in TEXTS
    for number, example in enumerate(
        re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.DOTALL)
    )
]
# The core is checked for the oldest Python; some hosts need a later one.
CORE = sorted(str(path) for path in (PACKAGE / "src/belljar").glob("_*.py") if path.stem != "_shield")


def _mypy(*arguments: str, cwd: Path = PACKAGE) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "MYPYPATH": str(PACKAGE / "src")},
    )
    return done.stdout + done.stderr


# The first time, checking the hosts takes a minute.
CACHE = str(Path(sys.prefix) / "mypy-cache")


def test_the_client_is_strictly_typed_for_the_oldest_python() -> None:
    assert _mypy("--python-version", "3.10", "--cache-dir", CACHE, *CORE) == ""


def test_the_adapters_are_strictly_typed_with_their_hosts() -> None:
    assert _mypy("--python-version", "3.11", "--cache-dir", CACHE, "--package", "belljar") == ""


def test_the_types_are_those_that_users_see(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            from belljar import Belljar, Outcome, SyncBelljar, Tool

            async def find(text: str) -> list[str]:
                return [text]

            async def main() -> None:
                async with Belljar(limits={"timeout": "1s"}) as jar:
                    outcome = await jar.run("", tools={"a": {"f": find, "g": Tool(find)}})
                    reveal_type(outcome)
                    reveal_type(outcome.usage["fuel"])
                    await jar.run("", limits={"timeuot": "1s"})
                    await jar.run(1)
                with SyncBelljar() as sync:
                    reveal_type(sync.run(""))
            """
        )
    )
    said = _mypy("--python-version", "3.11", "--cache-dir", CACHE, str(program), cwd=tmp_path)
    revealed = re.findall(r'Revealed type is "(.*)"', said)
    assert revealed == ["belljar._outcome.Outcome", "int", "belljar._outcome.Outcome"], said
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert len(errors) == 2
    assert '"Limits | None"' in errors[0]
    assert 'incompatible type "int"' in errors[1]


def test_py_typed_and_the_version_are_there() -> None:
    assert (PACKAGE / "src/belljar/py.typed").is_file()
    assert f'version = "{belljar.__version__}"' in (PACKAGE / "pyproject.toml").read_text()
    for name in belljar.__all__:
        assert hasattr(belljar, name)


def test_importing_the_client_imports_no_host() -> None:
    code = (
        "import sys, belljar\n"
        "hosts = {'fastmcp', 'pydantic', 'pydantic_ai', 'agents', 'langchain_core', 'anyio'}\n"
        "print(sorted(hosts & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE / "src")},
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_documents_print_what_they_say(
    example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(example, "example", "exec"), {"__name__": "example"})
    said = re.findall(r"^ *print\(.*\)  # (.*)$", example, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said
