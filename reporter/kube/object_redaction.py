"""
Remove from an API object what nobody should hand on: secrets, and the values of environment variables.

What names them stays, and so does every other field: a reader of the dump may evaluate any of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from reporter.kube.decoding import Json
from reporter.model.redact import REMOVED, redact


SECRET = ("v1", "Secret")
SECRET_FIELDS = frozenset({"data", "stringData"})

ENVIRONMENT = frozenset({"env", "environmentVariables", "env_vars", "envVars", "proxyMetadata"})
"""Fields with environment variables: a list of names and values, or a mapping (Istio's MeshConfig)."""

OPAQUE = frozenset({"runtimeEnvYAML", "userData"})
"""Texts with variables in them: Ray's environment of a job, and the start script of a node."""

NAMING = frozenset({"labels", "annotations", "matchLabels", "selector", "nodeSelector"})
"""Fields whose keys are names that others refer to, so a key says nothing about its value."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Repeats the whole object, environment variables among it."""

LEAST_SECRET = 3
"""Characters of the shortest text that is removed for its name."""

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)
_MAY_BE_SECRET = re.compile(
    r"://|eyJ|sk-|AKIA|gh[pousr]_|xox|pass|pwd|secret|token|key|credential|signature|auth|sig"
    r"|bearer|basic",
    re.IGNORECASE,
)
"""Found in every text that `redact` changes, and in few others: most texts need no closer look."""


def without_secrets(content: Json) -> Json:
    """
    Return the object without secrets and values of environment variables; REMOVED stands for them.

    Without who manages which field, too: that has no value, and is half of an object.
    """
    hidden = SECRET_FIELDS if (content.get("apiVersion"), content.get("kind")) == SECRET else ()
    return {
        name: _removed(value) if name in hidden else _cleaned(name, value)
        for name, value in {**content, "metadata": _metadata(content.get("metadata"))}.items()
    }


def _metadata(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    kept = {name: each for name, each in value.items() if name != "managedFields"}
    annotations = kept.get("annotations")
    if isinstance(annotations, Mapping):
        kept["annotations"] = {n: each for n, each in annotations.items() if n != LAST_APPLIED}
    return kept


def _cleaned(key: str, value: Any) -> Any:
    """Return the value of a field; *key* is empty for one whose name says nothing about its value."""
    if key in ENVIRONMENT and isinstance(value, Mapping | list):
        return _without_values(value)
    if key in OPAQUE and isinstance(value, str):
        return REMOVED
    match value:
        case str():
            return _text(key, value)
        case dict():
            return dict(_fields(key, value))
        case list():
            return list(_items(value))
        case _:
            return value


def _fields(key: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a mapping. That of a header has a name of its own, and a value."""
    name = value.get("name")
    for field, each in value.items():
        says = name if field == "value" and isinstance(name, str) else field
        yield field, _cleaned("" if key in NAMING else says, each)


def _text(key: str, value: str) -> str:
    if len(value) >= LEAST_SECRET and _names_secret(key):
        return REMOVED
    if not _MAY_BE_SECRET.search(value):
        return value
    return "\n".join(map(redact, _PEM.sub(REMOVED, value).split("\n")))


@cache
def _names_secret(name: str) -> bool:
    """Return whether a field of this name has a secret as its value, by the rules for texts."""
    return redact(f"{name}=value") == f"{name}={REMOVED}"


def _items(values: Sequence[Any]) -> Iterator[Any]:
    """Yield the items of a list; in the arguments of a program a secret follows its flag."""
    before: object = None
    for each in values:
        follows_flag = isinstance(before, str) and before.startswith("-") and "=" not in before
        is_value = isinstance(each, str) and not each.startswith("-")
        flag = str(before).lstrip("-") if follows_flag and is_value else ""
        yield _text(flag, each) if isinstance(each, str) else _cleaned("", each)
        before = each


def _without_values(value: Any) -> Any:
    """Return environment variables with their names, and where their values come from."""
    if isinstance(value, Mapping):
        return _removed(value)
    return [
        {n: REMOVED if n == "value" else _cleaned(n, v) for n, v in each.items()}
        if isinstance(each, Mapping)
        else REMOVED
        for each in value
    ]


def _removed(value: Any) -> Any:
    """Return the keys of a mapping without its values; nothing of any other value."""
    return dict.fromkeys(value, REMOVED) if isinstance(value, Mapping) else REMOVED
