import logging
from dataclasses import fields
from datetime import timedelta

import pytest

from reporter.model.enums import DetailSource, Emission
from reporter.settings import FLAG_NAMES, FLAGS, BindAddress, LogFormat, Settings, load_settings
from tests.support.settings import refusal, settings


OF_THE_CHART = {
    "metrics-bind-address": ":8080",
    "health-probe-bind-address": ":8081",
    "leader-elect": "true",
    "leader-election-id": "productionstack-status-reporter",
    "resync-seconds": "30",
    "startup-grace-seconds": "60",
    "release-namespace": "kube-system",
    "istio-namespace": "istio-system",
    "kaito-namespace": "kaito-system",
    "keda-namespace": "keda",
    "gateway-auth-namespace": "llm-gateway-auth",
    "bbr-namespace": "kaito-system",
    "keda-scaler-namespace": "keda",
    "istiod-deployment": "istiod",
    "kaito-deployment": "kaito-workspace",
    "bbr-deployment": "body-based-router",
    "keda-scaler-deployment": "keda-kaito-scaler",
    "gateway-auth-deployment": "apikey-authz",
    "node-provisioner-name": "",
    "node-provisioner-namespace": "",
    "azure-authz-deployment": "",
    "azure-authz-namespace": "llm-gateway-auth",
    "weight-download-window-seconds": "60",
    "weight-download-min-mbps": "20",
    "weight-download-metric": "kaito_model_download_speed_bytes_per_second",
    "weight-download-metric-port": "5000",
}


@pytest.mark.parametrize(("name", "default"), OF_THE_CHART.items())
def test_every_flag_of_the_earlier_chart_has_its_default(name, default):
    assert settings().flag_texts[name] == default


def test_the_logging_flags_of_zap_are_accepted():
    assert {
        "zap-devel",
        "zap-encoder",
        "zap-log-level",
        "zap-stacktrace-level",
        "zap-time-encoding",
    } <= FLAG_NAMES


def test_every_flag_is_a_field_whose_default_its_parser_accepts():
    attributes = {field.name for field in fields(Settings)}
    assert {flag.settings_field for flag in FLAGS} <= attributes
    for flag in FLAGS:
        flag.parse(flag.default)


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
def test_the_help_of_a_flag_is_one_sentence_that_fits_a_line(flag):
    assert flag.help.endswith(".")
    assert len(flag.help) <= 74


@pytest.mark.parametrize(
    ("argv", "elects"),
    [
        ([], True),
        (["--leader-elect"], True),
        (["-leader-elect"], True),
        *(([f"--leader-elect={yes}"], True) for yes in ("1", "t", "T", "true", "TRUE", "True")),
        *(([f"-leader-elect={no}"], False) for no in ("0", "f", "F", "false", "FALSE", "False")),
        (["--leader-elect=false", "--leader-elect"], True),
    ],
)
def test_booleans_are_written_as_go_writes_them(argv, elects):
    assert settings(*argv).leader_elect is elects


@pytest.mark.parametrize(
    "argv",
    [
        ["--resync-seconds=7"],
        ["-resync-seconds=7"],
        ["--resync-seconds", "7"],
        ["--resync-seconds=3", "--resync-seconds=7"],
    ],
)
def test_values_are_written_as_go_writes_them(argv):
    assert settings(*argv).resync == timedelta(seconds=7)


@pytest.mark.parametrize(
    ("flag", "text", "seconds", "effective"),
    [
        ("resync-seconds", "1m30s", 90, "90"),
        ("resync-seconds", "45s", 45, "45"),
        ("settle-seconds", "0s", 0, "0"),
        ("startup-grace-seconds", "277h", 997200, "997200"),
        ("renew-deadline-seconds", "12s", 12, "12"),
        ("retry-period-seconds", "0.5", 0.5, "0.5"),
        ("weight-download-window-seconds", "2m", 120, "120"),
    ],
)
def test_a_time_has_units_or_is_a_number_of_seconds(flag, text, seconds, effective):
    """The catalogue reads texts of flags as numbers, so the text in effect is one."""
    found = settings(f"--{flag}={text}")
    assert getattr(found, flag.removesuffix("-seconds").replace("-", "_")) == timedelta(
        seconds=seconds
    )
    assert found.flag_texts[flag] == effective


@pytest.mark.parametrize("text", ["5d", "1s1m", "s", "1.5m", "-5s", "grace", "5 s", ""])
def test_a_text_that_is_no_time_is_refused(text):
    refused = refusal(f"--resync-seconds={text}")
    assert "must be a whole number of seconds" in refused
    assert refused.endswith("or with units, such as 90s, 10m or 1h30m")


def test_an_empty_value_switches_a_component_off():
    assert settings("--gateway-auth-deployment=").gateway_auth_deployment == ""
    assert settings("--gateway-auth-deployment", "").flag_texts["gateway-auth-deployment"] == ""


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
def test_every_flag_is_an_environment_variable_too(flag, tmp_path):
    there = tmp_path / "there"
    there.touch()
    own = {"lease-duration-seconds": "12", "renew-deadline-seconds": "11"}
    value = str(there) if flag.name in {"kubeconfig", "catalogue-overlay"} else flag.default
    value = own.get(flag.name, value)
    made = settings(**{flag.variable: value})
    assert made.flag_texts[flag.name] == value
    assert made.given_flags == {flag.name}


