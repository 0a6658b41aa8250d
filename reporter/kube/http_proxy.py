"""
Choose the proxy for a URL from the environment, by the rules of golang.org/x/net/http/httpproxy.

aiohttp does not support CIDRs in NO_PROXY, which OpenShift uses, and reading the environment takes
it more time than a request.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from reporter.settings.errors import ConfigurationError


_DEFAULT_PORTS = {"http": 80, "https": 443}


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """
    Return the URL of the proxy, or None for a direct connection.

    Raises ConfigurationError for a proxy that is not supported.
    """
    parts = _parse_url(url, "server")
    name = f"{parts.scheme.upper()}_PROXY"
    proxy = environ.get(name) or environ.get(name.lower()) or ""
    excluded = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    host = (parts.hostname or "").lower().rstrip(".")
    if not proxy or not host or is_loopback_host(host):
        return None
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    if any(_is_excluded(entry.strip().lower(), host, port) for entry in excluded.split(",")):
        return None
    return validate_proxy(proxy, name)


def validate_proxy(proxy: str, name: str) -> str:
    """
    Return the URL of the proxy with a scheme. *name* is the setting that errors name.

    Raises ConfigurationError for a scheme other than http and https, and for an invalid URL.
    """
    url = proxy if "://" in proxy else f"http://{proxy}"
    scheme = _parse_url(url, name).scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise ConfigurationError(
            f"{name}: a {scheme} proxy is not supported; name an http or https proxy, "
            "or list the API server in NO_PROXY"
        )
    return url


def _parse_url(url: str, name: str) -> SplitResult:
    """Raises ConfigurationError without the URL, which may contain credentials."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # urlsplit checks the number only when it is read
    except ValueError as err:
        raise ConfigurationError(f"{name}: not a valid URL") from err
    return parts


def is_loopback_host(host: str) -> bool:
    """Return whether the host is this machine, which is never reached through a proxy."""
    address = _parse_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_excluded(entry: str, host: str, port: int) -> bool:
    """
    Match an entry of NO_PROXY: ``*``, an address, a CIDR or a domain, with or without a port.
    """
    if not entry:
        return False
    if entry == "*":
        return True
    address = _parse_address(host)
    if "/" in entry:
        return address is not None and _is_in_network(entry, address)
    name, wanted = _split_port(entry)
    if wanted is not None and wanted != port:
        return False
    if address is not None or _parse_address(name) is not None:
        return address is not None and address == _parse_address(name)
    return _is_in_domain(host, name.removeprefix("*"))


def _is_in_domain(host: str, domain: str) -> bool:
    """Match ``.example.org`` with its subdomains, ``example.org`` also with the name itself."""
    if domain.startswith("."):
        return host.endswith(domain)
    return host == domain or host.endswith(f".{domain}")


def _split_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, int(rest[1:]) if rest[1:].isdecimal() else None
    name, colon, text = entry.rpartition(":")
    if colon and ":" not in name and text.isdecimal():
        return name, int(text)
    return entry, None


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None


def _is_in_network(network: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
