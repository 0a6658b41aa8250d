"""Read the names of a command line: what is asked about."""

import re
from collections.abc import Sequence

from reporter.runtime.status.source import EVERYTHING, Target
from reporter.settings import SettingsError
from reporter.settings.parsers import parse_namespace, parse_object_name


CLUSTER = "cluster"
KIND = re.compile(r"[A-Z][A-Za-z0-9]*")


def parse_target(names: Sequence[str], namespace: str = "") -> Target:
    """
    Return the target of ``NS``, ``NS/SET``, ``cluster`` or, with ``-n NS``, ``SET``.

    SET is the name of an InferenceSet, or ``KIND/NAME`` of another subject.

    Raises SettingsError for a text that is no name: it would become part of a path.
    """
    if len(names) > 1:
        raise SettingsError("", f"unexpected argument {names[1]!r}; name one subject, as NS/SET")
    text = names[0] if names else ""
    if not text:
        return Target(_namespace(namespace)) if namespace else EVERYTHING
    first, slash, second = text.partition("/")
    if slash and namespace and KIND.fullmatch(first):
        return Target(_namespace(namespace), _name(text, text))
    if slash:
        if namespace and namespace != first:
            raise SettingsError(
                f"--namespace={namespace}", f"is not that of {text}; leave one of them out"
            )
        return Target(_namespace(first), _name(second, text))
    if namespace:
        return Target(_namespace(namespace), _name(text, text))
    return Target(is_cluster=True) if text == CLUSTER else Target(_namespace(text))


def parse_optional_namespace(text: str) -> str:
    return _namespace(text) if text else ""


def _namespace(text: str) -> str:
    try:
        return parse_namespace(text)
    except ValueError as err:
        raise SettingsError("", f"{text!r} {err}") from err


def _name(text: str, whole: str) -> str:
    kind, slash, name = text.partition("/")
    try:
        if slash and KIND.fullmatch(kind):
            return f"{kind}/{parse_object_name(name)}"
        return parse_object_name(text)
    except ValueError as err:
        raise SettingsError("", f"{whole!r}: the part after the / {err}") from err