def test_a_flag_wins_over_its_variable():
    made = settings("--resync-seconds=7", STATUS_REPORTER_RESYNC_SECONDS="8")
    assert made.resync == timedelta(seconds=7)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8080", BindAddress("", 8080)),
        ("127.0.0.1:0", BindAddress("127.0.0.1", 0)),
        ("localhost:9", BindAddress("localhost", 9)),
        ("[::1]:8080", BindAddress("::1", 8080)),
        ("0", None),
    ],
)
def test_an_address_is_a_host_and_a_port_or_off(text, address):
    assert settings(f"--metrics-bind-address={text}").metrics_bind_address == address
    assert address is None or str(address) == text


def test_two_servers_on_any_free_port_do_not_conflict():
    made = settings("--metrics-bind-address=:0", "--health-probe-bind-address=:0")
    assert made.health_probe_bind_address == BindAddress("", 0)


def test_choices_become_values(tmp_path):
    file = tmp_path / "file"
    file.touch()
    made = settings("--emission=all", "--sources=keda, istio", f"--catalogue-overlay={file}")
    assert made.emission is Emission.ALL
    assert made.sources == {DetailSource.KEDA, DetailSource.ISTIO}
    assert made.catalogue_overlay == file


@pytest.mark.parametrize(
    ("argv", "format_", "level"),
    [
        ([], LogFormat.TEXT, logging.INFO),
        (["--zap-encoder=json"], LogFormat.JSON, logging.INFO),
        (["--zap-encoder=json", "--log-format=text"], LogFormat.TEXT, logging.INFO),
        (["--zap-encoder=console", "--log-format=json"], LogFormat.JSON, logging.INFO),
        (["--zap-devel"], LogFormat.TEXT, logging.DEBUG),
        (["--zap-devel", "--log-format=json"], LogFormat.JSON, logging.DEBUG),
        (["--zap-devel", "--zap-encoder=json"], LogFormat.JSON, logging.DEBUG),
        (["--zap-devel", "--zap-log-level=error"], LogFormat.TEXT, logging.ERROR),
        (["--zap-log-level=5"], LogFormat.TEXT, logging.DEBUG),
        (["--zap-log-level=panic"], LogFormat.TEXT, logging.CRITICAL),
        (["--zap-stacktrace-level=error"], LogFormat.TEXT, logging.INFO),
        (["--zap-time-encoding=iso8601"], LogFormat.TEXT, logging.INFO),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, list) else None,
)
def test_the_flags_of_zap_are_mapped(argv, format_, level):
    made = settings(*argv)
    assert (made.log_format, made.log_level) == (format_, level)


def test_the_lease_is_where_the_pod_is(tmp_path):
    file = tmp_path / "namespace"
    file.write_text("from-file\n")
    environ = {"POD_NAMESPACE": "from-variable"}
    assert load_settings([], environ, namespace_file=file).lease_namespace == "from-variable"
    assert load_settings([], {}, namespace_file=file).lease_namespace == "from-file"
    assert settings("--release-namespace=release").lease_namespace == "release"


def test_an_instance_is_its_pod_or_its_host():
    assert settings(POD_NAME="reporter-1").instance == "reporter-1"
    assert settings().instance == "laptop"


def test_the_deployment_of_the_pod_comes_from_its_variable():
    assert (
        settings(DEPLOYMENT_NAME="stack-status-reporter").deployment_name
        == "stack-status-reporter"
    )
    assert settings().deployment_name == ""


def test_azure_authorization_is_in_the_namespace_of_gateway_auth_by_default():
    made = settings("--azure-authz-namespace=", "--gateway-auth-namespace=auth")
    assert (made.azure_authz_namespace, made.flag_texts["azure-authz-namespace"]) == (
        "auth",
        "auth",
    )


@pytest.mark.parametrize("half", ["name", "namespace"])
def test_half_a_node_provisioner_is_not_checked_and_noted(half):
    made = settings(f"--node-provisioner-{half}=karpenter")
    assert made.node_provisioner_name == made.flag_texts["node-provisioner-name"] == ""
    assert f"--node-provisioner-{half} is set" in made.notes[0]


def test_a_whole_node_provisioner_is_checked():
    made = settings("--node-provisioner-name=a", "--node-provisioner-namespace=b")
    assert (made.flag_texts["node-provisioner-name"], made.notes) == ("a", ())


def test_a_frequent_heartbeat_is_accepted_and_noted():
    made = settings("--heartbeat-seconds=10")
    assert made.heartbeat == timedelta(seconds=10)
    assert made.notes[0].startswith("--heartbeat-seconds=10 writes each Event more than once")


def test_a_misspelled_variable_is_noted_and_those_of_a_service_are_not():
    made = settings(STATUS_REPORTER_RESYNC_SECOND="3", STATUS_REPORTER_SERVICE_HOST="10.0.0.1")
    (note,) = made.notes
    assert note.startswith("environment variable STATUS_REPORTER_RESYNC_SECOND is not ours")
    assert note.endswith("did you mean STATUS_REPORTER_RESYNC_SECONDS?")


def test_a_source_needs_no_note():
    assert settings("--sources=keda").notes == ()
