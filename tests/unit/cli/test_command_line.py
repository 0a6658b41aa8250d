"""The command as a user starts it."""

import json

import pytest

from reporter.cli.command import COMMANDS, find_command
from reporter.cli.help_pages import MAIN_FLAGS
from reporter.settings import FLAGS, FlagGroup
from tests.support.command_line import run_command_line


HELPS = [
    *(["--help"], ["--help-all"], ["help"], ["help", "--help"]),
    *([name, text] for name in COMMANDS for text in ("-h", "--help-all")),
]


@pytest.mark.parametrize("argv", HELPS, ids=" ".join)
def test_help_is_readable_in_eighty_columns(argv):
    shown = run_command_line(*argv)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert max(len(line) for line in shown.stdout.splitlines()) <= 80


@pytest.mark.parametrize("argv", [["--help-all"], ["-help-all"], ["help", "--help-all"]])
def test_help_all_lists_every_flag_with_its_default(argv):
    lines = run_command_line(*argv).stdout.splitlines()
    for flag in FLAGS:
        assert f"  --{flag.name}={flag.default}" in lines


def test_the_help_of_run_has_the_fifteen_flags_that_people_set():
    shown = run_command_line("run", "--help").stdout
    listed = [flag.name for flag in FLAGS if f"\n  --{flag.name}={flag.default}\n" in shown]
    assert set(listed) == MAIN_FLAGS
    assert len(listed) == 15
    more = sum(flag.group is not FlagGroup.HUB for flag in FLAGS) - 15
    assert f"--help-all has {more} more flags" in shown
    assert len(shown.splitlines()) < 90


def test_the_help_of_the_program_lists_no_flags():
    shown = run_command_line("--help").stdout
    assert not any(f"  --{flag.name}=" in shown for flag in FLAGS)
    assert "--help-all has every flag of run and hub" in shown


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_has_its_usage_its_examples_and_its_flags_alone(name):
    command = find_command(name)
    shown = run_command_line(name, "--help").stdout
    assert shown == run_command_line("help", name).stdout
    assert command.usage.partition(" | ")[0] in shown
    joined = " ".join(shown.replace("\\\n", "").split())
    assert all(words in joined and what in shown for words, what in command.examples)
    assert all(f"--{flag.name}" in shown for flag in command.flags)
    if name in {"run", "hub", "check-config"}:
        whole = run_command_line(name, "--help-all").stdout
        lines = {line.strip().partition("=")[0] for line in whole.splitlines()}
        listed = {flag.name for flag in FLAGS if f"--{flag.name}" in lines}
        assert listed == set(command.settings)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", "90"), ("90s", "90"), ("2m", "120"), ("1h1s", "3601")]
)
def test_a_time_is_written_with_units_or_as_seconds(text, seconds):
    shown = run_command_line("check-config", f"--resync-seconds={text}", "-o", "json")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["flags"]["resync-seconds"] == seconds


def test_check_config_prints_json_for_programs(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: { clusterKedaNotReady: { enabled: false } }\n")
    shown = run_command_line(
        *("check-config", "--output=json", f"--catalogue-overlay={overlay}"),
        *("--bbr-deployment=", "-emission", "all"),
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    found = json.loads(shown.stdout)
    assert found["valid"] is True
    assert "clusterKedaNotReady" in found["reasons"]["disabled"]
    assert "--bbr-deployment" in found["reasons"]["notChecked"]["clusterBBRNotReady"]
    assert {"emission", "catalogue-overlay"} <= set(found["changedFlags"])
    assert any("the body-based router is not checked" in note for note in found["notes"])


def test_check_config_refuses_in_json_too():
    ended = run_command_line("check-config", "-ojson", "--heartbeat-seconds=1")
    assert ended.returncode == 2
    found = json.loads(ended.stdout)
    assert (found["valid"], found["flag"]) == (False, "--heartbeat-seconds=1")
    assert found["error"] in ended.stderr


@pytest.mark.parametrize(
    ("argv", "flag"),
    [
        (["--resnc-seconds=3", "-o", "json"], "--resnc-seconds"),
        (["-o=json", "--output=json", "--resnc-seconds"], "--resnc-seconds"),
        (["--output", "json", "--resync-seconds"], "--resync-seconds"),
        (["--leader-elect=perhaps", "-ojson"], "--leader-elect=perhaps"),
        (["now", "--output=json"], ""),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_line_that_cannot_be_parsed_is_refused_in_json_too(argv, flag):
    ended = run_command_line("check-config", *argv)
    assert ended.returncode == 2
    found = json.loads(ended.stdout)
    assert (found["valid"], found["flag"]) == (False, flag)
    assert found["error"] in ended.stderr


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["check-config", "-o", "xml"], "--output=xml: must be one of text, json"),
        (["check-config", "now"], "unexpected argument 'now'"),
        (["check-config", "--hub-query-url=https://x"], "--hub-query-url"),
        (["run", "--resync-seconds=never"], "--resync-seconds=never: must be a whole number"),
        (["--resync-seconds=3"], "name a command before the flags"),
        (["check-config", "--resnc-seconds=3"], "did you mean --resync-seconds?"),
        (["check-confg"], "there is no command 'check-confg'; did you mean check-config?"),
        (["check-confg", "--help"], "did you mean check-config?"),
        (["help", "wiat"], "there is no command 'wiat'; did you mean wait?"),
        (["version", "now"], "unexpected argument 'now'"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_refused_command_line_exits_with_two_and_names_the_flag(argv, expected):
    ended = run_command_line(*argv)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert expected in ended.stderr
    assert "Traceback" not in ended.stderr


def test_flags_alone_are_those_of_run_in_a_pod():
    ended = run_command_line("--resync-seconds=never", KUBERNETES_SERVICE_HOST="192.0.2.1")
    assert ended.returncode == 2
    assert "--resync-seconds=never: must be a whole number" in ended.stderr


def test_a_bad_variable_exits_with_two_and_its_name():
    ended = run_command_line("check-config", STATUS_REPORTER_EMISSION="some")
    assert ended.returncode == 2
    assert "STATUS_REPORTER_EMISSION=some: must be one of primary, all" in ended.stderr


def test_a_bad_overlay_exits_with_two_and_its_line(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons:\n  clusterBBRNotRedy: { enabled: false }\n")
    ended = run_command_line("check-config", f"--catalogue-overlay={overlay}")
    assert ended.returncode == 2
    assert f"--catalogue-overlay={overlay}" in ended.stderr
    assert f"{overlay}:2: unknown reason `clusterBBRNotRedy`" in ended.stderr


def test_check_config_prints_what_is_in_effect(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: { clusterKedaNotReady: { enabled: false } }\n")
    shown = run_command_line(
        "check-config", f"--catalogue-overlay={overlay}", "-resync-seconds=60", "--leader-elect=1"
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert " disabled, by default or by the overlay:\n  clusterKedaNotReady, " in shown.stdout
    assert "  --resync-seconds=60\n" in shown.stdout
    assert "--leader-elect" not in shown.stdout


def test_version_is_printed():
    shown = run_command_line("version")
    assert shown.returncode == 0
    assert shown.stdout[0].isdigit()
    assert run_command_line("--version").stdout == shown.stdout
