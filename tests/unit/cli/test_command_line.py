"""
The command as a user starts it.
"""

import os
import subprocess
import sys

import pytest

from reporter.settings import FLAGS


def reporter(*argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("STATUS_REPORTER_", "POD_"))}
    return subprocess.run(
        [sys.executable, "-m", "reporter.cli", *argv],
        env={**clean, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("argv", [["--help"], ["run", "-h"], ["help"]], ids=" ".join)
def test_help_is_readable_in_eighty_columns(argv):
    shown = reporter(*argv)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert max(len(line) for line in shown.stdout.splitlines()) <= 80


def test_help_lists_every_flag_with_its_default():
    lines = reporter("--help").stdout.splitlines()
    for flag in FLAGS:
        assert f"  --{flag.name}={flag.default}" in lines


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["run", "--resync-seconds=never"], "--resync-seconds=never: must be a whole number"),
        (["--resync-seconds=never"], "--resync-seconds=never: must be a whole number"),
        (["check-config", "--resnc-seconds=3"], "did you mean --resync-seconds?"),
        (["check-confg"], "there is no command 'check-confg'; did you mean check-config?"),
        (["version", "now"], "unexpected argument 'now'"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_refused_command_line_exits_with_two_and_names_the_flag(argv, expected):
    ended = reporter(*argv)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert expected in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_bad_variable_exits_with_two_and_its_name():
    ended = reporter("check-config", STATUS_REPORTER_EMISSION="some")
    assert ended.returncode == 2
    assert "STATUS_REPORTER_EMISSION=some: must be one of primary, all" in ended.stderr


def test_a_bad_overlay_exits_with_two_and_its_line(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons:\n  clusterBBRNotRedy: { enabled: false }\n")
    ended = reporter("check-config", f"--catalogue-overlay={overlay}")
    assert ended.returncode == 2
    assert f"--catalogue-overlay={overlay}" in ended.stderr
    assert f"{overlay}:2: unknown reason `clusterBBRNotRedy`" in ended.stderr


def test_check_config_prints_what_is_in_effect(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: { clusterKedaNotReady: { enabled: false } }\n")
    shown = reporter(
        "check-config", f"--catalogue-overlay={overlay}", "-resync-seconds=60", "--leader-elect=1"
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert " off, by default or by the overlay:\n  clusterKedaNotReady, " in shown.stdout
    assert "  --resync-seconds=60\n" in shown.stdout
    assert "--leader-elect" not in shown.stdout


def test_version_is_printed():
    shown = reporter("version")
    assert shown.returncode == 0
    assert shown.stdout[0].isdigit()
    assert reporter("--version").stdout == shown.stdout


def test_a_closed_pipe_is_no_failure():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        ended = subprocess.run(
            [sys.executable, "-m", "reporter.cli", "--help"],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, b"")
