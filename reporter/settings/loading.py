"""
Arguments and environment to settings that hold together.
"""

import socket
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reporter.settings import zap
from reporter.settings.arguments import FlagInput, find_misspelled_variables, read_flag_inputs
from reporter.settings.errors import SettingsError
from reporter.settings.flags import FLAGS, Flag
from reporter.settings.parsers import parse_optional_namespace, parse_optional_object_name
from reporter.settings.settings import Settings


NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
JITTER_FACTOR = 1.2
"""
How many retry periods must fit into the renew deadline (client-go, leaderelection.JitterFactor).
"""

FREQUENT_HEARTBEAT = timedelta(seconds=60)
LOGGING_FLAGS = ("log-format", "zap-log-level", "zap-encoder", "zap-devel")
IGNORED_FLAGS = ("zap-stacktrace-level", "zap-time-encoding")


def load_settings(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    hostname: str = "",
    namespace_file: Path = NAMESPACE_FILE,
) -> Settings:
    """
    Raise SettingsError with the flag or variable that is wrong, and what to do.

    *hostname*: that of the machine where none is given. *namespace_file*: tells a pod's namespace.
    """
    found = read_flag_inputs(argv, environ)
    texts = {
        flag.name: found[flag.name].text if flag.name in found else flag.default for flag in FLAGS
    }
    values = {flag.name: _parse_value(flag, found.get(flag.name)) for flag in FLAGS}
    _check_election(values, found)
    _check_addresses(values, found)
    halves = _fill_in_defaults(values, texts)
    notes = (*halves, *_configuration_notes(values), *find_misspelled_variables(environ))
    format_, level = zap.resolve_logging(values, frozenset(found))
    plain = {
        f.settings_field: values[f.name]
        for f in FLAGS
        if f.name not in LOGGING_FLAGS + IGNORED_FLAGS
    }
    return Settings(
        **plain,
        log_format=format_,
        log_level=level,
        instance=environ.get("POD_NAME") or hostname or socket.gethostname(),
        lease_namespace=_lease_namespace(environ, namespace_file) or values["release-namespace"],
        deployment_name=_deployment_name(environ),
        flag_texts=MappingProxyType(texts),
        given_flags=frozenset(found),
        notes=notes,
    )


def _parse_value(flag: Flag, found: FlagInput | None) -> Any:
    if found is None:
        return flag.parse(flag.default)
    try:
        return flag.parse(found.text)
    except ValueError as err:
        raise SettingsError(f"{found.origin}={found.text}", str(err)) from err


def _lease_namespace(environ: Mapping[str, str], file: Path) -> str:
    """
    That of the pod, as it is told or as its ServiceAccount's files say; empty outside of one.
    """
    told = environ.get("POD_NAMESPACE", "")
    try:
        return parse_optional_namespace(told or file.read_text("utf-8").strip())
    except OSError:
        return ""
    except ValueError as err:
        raise SettingsError(f"POD_NAMESPACE={told}" if told else str(file), str(err)) from err


def _deployment_name(environ: Mapping[str, str]) -> str:
    told = environ.get("DEPLOYMENT_NAME", "")
    try:
        return parse_optional_object_name(told)
    except ValueError as err:
        raise SettingsError(f"DEPLOYMENT_NAME={told}", str(err)) from err


def _check_election(values: Mapping[str, Any], found: Mapping[str, FlagInput]) -> None:
    names = ("lease-duration-seconds", "renew-deadline-seconds", "retry-period-seconds")
    lease, renew, retry = (values[name] for name in names)
    if lease <= renew:
        text = (
            f"must be longer than --renew-deadline-seconds={renew.total_seconds():g}:"
            " a leader must give up before others take over"
        )
        raise SettingsError(_describe_input(names[0], lease, found), text)
    if renew <= JITTER_FACTOR * retry:
        text = (
            f"must be longer than {JITTER_FACTOR} times --retry-period-seconds={retry.total_seconds():g}:"
            " one failed try must not cost the lead"
        )
        raise SettingsError(_describe_input(names[1], renew, found), text)


def _describe_input(name: str, value: timedelta, found: Mapping[str, FlagInput]) -> str:
    origin = found[name].origin if name in found else f"--{name}"
    return f"{origin}={value.total_seconds():g}"


def _check_addresses(values: Mapping[str, Any], found: Mapping[str, FlagInput]) -> None:
    metrics = values["metrics-bind-address"]
    for name in ("health-probe-bind-address", "status-bind-address"):
        if metrics is not None and metrics == values[name] and metrics.port:
            origin = found[name].origin if name in found else f"--{name}"
            text = "is that of --metrics-bind-address as well; give them different ports"
            raise SettingsError(f"{origin}={metrics}", text)


def _fill_in_defaults(values: dict[str, Any], texts: dict[str, str]) -> tuple[str, ...]:
    """
    Fill in what an empty flag stands for, and tell of what is given by halves.
    """
    if not texts["status-bind-address"]:
        values["status-bind-address"] = values["health-probe-bind-address"]
    if not values["azure-authz-namespace"]:
        auth = values["gateway-auth-namespace"]
        values["azure-authz-namespace"] = texts["azure-authz-namespace"] = auth
    name, namespace = "node-provisioner-name", "node-provisioner-namespace"
    if bool(values[name]) == bool(values[namespace]):
        return ()
    there, missing = (name, namespace) if values[name] else (namespace, name)
    values[name] = texts[name] = ""
    why = "the node provisioner is not checked; set both"
    return (f"--{there} is set and --{missing} is empty: {why}",)


def _configuration_notes(values: Mapping[str, Any]) -> Iterator[str]:
    heartbeat = values["heartbeat-seconds"]
    if heartbeat < FREQUENT_HEARTBEAT:
        yield (
            f"--heartbeat-seconds={heartbeat.total_seconds():g} writes each Event more than once"
            " a minute; 60 or more spares the API server"
        )
