"""kubectl completes the commands, flags and values of the plugin."""

import subprocess
import sys

import pytest

from reporter.cli.command import find_command
from reporter.cli.command_names import PLUGIN_COMMANDS
from reporter.cli.completion import render_kubectl


OFFERED = {name: find_command(name) for name in PLUGIN_COMMANDS}
NO_FILES, NO_SPACE_NO_FILES, FILES = ":4", ":6", ":0"


def ask(*words: str) -> tuple[list[str], str]:
    """Return the completions without their descriptions, and the directive."""
    *lines, directive = render_kubectl(OFFERED, words).split("\n")
    return [line.partition("\t")[0] for line in lines], directive


def test_the_first_word_is_a_command_of_the_plugin():
    assert set(ask("")[0]) == PLUGIN_COMMANDS
    assert ask("exp") == (["explain"], NO_FILES)
    assert ask("hu") == ([], NO_FILES)
    assert ask("team") == ([], NO_FILES)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--outp",), (["--output="], NO_SPACE_NO_FILES)),
        (("team-a", "--no-h"), (["--no-headers"], NO_FILES)),
        (("team-a", "-o", "js"), (["json"], NO_FILES)),
        (("--output=y",), (["yaml"], NO_FILES)),
        (("wait", "team-a", "--for", ""), (["ready", "available", "gone"], NO_FILES)),
        (("wait", "--fail"), (["--fail-fast"], NO_FILES)),
        (("status", "--fail"), ([], NO_FILES)),
        (("check", "-o", "ju"), (["junit"], NO_FILES)),
        (("team-a", "--kubeconfig="), ([], FILES)),
        (("team-a", "--kubeconfig", "./k"), ([], FILES)),
        (("silence", "--hel"), (["--help"], NO_FILES)),
        (("team-a", "qw"), ([], NO_FILES)),
        (("--no-headers", "tea"), ([], NO_FILES)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else "",
)
def test_flags_and_values_are_those_of_the_command(words, expected):
    assert ask(*words) == expected


def test_each_command_and_flag_has_a_description():
    for words in ([""], ["--"], ["wait", "--"]):
        *lines, _ = render_kubectl(OFFERED, words).split("\n")
        assert lines
        assert all(line.partition("\t")[2] for line in lines)


def test_the_program_answers_on_standard_output():
    main = "from reporter.cli.__main__ import main_plugin_completion; main_plugin_completion()"
    ended = subprocess.run(
        [sys.executable, "-c", main, "explain", "--out"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, ":4\n", "")
