"""The address and the flags in the pod of a reporter."""

import pytest

from reporter.settings.parsers import BindAddress
from reporter.status.pod_fetcher import MountedConfigMap, ReporterPod


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


HERE = {"POD_NAMESPACE": "kaito-system", "POD_NAME": "reporter-0"}


@pytest.mark.parametrize(
    ("address", "environ", "url"),
    [
        ("127.0.0.1:8082", HERE, "http://127.0.0.1:8082"),
        ("[::1]:8082", HERE, "http://[::1]:8082"),
        (":9000", HERE, "http://127.0.0.1:9000"),
        ("0", HERE, ""),
        ("127.0.0.1:8082", {**HERE, "POD_NAME": "reporter-1"}, ""),
        ("127.0.0.1:8082", {}, ""),
    ],
)
def test_a_program_in_the_pod_asks_it_at_its_own_address(address, environ, url):
    assert a_pod(f"--status-bind-address={address}").own_url(environ) == url


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/etc/silences/silences.yaml", ("silences", "silences.yaml")),
        ("/etc/silences/other.yaml", ("silences", "other.yaml")),
        ("/etc/renamed/silences.yaml", ("renamed", "key")),
        ("/etc/silences/folder/silences.yaml", None),
        ("/etc/silences.yaml", None),
        ("", None),
    ],
)
def test_a_file_is_found_in_the_config_map_that_is_mounted_there(path, place):
    mounted = (
        MountedConfigMap("/etc/silences", "silences"),
        MountedConfigMap("/etc/renamed/", "renamed", {"silences.yaml": "key"}),
    )
    assert ReporterPod("kaito-system", "a", config_maps=mounted).config_map_of(path) == place
