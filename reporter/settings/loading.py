"""Load the settings from arguments and environment, and check that they agree."""

import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reporter.model.times import format_seconds
from reporter.settings import components_file
from reporter.settings.arguments import FlagInput, find_misspelled_variables, read_flag_inputs
from reporter.settings.effective import ResolvedFlagValues
from reporter.settings.enums import StoreBackend
from reporter.settings.errors import SettingsError
from reporter.settings.logging import resolve_logging
from reporter.settings.parsers import parse_optional_namespace, parse_optional_object_name
from reporter.settings.settings import FLAG_NAMES, FLAGS, Settings


IN_CLUSTER_VARIABLE = "KUBERNETES_SERVICE_HOST"
"""The kubelet sets it in every container."""

NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
UNKNOWN_VALUES_VARIABLE = "UNKNOWN_CHART_VALUES"
"""
Set by the chart: the notes of a subchart are not shown, so the log has to name its unknown values.
"""

JITTER_FACTOR = 1.2
"""
Number of retry periods that must fit into the renew deadline (client-go, leaderelection.JitterFactor).
"""


def load_settings(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    taken: Collection[str] = FLAG_NAMES,
    hostname: str = "",
    namespace_file: Path = NAMESPACE_FILE,
) -> Settings:
    """
    Return the settings. Raise SettingsError with the flag or variable that is wrong, and what to do.

    *taken*: the names of the flags that may be arguments. *hostname*: that of the machine if empty.
    *namespace_file*: holds the namespace of a pod.
    """
    inputs = read_flag_inputs(argv, environ, taken)
    if components_file.FLAG in inputs and inputs[components_file.FLAG].text:
        path = Path(inputs[components_file.FLAG].text)
        inputs = {**components_file.read_components_file(path), **inputs}
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for flag in FLAGS:
        given = inputs.get(flag.name) or FlagInput(flag.default, f"--{flag.name}")
        value = values[flag.settings_field] = flag.read(given.text, given.origin)
        has_units = isinstance(value, timedelta) and given.text[-1:].isalpha()
        texts[flag.name] = format_seconds(value) if has_units else given.text
    notes = tuple(ResolvedFlagValues(values, texts).fill_in())
    values["log_format"], level = resolve_logging(values, inputs.keys())
    settings = Settings(
        **values,
        log_level=level,
        instance=environ.get("POD_NAME") or hostname or socket.gethostname(),
        lease_namespace=_pod_namespace(environ, namespace_file) or values["release_namespace"],
        deployment_name=_deployment_name(environ),
        flag_texts=MappingProxyType(texts),
        given_flags=frozenset(inputs),
        notes=(*notes, *_chart_notes(environ), *find_misspelled_variables(environ)),
    )
    _check_election(settings, inputs)
    _check_addresses(settings, inputs)
    return _without_writes(settings) if settings.dry_run else settings


def _without_writes(settings: Settings) -> Settings:
    """Switch off whatever writes to the cluster. The Events are printed instead."""
    return replace(
        settings,
        leader_elect=False,
        status_objects=False,
        mirror_events=False,
        store=StoreBackend.NONE,
    )


def _pod_namespace(environ: Mapping[str, str], file: Path) -> str:
    """
    Return the namespace of the pod, by POD_NAMESPACE or its ServiceAccount; empty outside of one.
    """
    given = environ.get("POD_NAMESPACE", "")
    try:
        return parse_optional_namespace(given or file.read_text("utf-8").strip())
    except OSError:
        return ""
    except ValueError as err:
        raise SettingsError(f"POD_NAMESPACE={given}" if given else str(file), str(err)) from err


def _deployment_name(environ: Mapping[str, str]) -> str:
    given = environ.get("DEPLOYMENT_NAME", "")
    try:
        return parse_optional_object_name(given)
    except ValueError as err:
        raise SettingsError(f"DEPLOYMENT_NAME={given}", str(err)) from err


def _check_election(settings: Settings, inputs: Mapping[str, FlagInput]) -> None:
    lease, renew = settings.lease_duration, settings.renew_deadline
    retry = settings.retry_period
    if lease <= renew:
        text = (
            f"must be longer than --renew-deadline-seconds={renew.total_seconds():g}:"
            " a leader must give up before others take over"
        )
        raise SettingsError(_describe_input("lease-duration-seconds", lease, inputs), text)
    if renew <= JITTER_FACTOR * retry:
        text = (
            f"must be longer than {JITTER_FACTOR} times --retry-period-seconds={retry.total_seconds():g}:"
            " one failed attempt must not cost the leadership"
        )
        raise SettingsError(_describe_input("renew-deadline-seconds", renew, inputs), text)


def _describe_input(name: str, value: timedelta, inputs: Mapping[str, FlagInput]) -> str:
    return f"{_origin(name, inputs)}={value.total_seconds():g}"


def _origin(name: str, inputs: Mapping[str, FlagInput]) -> str:
    return inputs[name].origin if name in inputs else f"--{name}"


def _check_addresses(settings: Settings, inputs: Mapping[str, FlagInput]) -> None:
    metrics = settings.metrics_bind_address
    others = {
        "health-probe-bind-address": settings.health_probe_bind_address,
        "status-bind-address": settings.status_bind_address,
    }
    for name, address in others.items():
        if metrics is not None and metrics == address and metrics.port:
            text = "is that of --metrics-bind-address as well; give them different ports"
            raise SettingsError(f"{_origin(name, inputs)}={metrics}", text)


def _chart_notes(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each value that the chart was given and does not have."""
    for name in environ.get(UNKNOWN_VALUES_VARIABLE, "").split():
        yield f"the chart has no value {name}, so it has no effect; see the README of the chart"
