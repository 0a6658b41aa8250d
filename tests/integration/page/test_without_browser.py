"""The tests of the page on a machine without a browser: skipped with what to do, or refused."""

from pathlib import Path

import pytest

from tests.support import browser
from tests.support.debian import ProgramMissing
from tests.support.without_programs import run_one_test, run_without_programs


ONE_TEST = "tests/integration/page/test_page_use.py::test_the_first_key_skips_to_the_tree"


def test_tests_without_a_browser_are_skipped_and_the_end_names_the_command(tmp_path: Path):
    ended = run_one_test(tmp_path, ONE_TEST, BROWSER_REQUIRED="")
    assert ended.returncode == 0, ended.stdout
    assert "1 skipped" in ended.stdout
    assert "1 test(s) of the status page did NOT run." in ended.stdout
    assert (
        "apt-get install -y --no-install-recommends --no-remove chromium-headless-shell chromium-driver"
        in ended.stdout
    )


def test_a_run_that_requires_a_browser_fails_without(tmp_path: Path):
    ended = run_one_test(tmp_path, ONE_TEST, BROWSER_REQUIRED="1")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "BROWSER_REQUIRED=1, but: Chromium is not installed." in ended.stdout + ended.stderr


def test_the_command_that_finds_the_browser_says_how_to_install_it(tmp_path: Path):
    ended = run_without_programs(tmp_path, "tests.support.browser", "--quiet")
    assert ended.returncode == 1
    assert "NO BROWSER" in ended.stderr
    assert "apt-get install" in ended.stderr


def test_a_browser_without_its_driver_is_not_enough(tmp_path: Path, monkeypatch):
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramMissing, match="chromedriver is not installed"):
        browser.find_browser()
    (tmp_path / "chromedriver").touch(mode=0o755)
    assert browser.find_browser() == browser.BrowserPrograms(
        str(program), str(tmp_path / "chromedriver")
    )
