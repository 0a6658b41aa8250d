"""The environment of the sidecar, and the texts for a wrong one."""

from datetime import timedelta

import pytest

from reporter.job.environment import EnvironmentRefusedError, load_settings
from reporter.job.variables import VARIABLES


REQUIRED = {"JOB_NAME": "check", "JOB_NAMESPACE": "team-a", "POD_NAME": "check-7xk2p"}


def test_defaults_are_those_of_the_status_reporter_it_replaces():
    settings = load_settings(REQUIRED)
    assert (settings.job_name, settings.job_namespace, settings.pod_name) == (
        "check", "team-a", "check-7xk2p",
    )  # fmt: skip
    assert settings.results_path == "/results/adapter-result.json"
    assert settings.condition_type == "Available"
    assert settings.adapter_container == ""
    assert settings.own_names == {"status-reporter"}
    assert settings.native is None
    assert settings.rules.poll_interval == timedelta(seconds=2)
    assert settings.rules.max_wait == timedelta(minutes=5)
    assert settings.rules.container_interval == timedelta(seconds=10)
    assert settings.rules.rereads_invalid
    assert settings.rules.looks_at_stop


def test_every_variable_is_read_and_trimmed():
    settings = load_settings(
        {name: f" {text}\n" for name, text in REQUIRED.items()}
        | {
            "RESULTS_PATH": " /data//x/../result.json ",
            "POLL_INTERVAL_SECONDS": "\t5",
            "MAX_WAIT_TIME_SECONDS": "+600 ",
            "CONDITION_TYPE": " Checked ",
            "LOG_LEVEL": "no such level",
            "ADAPTER_CONTAINER_NAME": " adapter ",
            "CONTAINER_NAME": " sidecar ",
            "REREAD_INVALID_RESULT": "false",
            "LOOK_ON_SIGTERM": "0",
            "NATIVE_SIDECAR": "True",
        }
    )
    assert settings.job_name == "check"
    assert settings.results_path == "/data/result.json"
    assert settings.rules.poll_interval == timedelta(seconds=5)
    assert settings.rules.max_wait == timedelta(minutes=10)
    assert settings.condition_type == "Checked"
    assert settings.adapter_container == "adapter"
    assert settings.own_names == {"status-reporter", "sidecar"}
    assert settings.native is True
    assert not settings.rules.rereads_invalid
    assert not settings.rules.looks_at_stop


@pytest.mark.parametrize("name", [each.name for each in VARIABLES if not each.is_required])
@pytest.mark.parametrize("empty", ["", "  ", "\n\t"])
def test_an_empty_variable_is_as_none(name, empty):
    assert load_settings(REQUIRED | {name: empty}) == load_settings(REQUIRED)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"JOB_NAME": ""}, "JOB_NAME: required"),
        ({"JOB_NAMESPACE": " "}, "JOB_NAMESPACE: required"),
        ({"POD_NAME": "\n"}, "POD_NAME: required"),
        ({"JOB_NAME": "", "POD_NAME": ""}, "JOB_NAME: required"),
        ({"POLL_INTERVAL_SECONDS": "2s"}, "POLL_INTERVAL_SECONDS: must be a valid integer, got: 2s"),
        ({"POLL_INTERVAL_SECONDS": "1_0"}, "POLL_INTERVAL_SECONDS: must be a valid integer, got: 1_0"),
        ({"MAX_WAIT_TIME_SECONDS": "1.5"}, "MAX_WAIT_TIME_SECONDS: must be a valid integer, got: 1.5"),
        ({"MAX_WAIT_TIME_SECONDS": "٣"}, "MAX_WAIT_TIME_SECONDS: must be a valid integer, got: ٣"),
        ({"MAX_WAIT_TIME_SECONDS": "9" * 20}, f"MAX_WAIT_TIME_SECONDS: must be a valid integer, got: {'9' * 20}"),
        ({"POLL_INTERVAL_SECONDS": "0"}, "PollIntervalSeconds: must be positive"),
        ({"POLL_INTERVAL_SECONDS": "-1"}, "PollIntervalSeconds: must be positive"),
        ({"MAX_WAIT_TIME_SECONDS": "0"}, "MaxWaitTimeSeconds: must be positive"),
        ({"MAX_WAIT_TIME_SECONDS": "2"}, "PollIntervalSeconds: must be less than MaxWaitTimeSeconds"),
        ({"RESULTS_PATH": "/results/"}, "ResultsPath: path must be a file, not a directory"),
        ({"RESULTS_PATH": "results/"}, "ResultsPath: path must be a file, not a directory"),
        ({"RESULTS_PATH": "result.json"}, "ResultsPath: path must be absolute"),
        ({"REREAD_INVALID_RESULT": "no"}, "REREAD_INVALID_RESULT: must be true or false, got: no"),
        ({"LOOK_ON_SIGTERM": "auto"}, "LOOK_ON_SIGTERM: must be true or false, got: auto"),
        ({"NATIVE_SIDECAR": "yes"}, "NATIVE_SIDECAR: must be true or false or auto, got: yes"),
    ],
)  # fmt: skip
def test_a_wrong_variable_is_refused_by_name(given, text):
    with pytest.raises(EnvironmentRefusedError) as refused:
        load_settings(REQUIRED | given)
    assert str(refused.value) == text
