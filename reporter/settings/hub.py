"""The flags of the command ``hub``."""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from reporter.model.enums import Engage
from reporter.settings.flags import HUB_ALONE, FlagGroup, flag
from reporter.settings.parsers import (
    choice_parser,
    integer_parser,
    parse_optional_file,
    seconds_parser,
)


METRIC_LABEL = r"[a-zA-Z_][a-zA-Z0-9_]*"
MAX_CLUSTERS = 100_000
QUERY_PATH = "/api/v1/query"

_hub = partial(flag, FlagGroup.HUB, taken_by=HUB_ALONE)


def parse_query_url(text: str) -> str:
    """
    Return the URL of a query API, without the path of queries; empty for the empty text.

    Raises ValueError for a URL with a user or a query, and for plain HTTP to another machine.
    """
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as err:
        raise ValueError(f"must be a URL: {err}") from err
    if parts.scheme not in {"http", "https"} or not host or port == 0:
        raise ValueError("must be a URL such as https://prometheus.example.com")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must be without a user; use --hub-token-file or --hub-headers-file")
    if parts.query or parts.fragment:
        raise ValueError("must be without a query; tenants go into --hub-headers-file")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ValueError("must be https: only an address of this machine may be http")
    return text.rstrip("/").removesuffix(QUERY_PATH)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def parse_metric_label(text: str) -> str:
    """Return the name of a label of metrics; those that begin with two underscores are refused."""
    if not re.fullmatch(METRIC_LABEL, text) or text.startswith("__"):
        raise ValueError("must be the name of a label of metrics, such as cluster")
    return text


# A class cannot have two bases with slots. Settings, which alone is made, has the methods.
@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class HubSettings:
    """The settings of the hub; ``run`` has no use for them."""

    hub_query_url: str = _hub(
        "",
        parse_query_url,
        "URL of the metrics engine, without /api/v1/query; must be https.",
    )
    hub_interval: timedelta = _hub(
        "30", seconds_parser(least=5), "Time between two rounds of three queries."
    )
    hub_stale: timedelta = _hub(
        "300",
        seconds_parser(least=30),
        "A cluster without a new evaluation for this long is Unknown; see the docs.",
    )
    hub_cluster_label: str = _hub(
        "cluster", parse_metric_label, "Label of series with the name of their cluster."
    )
    hub_engage: Engage = _hub(
        "listed",
        choice_parser(Engage),
        "Answer for the clusters that objects name (listed), or for all (seen).",
    )
    hub_forget: timedelta = _hub(
        str(14 * 24 * 3600),
        seconds_parser(least=3600),
        "A seen cluster that has been silent for this long is left out.",
    )
    hub_max_clusters: int = _hub(
        "12000",
        integer_parser(least=1, most=MAX_CLUSTERS),
        "Refuse answers with more clusters than this.",
    )
    hub_token_file: Path | None = _hub(
        "", parse_optional_file, "File with a bearer token; it is read again for each query."
    )
    hub_ca_file: Path | None = _hub(
        "", parse_optional_file, "File with the CA of the engine; empty: those of the system."
    )
    hub_headers_file: Path | None = _hub(
        "", parse_optional_file, "YAML file with further headers, such as X-Scope-OrgID: tenant."
    )
