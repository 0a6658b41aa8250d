"""
Remove from an API object what nobody should hand on: secrets, and the values of environment variables.

What names them stays, and so does every other field: a reader of the dump may evaluate any of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import yaml

from reporter.kube.decoding import Json
from reporter.model.redact import REMOVED, redact
from reporter.model.yaml_nesting import LOADER, check_nesting


SECRET = ("v1", "Secret")
SECRET_FIELDS = frozenset({"data", "stringData"})

ENVIRONMENT = frozenset({"env", "environmentVariables", "env_vars", "envVars", "proxyMetadata"})
"""Fields with environment variables: a list of names and values, or a mapping (Istio's MeshConfig)."""

OPAQUE = frozenset({"runtimeEnvYAML", "serveConfigV2", "userData"})
"""Texts with variables in them: Ray's environments of jobs and services, and the start script of a node."""

NAMES = frozenset({"labels", "matchLabels", "selector", "nodeSelector"})
"""Fields whose keys are names that others refer to, so a key says nothing about its value."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
DROPPED = frozenset(
    {
        "managedFields",
        LAST_APPLIED,
        "banzaicloud.com/last-applied",
        "kapp.k14s.io/original",
        "kopf.zalando.org/last-handled-configuration",
        "objectset.rio.cattle.io/applied",
    }
)
"""The managers of fields, which are half of an object; and annotations that repeat the whole object."""

LEAST_SECRET = 3
"""Characters of the shortest text that is removed because of the name of its field."""

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)
_MAY_BE_SECRET = re.compile(
    r"://|eyJ|sk-|AKIA|gh[pousr]_|xox|pass|pwd|secret|token|key|credential|signature|auth|sig"
    r"|bearer|basic|env|proxyMetadata",
    re.IGNORECASE,
)
"""Found in every text that is changed, and in few others: most texts need no closer look."""

_VARIABLES = re.compile(
    rf"(?:^|[{{,])[ \t]*(?:- +)*[\"']?(?:{'|'.join(sorted(ENVIRONMENT))})[\"']?[ \t]*:[ \t]*"
    r"(?:\r?$|[\[{|>&!#])",
    re.MULTILINE,
)
"""The beginning of environment variables in YAML."""

_ARGUMENT = (
    r"""\\+[\"'][^\"'\\]*\\*[\"']?|\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'[^']*(?:'|\Z)"""
    r"""|[^\s\-;&|<>\\\"'][^\s;&|<>\"']*"""
)
_SPACE = r"(?:[ \t]|\\\n)+"
_FLAG = re.compile(
    rf"(?<![\w-])(--?[A-Za-z][\w.-]*)({_SPACE})((?:{_ARGUMENT})(?:{_SPACE}(?:{_ARGUMENT}))*)"
)
"""A flag in a command line, with all arguments up to the next one or the end of the command."""


def without_secrets(content: Json) -> Json:
    """
    Return the object without secrets and values of environment variables; REMOVED stands for them.

    The managers of fields and annotations that repeat the object are left out.
    """
    hidden = SECRET_FIELDS if (content.get("apiVersion"), content.get("kind")) == SECRET else ()
    return {name: _removed(value) if name in hidden else value for name, value in _fields(content)}


def without_secrets_in(text: str) -> str:
    """
    Return a text without secrets. One that is JSON, or YAML with variables, is read as an object.

    If such YAML cannot be read, REMOVED replaces the whole text.
    """
    if not _MAY_BE_SECRET.search(text):
        return text
    try:
        rewritten = _rewritten(text)
    except (
        yaml.YAMLError,
        ArithmeticError,
        LookupError,
        AttributeError,
        TypeError,
        ValueError,
        RecursionError,
    ):
        # PyYAML raises some of them itself for a text that has an explicit tag, as `!!bool x`.
        return REMOVED
    if rewritten is not None:
        return rewritten
    without_arguments = _FLAG.sub(_without_argument, text)
    return "\n".join(map(redact, _PEM.sub(REMOVED, without_arguments).split("\n")))


def _cleaned(field: str, value: Any, *, is_secret: bool = False) -> Any:
    """Return the value of a field. *is_secret*: a name says so, of a text, or of the texts in a list."""
    if field in ENVIRONMENT and isinstance(value, Mapping | list):
        return _without_values(value)
    match value:
        case bool() | None:
            return value
        case dict():
            return dict(_fields(value, is_secret=is_secret, are_names=field in NAMES))
        case list():
            return list(_items(value, is_secret=is_secret))
        case _ if field in OPAQUE or (is_secret and len(str(value)) >= LEAST_SECRET):
            return REMOVED
        case str():
            return without_secrets_in(value)
        case _:
            return value


def _fields(
    value: Mapping[str, Any], *, is_secret: bool = False, are_names: bool = False
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a mapping. That of a header has a name of its own, and a value."""
    name = value.get("name") or value.get("key")
    is_value_secret = is_secret or (isinstance(name, str) and _names_secret(name))
    for field, each in value.items():
        if field not in DROPPED:
            says = not are_names and _names_secret(str(field))
            hides = says or (field == "value" and is_value_secret)
            yield field, _cleaned(field, each, is_secret=hides)


def _items(values: Sequence[Any], *, is_secret: bool) -> Iterator[Any]:
    """Yield the items of a list; in the arguments of a program secrets follow their flag."""
    follows = False
    for each in values:
        is_flag = isinstance(each, str) and each.startswith("-")
        if is_flag:
            follows = "=" not in each and _names_secret(each.lstrip("-"))
        yield _cleaned("", each, is_secret=is_secret or (follows and not is_flag))


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


@lru_cache(maxsize=4096)
def _names_secret(name: str) -> bool:
    """Return whether a field of this name has a secret as its value, by the rules for texts."""
    return redact(f"{name}=value") == f"{name}={REMOVED}"


# --------------------------------------------------------------------
# Texts.


def _without_argument(found: re.Match[str]) -> str:
    flag, space, arguments = found.groups()
    if _names_secret(flag.lstrip("-")):
        return f"{flag}{space}{REMOVED}"
    # The argument of sh -c is a command line, too.
    return f"{flag}{space}{_FLAG.sub(_without_argument, arguments)}"


def _rewritten(text: str) -> str | None:
    """
    Return a text that is an object, without its secrets; None for one without any, and for other texts.

    Raises YAMLError or ValueError for one with variables that cannot be read.
    """
    content = _read_json(text) if text.startswith(("{", "[")) else None
    if content is not None:
        cleaned = _cleaned("", content)
        return msgspec.json.encode(cleaned).decode() if cleaned != content else None
    if not _VARIABLES.search(text):
        return None
    content = _read_yaml(text)
    cleaned = _cleaned("", content)
    if cleaned == content:
        return None
    found: str = yaml.safe_dump(cleaned, sort_keys=False, allow_unicode=True, width=10_000)
    return found


def _read_json(text: str) -> Any:
    """Return what a text says; None for one that is not JSON."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _read_yaml(text: str) -> Any:
    """Return what a text says. Raises YAMLError or ValueError, also for aliases, which multiply."""
    check_nesting(text)
    if any(isinstance(each, yaml.AliasEvent) for each in yaml.parse(text, Loader=LOADER)):
        raise ValueError
    return yaml.load(text, Loader=LOADER)  # noqa: S506
