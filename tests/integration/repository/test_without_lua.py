"""
The tests of the health check for Argo CD on a machine without Lua: skipped with what to do, or
refused.
"""

from pathlib import Path

import pytest

from tests.support import lua
from tests.support.debian import ProgramMissing
from tests.support.without_programs import run_one_test, run_without_programs


ONE_TEST = "tests/integration/repository/test_argocd_health.py::test_the_message_says_what_blocks"


def test_tests_without_lua_are_skipped_and_the_end_names_the_command(tmp_path: Path):
    ended = run_one_test(tmp_path, ONE_TEST, LUA_REQUIRED="")
    assert ended.returncode == 0, ended.stdout
    assert "1 skipped" in ended.stdout
    assert "1 test(s) of the health check for Argo CD did NOT run." in ended.stdout
    assert "apt-get install -y --no-install-recommends --no-remove lua5.4" in ended.stdout


def test_a_run_that_requires_lua_fails_without(tmp_path: Path):
    ended = run_one_test(tmp_path, ONE_TEST, LUA_REQUIRED="1")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "LUA_REQUIRED=1, but: Lua is not installed." in ended.stdout + ended.stderr


def test_the_command_that_finds_lua_says_how_to_install_it(tmp_path: Path):
    ended = run_without_programs(tmp_path, "tests.support.lua", "--quiet")
    assert ended.returncode == 1
    assert "NO LUA" in ended.stderr
    assert "apt-get install" in ended.stderr


def test_any_lua_on_the_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramMissing):
        lua.find_lua()
    program = tmp_path / "lua5.3"
    program.touch(mode=0o755)
    assert lua.find_lua() == str(program)
