"""Addresses that are scraped, and those that never are."""

import pytest

from reporter.scrape.fetcher import format_url_host, is_pod_address


@pytest.mark.parametrize(
    "address",
    [
        "10.244.0.7",
        "172.16.3.4",
        "192.168.7.1",
        "100.64.0.9",
        "240.3.0.8",
        "8.8.8.8",
        "fd00:10:244::7",
        "2001:4860::7",
        "::ffff:10.0.0.1",
    ],
)
def test_an_address_that_pods_have_is_read(address):
    assert is_pod_address(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"),
        *("169.254.169.254", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254"),
        *("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"),
        *("0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "ff02::1", "255.255.255.255"),
        *("2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b::7f00:1"),
        *("", "localhost", "10.0.0", "10.0.0.1:80", "0x7f.1", "2130706433", "010.0.0.1"),
        "example.org",
    ],
)
def test_no_other_address_is_read(address):
    assert not is_pod_address(address)


def test_an_address_of_version_six_is_bracketed_in_a_url():
    assert (format_url_host("fd00::7"), format_url_host("10.0.0.1")) == ("[fd00::7]", "10.0.0.1")
