"""The names of this machine, and those that anyone could have chosen."""

import pytest

from reporter.server.host_check import is_foreign, is_loopback


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8082",
        "LocalHost:8082",
        "localhost.:8082",
        "status.localhost:8082",
        "127.0.0.1:8082",
        "127.8.8.8",
        "10.1.2.3:8082",
        "[::1]:8082",
        "[::1]",
        "",
    ],
)
def test_addresses_and_localhost_are_not_foreign(host):
    assert not is_foreign(host)


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "example.com:8082",
        "localhost.example.com:8082",
        "notlocalhost:8082",
        "127.0.0.1.example.com:8082",
        "127.0.0.1.nip.io",
        "127.1:8082",
        "reporter",
        "[::1",
        "[example.com]:8082",
        ":8082",
        "localhost@example.com",
    ],
)
def test_every_other_name_is_foreign(host):
    assert is_foreign(host)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.1.2.3", False),
        ("::ffff:10.1.2.3", False),
        ("fd00::1", False),
        ("fe80::1%eth0", False),
    ],
)
def test_only_loopback_is_reached_by_a_forwarded_port(address, expected):
    assert is_loopback(address) is expected
