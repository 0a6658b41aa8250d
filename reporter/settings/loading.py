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
from reporter.settings.arguments import Given, given, slips
from reporter.settings.errors import SettingsError
from reporter.settings.flags import FLAGS, Flag
from reporter.settings.settings import Settings
from reporter.settings.values import optional_namespace, optional_object_name


NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
JITTER = 1.2
"""
How many retry periods must fit into the renew deadline (client-go, leaderelection.JitterFactor).
"""

FREQUENT = timedelta(seconds=60)
LOGGING = ("log-format", "zap-log-level", "zap-encoder", "zap-devel")
NEITHER = ("zap-stacktrace-level", "zap-time-encoding")


def load(
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
    found = given(argv, environ)
    texts = {
        flag.name: found[flag.name].text if flag.name in found else flag.default for flag in FLAGS
    }
    values = {flag.name: _value(flag, found.get(flag.name)) for flag in FLAGS}
    _check_election(values, found)
    _check_addresses(values, found)
    halves = _complete(values, texts)
    notes = (*halves, *_notes(values), *slips(environ))
    format_, level = zap.settled(values, frozenset(found))
    plain = {f.attribute: values[f.name] for f in FLAGS if f.name not in LOGGING + NEITHER}
    return Settings(
        **plain,
        log_format=format_,
        log_level=level,
        instance=environ.get("POD_NAME") or hostname or socket.gethostname(),
        lease_namespace=_lease_namespace(environ, namespace_file) or values["release-namespace"],
        deployment=_deployment(environ),
        flags=MappingProxyType(texts),
        given=frozenset(found),
        notes=notes,
    )


def _value(flag: Flag, found: Given | None) -> Any:
    if found is None:
        return flag.read(flag.default)
    try:
        return flag.read(found.text)
    except ValueError as err:
        raise SettingsError(f"{found.origin}={found.text}", str(err)) from err


def _lease_namespace(environ: Mapping[str, str], file: Path) -> str:
    """
    That of the pod, as it is told or as its ServiceAccount's files say; empty outside of one.
    """
    told = environ.get("POD_NAMESPACE", "")
    try:
        return optional_namespace(told or file.read_text("utf-8").strip())
    except OSError:
        return ""
    except ValueError as err:
        raise SettingsError(f"POD_NAMESPACE={told}" if told else str(file), str(err)) from err


def _deployment(environ: Mapping[str, str]) -> str:
    told = environ.get("DEPLOYMENT_NAME", "")
    try:
        return optional_object_name(told)
    except ValueError as err:
        raise SettingsError(f"DEPLOYMENT_NAME={told}", str(err)) from err


def _check_election(values: Mapping[str, Any], found: Mapping[str, Given]) -> None:
    names = ("lease-duration-seconds", "renew-deadline-seconds", "retry-period-seconds")
    lease, renew, retry = (values[name] for name in names)
    if lease <= renew:
        text = (
            f"must be longer than --renew-deadline-seconds={renew.total_seconds():g}:"
            " a leader must give up before others take over"
        )
        raise SettingsError(_as_given(names[0], lease, found), text)
    if renew <= JITTER * retry:
        text = (
            f"must be longer than {JITTER} times --retry-period-seconds={retry.total_seconds():g}:"
            " one failed try must not cost the lead"
        )
        raise SettingsError(_as_given(names[1], renew, found), text)


def _as_given(name: str, value: timedelta, found: Mapping[str, Given]) -> str:
    origin = found[name].origin if name in found else f"--{name}"
    return f"{origin}={value.total_seconds():g}"


def _check_addresses(values: Mapping[str, Any], found: Mapping[str, Given]) -> None:
    metrics = values["metrics-bind-address"]
    for name in ("health-probe-bind-address", "status-bind-address"):
        if metrics is not None and metrics == values[name] and metrics.port:
            origin = found[name].origin if name in found else f"--{name}"
            text = "is that of --metrics-bind-address as well; give them different ports"
            raise SettingsError(f"{origin}={metrics}", text)


def _complete(values: dict[str, Any], texts: dict[str, str]) -> tuple[str, ...]:
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


def _notes(values: Mapping[str, Any]) -> Iterator[str]:
    heartbeat = values["heartbeat-seconds"]
    if heartbeat < FREQUENT:
        yield (
            f"--heartbeat-seconds={heartbeat.total_seconds():g} writes each Event more than once"
            " a minute; 60 or more spares the API server"
        )
