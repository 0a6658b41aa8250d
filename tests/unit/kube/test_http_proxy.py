import pytest

from reporter.kube.http_proxy import proxy_for
from reporter.settings.errors import ConfigurationError


PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("url", "excluded"),
    [
        ("https://172.30.0.1", "10.0.0.0/8,172.30.0.0/16,.svc"),
        ("https://[fd00::1]:6443", "fd00::/8"),
        ("https://[fd00::1]:6443", "[fd00::1]"),
        ("https://[fd00::1]:6443", "[fd00::1]:6443"),
        ("https://10.1.2.3:6443", "10.1.2.3"),
        ("https://10.1.2.3:6443", "10.1.2.3:6443"),
        ("https://kubernetes.default.svc", ".svc"),
        ("https://kubernetes.default.svc", "*.svc"),
        ("https://kubernetes.default.svc", "svc"),
        ("https://API.example.org", "example.ORG"),
        ("https://example.org", "example.org:443"),
        ("https://anything", "*"),
        ("https://anything", "other, anything"),
        ("https://localhost:6443", ""),
        ("https://127.0.0.1:6443", ""),
    ],
)
def test_a_host_named_in_no_proxy_is_reached_directly(url, excluded):
    assert proxy_for(url, {"HTTPS_PROXY": PROXY, "NO_PROXY": excluded}) is None


@pytest.mark.parametrize(
    ("url", "excluded"),
    [
        ("https://172.31.0.1", "10.0.0.0/8,172.30.0.0/16,.svc"),
        ("https://10.1.2.3:6443", "10.1.2.3:443"),
        ("https://10.1.2.30", "10.1.2.3"),
        ("https://example.org", ".example.org"),
        ("https://notexample.org", "example.org"),
        ("https://example.org", "not/a/network, ,:"),
    ],
)
def test_any_other_host_is_reached_through_the_proxy(url, excluded):
    assert proxy_for(url, {"HTTPS_PROXY": PROXY, "NO_PROXY": excluded}) == PROXY


def test_each_scheme_has_its_own_variable_and_lower_case_counts():
    environ = {"http_proxy": PROXY, "no_proxy": "skip.me"}
    assert proxy_for("http://api", environ) == PROXY
    assert proxy_for("http://skip.me", environ) is None
    assert proxy_for("https://api", environ) is None


def test_a_proxy_without_a_scheme_is_an_http_proxy():
    assert proxy_for("https://api", {"HTTPS_PROXY": "proxy:3128"}) == PROXY


def test_a_socks_proxy_is_refused_with_what_to_do():
    with pytest.raises(ConfigurationError, match="HTTPS_PROXY: a socks5 proxy is not supported"):
        proxy_for("https://api", {"HTTPS_PROXY": "socks5://proxy:1080"})


@pytest.mark.parametrize("url", ["http://[red", "http://host:port", "http://me:hunter2@[x"])
def test_an_invalid_url_is_refused_and_not_quoted(url):
    for environ in ({"HTTPS_PROXY": url}, {}):
        server = "https://10.0.0.1" if environ else url
        with pytest.raises(ConfigurationError, match="not a valid URL") as refusal:
            proxy_for(server, environ)
        assert "hunter2" not in str(refusal.value)
