"""Read from a command line what is asked about, and whom to ask."""

import re
from collections.abc import Collection, Sequence
from enum import Enum, unique
from typing import NamedTuple
from urllib.parse import urlsplit

from reporter.settings import Arguments, SettingsError
from reporter.settings.parsers import parse_namespace, parse_object_name
from reporter.status.source import EVERYTHING, Target


# --------------------------------------------------------------------
# Read the names of a command line: what is asked about.


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
    """Return the text if it is the name of a namespace, or empty. Raises SettingsError otherwise."""
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


# --------------------------------------------------------------------
# Read ``--from``: where the status comes from, and which flags have no effect there.


FILE = "file:"
HUB = "hub"
URL_SCHEMES = ("http://", "https://")
KUBECONFIG = "kubeconfig"
ACCESS_FLAGS = ("context", "reporter-namespace", "as")
"""Flags of the commands that lead to a cluster, as --kubeconfig does."""

TOKEN_FLAGS = ("context", KUBECONFIG)
"""Those that choose a token as well, for a URL that asks for one."""


@unique
class SourceKind(Enum):
    """
    The kinds of sources. AUTO: the reporter, else the cluster. HUB: what answers for many clusters.
    """

    AUTO = "auto"
    REPORTER = "reporter"
    CLUSTER = "cluster"
    FILE = "file"
    URL = "URL"
    HUB = "hub"


NAMED_KINDS = {
    each.value: each
    for each in (SourceKind.AUTO, SourceKind.REPORTER, SourceKind.CLUSTER, SourceKind.HUB)
}


class SourceFlag(NamedTuple):
    """The source that ``--from`` names. *text*: the path or the URL, if it has one."""

    kind: SourceKind
    text: str = ""

    @property
    def is_dump(self) -> bool:
        """True for ``file:PATH``: nothing is asked through a network, and nothing changes."""
        return self.kind is SourceKind.FILE

    @property
    def is_outside(self) -> bool:
        """True for a dump and for a URL, of a hub as well: they are reached without the API server."""
        return bool(self.text)


def asks_hub(arguments: Arguments) -> bool:
    """Return whether ``--from`` is ``hub`` or begins with ``hub:``; the URL after it is not checked."""
    return arguments.values["from"].partition(":")[0] == HUB


def parse_source_flag(arguments: Arguments, *, used: Collection[str] = ()) -> SourceFlag:
    """
    Return where to ask. Raises SettingsError for what is no source, and for flags without effect there.

    *used*: flags of ``run`` that the command itself uses, wherever the status comes from.
    """
    flag = _parse(arguments.values["from"])
    text = f"--from={arguments.values['from']}"
    if arguments.values.get("at") and not flag.is_dump:
        raise SettingsError("--at", "applies to dumps alone: --from=file:PATH")
    given = arguments.settings.keys() - {*used}
    if flag.is_outside:
        leading = [name for name in ACCESS_FLAGS if arguments.values.get(name)]
        for name in (*leading, *given & {KUBECONFIG}):
            if name in TOKEN_FLAGS and not flag.is_dump:
                continue
            raise SettingsError(
                f"--{name}",
                f"leads to a cluster, which {text} does not read; leave one of them out",
            )
    if flag.kind in {SourceKind.REPORTER, SourceKind.URL, SourceKind.HUB}:
        for name in sorted(given - {KUBECONFIG}):
            raise SettingsError(
                f"--{name}",
                f"shapes what this program evaluates, and with {text} a reporter evaluates with flags"
                " of its own; leave it out, or use --from=cluster",
            )
    return flag


def _parse(text: str) -> SourceFlag:
    if text.startswith(FILE):
        path = text.removeprefix(FILE)
        if not path:
            raise SettingsError(f"--from={FILE}", "names no file, as file:dump.yaml does")
        return SourceFlag(SourceKind.FILE, path)
    if text.startswith(URL_SCHEMES):
        return SourceFlag(SourceKind.URL, _parse_url(text, f"--from={text}"))
    if text.startswith(f"{HUB}:"):
        return SourceFlag(SourceKind.HUB, _parse_hub_url(text))
    if text not in NAMED_KINDS:
        raise SettingsError(
            f"--from={text}",
            "must be auto, reporter, cluster, file:PATH, or a URL; of status also hub, or hub:URL",
        )
    return SourceFlag(NAMED_KINDS[text])


def _parse_hub_url(text: str) -> str:
    url = text.partition(":")[2]
    if not url.startswith(URL_SCHEMES):
        raise SettingsError(f"--from={text}", "must be hub, or hub: and the URL of a hub")
    return _parse_url(url, f"--from={text}")


def _parse_url(text: str, given: str) -> str:
    """Return the address alone. Raises SettingsError for what nothing could be asked at."""
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0
        usable &= parts.username is None and not parts.query and not parts.fragment
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError(given, "must be an address such as http://127.0.0.1:8082, and no more")
    return text
