"""
Read the configuration of the sidecar from its environment.

Names, defaults, rules and texts are those of the status reporter of openshift-hyperfleet, so that a
Job written for it needs another image and nothing else. The last four variables are our own.
"""

import posixpath
import re
from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct

from reporter.job.result import GO_WHITE_SPACE
from reporter.job.steps import SidecarRules
from reporter.job.variables import DEFAULTS, SIDECAR_CONTAINER
from reporter.settings.parsers import FALSE_TEXTS, TRUE_TEXTS


MAX_SECONDS = (2**63 - 1) // 10**9
"""The longest time.Duration of Go, in seconds."""

AUTO = "auto"


class EnvironmentRefusedError(Exception):
    """
    The refusal of an environment variable that is missing or has an unusable value.

    The text begins with the name of the variable, or of what it sets.
    """


class SidecarSettings(Struct, frozen=True):
    """
    The environment, checked.

    *adapter_container*: empty for the first container that is not the sidecar.
    *own_names*: names that the sidecar's container may have.
    *native*: whether the sidecar is a native one; None: find out from the pod.
    """

    job_name: str
    job_namespace: str
    pod_name: str
    results_path: str
    condition_type: str
    adapter_container: str
    own_names: frozenset[str]
    native: bool | None
    rules: SidecarRules


def load_settings(environ: Mapping[str, str]) -> SidecarSettings:
    """
    Return the settings of the sidecar from its environment variables and their defaults.

    Raises EnvironmentRefusedError for the first variable that is refused.
    """
    # The order decides which of several faults is named.
    job_name = _required(environ, "JOB_NAME")
    job_namespace = _required(environ, "JOB_NAMESPACE")
    pod_name = _required(environ, "POD_NAME")
    poll = _integer(environ, "POLL_INTERVAL_SECONDS")
    max_wait = _integer(environ, "MAX_WAIT_TIME_SECONDS")
    _check_times(poll, max_wait)
    path = _checked_path(_text(environ, "RESULTS_PATH"))
    native = _text(environ, "NATIVE_SIDECAR")
    return SidecarSettings(
        job_name=job_name,
        job_namespace=job_namespace,
        pod_name=pod_name,
        results_path=path,
        condition_type=_text(environ, "CONDITION_TYPE"),
        adapter_container=_text(environ, "ADAPTER_CONTAINER_NAME"),
        own_names=frozenset({SIDECAR_CONTAINER, _text(environ, "CONTAINER_NAME")}),
        native=None if native == AUTO else _boolean(environ, "NATIVE_SIDECAR"),
        rules=SidecarRules(
            timedelta(seconds=poll),
            timedelta(seconds=max_wait),
            rereads_invalid=_boolean(environ, "REREAD_INVALID_RESULT"),
            looks_at_stop=_boolean(environ, "LOOK_ON_SIGTERM"),
        ),
    )


def _text(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip(GO_WHITE_SPACE) or DEFAULTS[name]


def _required(environ: Mapping[str, str], name: str) -> str:
    text = _text(environ, name)
    if not text:
        raise EnvironmentRefusedError(f"{name}: required")
    return text


def _integer(environ: Mapping[str, str], name: str) -> int:
    text = _text(environ, name)
    if re.fullmatch(r"[+-]?[0-9]{1,19}", text) and abs(int(text)) <= MAX_SECONDS:
        return int(text)
    raise EnvironmentRefusedError(f"{name}: must be a valid integer, got: {text}")


def _boolean(environ: Mapping[str, str], name: str) -> bool:
    text = _text(environ, name)
    if text not in TRUE_TEXTS | FALSE_TEXTS:
        also = f" or {AUTO}" if DEFAULTS[name] == AUTO else ""
        raise EnvironmentRefusedError(f"{name}: must be true or false{also}, got: {text}")
    return text in TRUE_TEXTS


def _check_times(poll: int, max_wait: int) -> None:
    if poll <= 0:
        raise EnvironmentRefusedError("PollIntervalSeconds: must be positive")
    if max_wait <= 0:
        raise EnvironmentRefusedError("MaxWaitTimeSeconds: must be positive")
    if poll >= max_wait:
        raise EnvironmentRefusedError("PollIntervalSeconds: must be less than MaxWaitTimeSeconds")


def _checked_path(path: str) -> str:
    """Return the path without its redundant parts."""
    if path.endswith("/"):
        raise EnvironmentRefusedError("ResultsPath: path must be a file, not a directory")
    if not path.startswith("/"):
        raise EnvironmentRefusedError("ResultsPath: path must be absolute")
    return "/" + posixpath.normpath(path).lstrip("/")
