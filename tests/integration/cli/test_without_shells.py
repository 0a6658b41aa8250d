"""
The tests of the completion on a machine without zsh and fish: skipped with what to do, or refused.
"""

from pathlib import Path

import pytest

from tests.support.without_programs import run_one_test


ONE_TEST = (
    "tests/integration/cli/test_completion.py::test_fish_completes_commands_flags_and_values"
)


def test_tests_without_shells_are_skipped_and_the_end_names_the_command(tmp_path: Path):
    ended = run_one_test(tmp_path, ONE_TEST, SHELLS_REQUIRED="")
    assert ended.returncode == 0, ended.stdout
    assert "1 skipped" in ended.stdout
    assert "1 test(s) of the completion of zsh and fish did NOT run." in ended.stdout
    assert "apt-get install -y --no-install-recommends --no-remove zsh fish" in ended.stdout


def test_a_run_that_requires_shells_fails_without(tmp_path: Path):
    ended = run_one_test(tmp_path, ONE_TEST, SHELLS_REQUIRED="1")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "SHELLS_REQUIRED=1, but: " in ended.stdout + ended.stderr
