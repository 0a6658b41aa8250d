"""The address and the flags in the pod of a reporter."""

import pytest

from reporter.settings.parsers import BindAddress
from reporter.status.pods_source import ReporterPod


def a_pod(*arguments: str) -> ReporterPod:
    return ReporterPod("kaito-system", "reporter-0", is_ready=True, arguments=arguments)


@pytest.mark.parametrize(
    ("argument", "address"),
    [
        ("--status-bind-address=:8082", BindAddress("", 8082)),
        ("-status-bind-address=0.0.0.0:9000", BindAddress("0.0.0.0", 9000)),
        ("--status-bind-address=127.0.0.1:8082", None),
        ("--status-bind-address=[::1]:8082", None),
        ("--status-bind-address=localhost:8082", None),
        ("--status-bind-address=0", None),
        ("--status-bind-address=", None),
        ("--status-bind-address=$(ADDRESS)", None),
        ("--leader-elect=true", None),
    ],
)
def test_only_an_address_outside_of_the_pod_is_a_way(argument, address):
    assert a_pod(argument).status_address == address


def test_flags_are_read_as_the_chart_writes_them():
    pod = a_pod("run", "--kaito-namespace=kube-system", "-keda-namespace=", "--leader-elect")
    assert pod.flags == {"kaito-namespace": "kube-system", "keda-namespace": ""}
