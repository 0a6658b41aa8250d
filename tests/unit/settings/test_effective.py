"""Values that stand for others or switch a check off, and what is noted about them."""

import pytest

from reporter.settings import BindAddress
from tests.support.settings import refusal, settings


INSIDE = BindAddress("127.0.0.1", 8082)


@pytest.mark.parametrize(
    ("argv", "address"),
    [
        ([], INSIDE),
        (["--health-probe-bind-address=0.0.0.0:9"], INSIDE),
        (["--health-probe-bind-address=[::]:9"], INSIDE),
        (["--status-bind-address="], INSIDE),
        (["--health-probe-bind-address=127.0.0.1:9"], BindAddress("127.0.0.1", 9)),
        (["--health-probe-bind-address=[::1]:9"], BindAddress("::1", 9)),
        (["--health-probe-bind-address=localhost:9"], BindAddress("localhost", 9)),
        (["--health-probe-bind-address=0"], None),
        (["--status-bind-address=0"], None),
        (["--status-bind-address=:8081"], BindAddress("", 8081)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_status_is_inside_the_pod_alone_unless_a_flag_opens_it(argv, address):
    made = settings(*argv)
    assert (made.status_bind_address, made.notes) == (address, ())


@pytest.mark.parametrize("other", ["metrics", "health-probe"])
def test_status_does_not_take_the_port_of_another_page(other):
    made = settings(f"--{other}-bind-address=:8082")
    assert made.status_bind_address is None
    assert made.notes == ("/status is not served: port 8082 is taken; set --status-bind-address",)


def test_status_is_not_served_with_the_metrics():
    argv = ("--metrics-bind-address=127.0.0.1:7", "--status-bind-address=127.0.0.1:7")
    assert refusal(*argv).startswith("--status-bind-address=127.0.0.1:7: is that of --metrics")


@pytest.mark.parametrize(
    ("namespace", "deployment", "component"),
    [
        ("istio", "istiod", "istiod"),
        ("kaito", "kaito", "KAITO's controller"),
        ("bbr", "bbr", "the body-based router"),
        ("gateway-auth", "gateway-auth", "gateway auth"),
        ("keda-scaler", "keda-scaler", "keda-kaito-scaler"),
    ],
)
def test_a_component_with_an_empty_flag_is_not_checked_and_noted(namespace, deployment, component):
    flag = f"{deployment}-deployment"
    for empty in (f"--{namespace}-namespace", f"--{flag}"):
        made = settings(f"{empty}=")
        assert made.flag_texts[flag] == getattr(made, flag.replace("-", "_")) == ""
        assert made.notes == (f"{empty} is empty: {component} is not checked",)


def test_keda_in_an_empty_namespace_is_not_checked_and_noted():
    made = settings("--keda-namespace=")
    assert made.flag_texts["keda-namespace"] == ""
    assert made.notes == ("--keda-namespace is empty: KEDA is not checked",)


def test_gateway_auth_beside_azure_authorization_may_be_switched_off_without_a_note():
    made = settings("--gateway-auth-deployment=", "--azure-authz-deployment=azure-authz")
    assert made.flag_texts["azure-authz-namespace"] == "llm-gateway-auth"
    assert made.notes == ()


def test_azure_authorization_without_any_namespace_is_not_checked_and_noted():
    made = settings(
        *("--gateway-auth-namespace=", "--azure-authz-namespace="),
        "--azure-authz-deployment=azure-authz",
    )
    assert made.flag_texts["azure-authz-deployment"] == ""
    assert made.notes == (
        "--gateway-auth-namespace is empty: gateway auth is not checked",
        "--azure-authz-namespace is empty: Azure authorization is not checked",
    )


@pytest.mark.parametrize(
    ("text", "speed"), [("0.5", 0.5), ("1e+07", 1e7), (".5", 0.5), ("20.", 20.0), ("+3", 3.0)]
)
def test_a_limit_is_written_as_go_writes_it(text, speed):
    made = settings(f"--weight-download-min-mbps={text}")
    assert (made.weight_download_min_mbps, made.notes) == (speed, ())


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("--weight-download-min-mbps=0", "--weight-download-min-mbps=0"),
        ("--weight-download-window-seconds=0", "--weight-download-window-seconds=0"),
        (
            "--weight-download-metric=a-b",
            "--weight-download-metric=a-b is not the name of a metric",
        ),
    ],
)
def test_values_with_which_no_download_was_ever_slow_switch_the_check_off(argument, why):
    made = settings(argument)
    assert (made.weight_download_min_mbps, made.flag_texts["weight-download-min-mbps"]) == (0, "0")
    assert made.notes == (f"{why}: weight downloads are not checked",)
    assert made.weight_download_window.total_seconds() == 60


def test_an_empty_metric_and_port_0_are_the_defaults_as_they_always_were():
    made = settings("--weight-download-metric=", "--weight-download-metric-port=0")
    default = "kaito_model_download_speed_bytes_per_second"
    assert made.flag_texts["weight-download-metric"] == made.weight_download_metric == default
    assert made.flag_texts["weight-download-metric-port"] == "5000"
    assert made.weight_download_metric_port == 5000
    assert made.notes == (
        f"--weight-download-metric= means the default: {default}",
        "--weight-download-metric-port=0 means the default: 5000",
    )


def test_values_that_the_chart_does_not_have_are_noted():
    made = settings(UNKNOWN_CHART_VALUES="controlPlane.istioNamspace replcas")
    assert [note.split(",")[0] for note in made.notes] == [
        "the chart has no value controlPlane.istioNamspace",
        "the chart has no value replcas",
    ]
