"""The shells complete commands, their flags, and the values of these."""

import shutil
from pathlib import Path

import pytest

from reporter.cli.command import COMMANDS, all_commands
from reporter.cli.completion import offered_values, taken_flags
from tests.integration.cli.shells import ask_bash, ask_fish, ask_zsh, script_of
from tests.support.command_line import run_command_line
from tests.support.shells import Shells, find_shells


NAMES = set(COMMANDS)


@pytest.fixture
def shells() -> Shells:
    return find_shells()


def test_every_command_is_declared_for_help_docs_and_completion():
    for name, command in all_commands().items():
        assert command.examples, name
        assert all(words.split()[0] == name for words, _ in command.examples), name
        assert command.usage.replace("[run]", "run").startswith(name), name


def test_the_flags_of_a_command_are_those_that_it_takes():
    flags = {name: taken_flags(each) for name, each in all_commands().items()}
    names = {name: {flag.name for flag in each} for name, each in flags.items()}
    assert {"output", "as", "request-timeout", "kaito-namespace"} <= names["status"]
    assert "leader-elect" not in names["status"]
    assert "hub-query-url" in names["hub"] - names["run"]
    assert {"output", "emission"} <= names["check-config"]
    (emission,) = (flag for flag in flags["run"] if flag.name == "emission")
    assert offered_values(emission) == ["primary", "all"]
    (kubeconfig,) = (flag for flag in flags["run"] if flag.name == "kubeconfig")
    assert kubeconfig.is_file


# ---------------------------------------------------------------- bash


BASH = shutil.which("bash") or "bash"


def test_bash_completes_commands(tmp_path: Path):
    assert set(ask_bash(BASH, tmp_path, "")) == NAMES
    assert ask_bash(BASH, tmp_path, "exp") == ["explain"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["status", "--outp"], ["--output="]),
        (["status", "--output", "=", "js"], ["json"]),
        (["status", "-o", "y"], ["yaml"]),
        (["status", "team-a", "--from", "=", ""], ["auto", "reporter", "cluster", "hub"]),
        (["status", "--no-h"], ["--no-headers"]),
        (["wait", "team-a", "--for", "=", "g"], ["gone"]),
        (["--emission", "=", "pri"], ["primary"]),
        (["--leader-elect"], ["--leader-elect", "--leader-election-id="]),
        (["hub", "--hub-en"], ["--hub-engage="]),
        (["hub", "--emis"], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["check-config", "-o", "j"], ["json"]),
        (["status", "team"], []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bash_completes_flags_and_values(tmp_path: Path, words, expected):
    assert ask_bash(BASH, tmp_path, *words) == expected


def test_bash_completes_files(tmp_path: Path):
    (tmp_path / "overlay.yaml").touch()
    words = ("run", "--catalogue-overlay", "=", f"{tmp_path}/over")
    assert ask_bash(BASH, tmp_path, *words) == [f"{tmp_path}/overlay.yaml"]


# ---------------------------------------------------------------- fish and zsh


def test_fish_completes_commands_flags_and_values(shells: Shells, tmp_path: Path):
    def ask(line: str) -> set[str]:
        return set(ask_fish(shells.fish, tmp_path, line))

    assert ask("") == NAMES
    assert "--output" in ask("status --outp")
    assert ask("status --output=js") == {"--output=json"}
    assert ask("status -o ya") == {"yaml"}
    assert ask("--emission=p") == {"--emission=primary"}
    assert ask("hub --emis") == set()
    assert ask("completion ") == {"bash", "zsh", "fish"}


def test_zsh_completes_commands_flags_and_values(shells: Shells, tmp_path: Path):
    def ask(line: str) -> set[str]:
        return ask_zsh(shells.zsh, tmp_path, line)

    assert ask("") == NAMES
    assert any(each.startswith("--output") for each in ask("status --outp"))
    assert ask("status --output=j") == {"json", "junit"}
    assert ask("wait --for=") == {"ready", "available", "gone"}
    assert ask("--emission=p") == {"primary"}
    assert ask("completion ") == {"bash", "zsh", "fish"}


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_script(tmp_path: Path, shell: str):
    shown = run_command_line("completion", shell)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == script_of(shell, tmp_path).read_text() + "\n"


@pytest.mark.parametrize("argv", [[], ["powershell"], ["bash", "zsh"]], ids=" ".join)
def test_another_shell_is_refused_with_those_there_are(argv):
    ended = run_command_line("completion", *argv)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "name one shell: completion bash|zsh|fish" in ended.stderr
