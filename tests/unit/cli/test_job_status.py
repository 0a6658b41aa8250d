"""The command job-status, up to its first connection."""

import logging
import os
import signal
import sys
from functools import partial

import pytest

from reporter.job.variables import VARIABLES
from tests.support.command_line import run_command_line


POD = {"JOB_NAME": "check", "JOB_NAMESPACE": "team-a", "POD_NAME": "check-7xk2p"}
NO_ACCOUNT = {"KUBERNETES_SERVICE_HOST": "192.0.2.1", "KUBERNETES_SERVICE_PORT": "443"}
NOT_IN_POD = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"


reporter = partial(run_command_line, HOME="/nowhere")


@pytest.mark.parametrize("argv", [[], ["job-status"]])
def test_without_arguments_it_runs_where_job_and_pod_are_named(argv):
    ended = reporter(*argv, **POD | {"JOB_NAMESPACE": ""})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.endswith("Failed to load configuration: JOB_NAMESPACE: required\n")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["JOB_NAME", "POD_NAME"])
@pytest.mark.parametrize("blank", ["", " "])
def test_a_sidecar_without_arguments_names_the_variable_that_is_blank(name, blank):
    ended = reporter(**POD | {name: blank})
    assert ended.returncode == 1
    assert ended.stderr.endswith(f"Failed to load configuration: {name}: required\n")


@pytest.mark.parametrize("environ", [{}, {"JOB_NAME": "x"}, {"POD_NAME": "x"}])
def test_without_arguments_in_another_pod_the_reporter_runs(environ):
    ended = reporter(**environ, **NO_ACCOUNT)
    assert ended.returncode == 2
    assert "in-cluster account" in ended.stderr


@pytest.mark.parametrize("environ", [{}, {"JOB_NAME": "x"}, {"KUBECONFIG": "/nowhere/config"}])
def test_without_arguments_outside_of_a_pod_the_help_is_printed(environ):
    ended = reporter(**environ)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == reporter("--help").stdout


def test_flags_alone_outside_of_a_pod_are_refused_with_the_commands_to_name():
    ended = reporter("--leader-elect=false", "--kubeconfig=/nowhere/config")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "name a command before the flags" in ended.stderr
    assert "run --dry-run" in ended.stderr


def test_flags_and_other_commands_are_not_the_sidecars():
    assert "in-cluster account" in reporter("--emission=all", **POD, **NO_ACCOUNT).stderr
    assert reporter("version", **POD).returncode == 0
    assert "Watch a cluster" in reporter("--help", **POD).stdout


def test_the_explicit_command_names_the_variable_that_is_missing():
    ended = reporter("job-status")
    assert ended.returncode == 1
    assert ended.stderr.endswith("Failed to load configuration: JOB_NAME: required\n")


def test_it_takes_no_arguments():
    ended = reporter("job-status", "--poll=3", **POD)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "unexpected argument '--poll=3'; job-status takes none" in ended.stderr


def test_outside_of_a_pod_it_names_what_is_missing_and_uses_no_kubeconfig(tmp_path):
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("{}")
    ended = reporter(**POD, KUBECONFIG=str(kubeconfig))
    assert ended.returncode == 1
    assert ended.stderr.rstrip().endswith(NOT_IN_POD)
    assert "Traceback" not in ended.stderr


def test_without_the_files_of_its_account_it_names_their_folder():
    ended = reporter(**POD, KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT="1")
    assert ended.returncode == 1
    assert "Failed to create reporter: in-cluster account in /var/run/secrets/" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_command_leaves_no_variables_handlers_and_levels_behind_in_a_test():
    def state() -> tuple[object, ...]:
        root = logging.getLogger()
        levels = [logging.getLogger(each).level for each in ("aiohttp", "asyncio")]
        handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
        return dict(os.environ), root.level, list(root.handlers), levels, handlers, sys.stdin

    before = state()
    ended = reporter(**POD, KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT="1")
    assert "INFO    reporter.job: Job team-a/check" in ended.stderr
    assert state() == before


def test_its_help_has_every_variable_in_eighty_columns():
    shown = reporter("job-status", "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for each in VARIABLES:
        default = " (required)" if each.is_required else f"={each.default}"
        assert f"  {each.name}{default}" in lines
