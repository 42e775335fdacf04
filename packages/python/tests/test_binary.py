"""Where the client looks for the program, and `python -m belljar`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import belljar
from belljar import BinaryNotFound, find_binary

SOURCE = Path(belljar.__file__).parent


def _program(path: Path, says: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says or path.parent.name}\n")
    path.chmod(0o755)
    return str(path)


def _found(python: Path | str, environment: dict[str, str]) -> str:
    """What a process with only this package and this environment finds."""
    code = "import belljar; print(belljar.find_binary())"
    done = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_argument_comes_before_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _program(tmp_path / "a/belljar"), _program(tmp_path / "b/belljar")
    monkeypatch.setenv("BELLJAR_BINARY", second)
    assert find_binary() == second
    assert find_binary(first) == first
    monkeypatch.setenv("BELLJAR_BINARY", str(tmp_path / "none"))
    with pytest.raises(BinaryNotFound, match="BELLJAR_BINARY names"):
        find_binary()


def test_a_name_without_a_folder_is_looked_up_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path / "my-belljar")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_binary("my-belljar") == program


def test_the_program_of_the_package_comes_before_that_on_path(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, symlinks=True)
    site = next(environment.glob("lib/python*/site-packages"))
    shutil.copytree(SOURCE, site / "belljar")
    on_path = _program(tmp_path / "elsewhere/belljar")
    variables = {"PATH": str(tmp_path / "elsewhere"), "HOME": str(tmp_path)}
    python = environment / "bin/python"
    assert _found(python, variables) == on_path
    ours = _program(environment / "bin/belljar")
    assert _found(python, variables) == ours


def test_a_program_installed_with_target_is_found(tmp_path: Path) -> None:
    target = tmp_path / "target"
    shutil.copytree(SOURCE, target / "belljar")
    program = _program(target / "bin/belljar")
    variables = {"PYTHONPATH": str(target), "PATH": "/nowhere", "HOME": str(tmp_path)}
    assert _found(sys.executable, variables) == program


def test_a_program_installed_with_prefix_is_found(tmp_path: Path) -> None:
    site = tmp_path / "prefix/lib/python3/site-packages"
    shutil.copytree(SOURCE, site / "belljar")
    program = _program(tmp_path / "prefix/bin/belljar")
    variables = {"PYTHONPATH": str(site), "PATH": "/nowhere", "HOME": str(tmp_path)}
    assert _found(sys.executable, variables) == program


def test_a_program_of_the_user_scheme_is_found(tmp_path: Path) -> None:
    site = tmp_path / "copy"
    shutil.copytree(SOURCE, site / "belljar")
    program = _program(tmp_path / ".local/bin/belljar")
    variables = {"PYTHONPATH": str(site), "PATH": "/nowhere", "HOME": str(tmp_path)}
    assert _found(sys.executable, variables) == program


def test_where_there_is_none_the_error_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BELLJAR_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BinaryNotFound, match="BELLJAR_BINARY") as raised:
        find_binary()
    assert str(Path(sys.executable).parent) in str(raised.value)


def test_python_m_belljar_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "belljar", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
    )
    assert done.returncode == 0 and done.stdout.startswith("belljar")
