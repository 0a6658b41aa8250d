"""
Which proxy a URL is reached through, as Go programs read the environment (httpproxy).

aiohttp's own rules know no CIDR, which is what OpenShift puts into NO_PROXY, and cost more
time per request than the request.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from reporter.kube.wire.errors import ConfigurationError


_DEFAULT_PORTS = {"http": 80, "https": 443}


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """
    The proxy's URL, or None to go directly. Raises ConfigurationError for one we cannot use.
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
    *name* is where it was written, for the error.
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
    """
    Not told in the error: a URL may hold credentials.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port  # only here its number is looked at
    except ValueError as err:
        raise ConfigurationError(f"{name}: this is no URL") from err
    return parts


def is_loopback_host(host: str) -> bool:
    """
    This machine is never reached through a proxy.
    """
    address = _parse_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_excluded(entry: str, host: str, port: int) -> bool:
    """
    Whether an entry of NO_PROXY covers a host: ``*``, an address, a CIDR or a domain suffix.
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
    """
    ``.example.org`` means what is below it, ``example.org`` also the name itself.
    """
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
