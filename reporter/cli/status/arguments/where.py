"""
Read ``--from``: where the status comes from, and which flags have no effect there.
"""

from collections.abc import Collection
from enum import Enum, unique
from typing import NamedTuple
from urllib.parse import urlsplit

from reporter.cli.status.arguments.parser import Arguments
from reporter.settings import SettingsError


FILE = "file:"
HUB = "hub"
URL_SCHEMES = ("http://", "https://")
KUBECONFIG = "kubeconfig"
ACCESS_FLAGS = ("context", "reporter-namespace")
"""
Flags of the commands that lead to a cluster, as --kubeconfig does.
"""


@unique
class Way(Enum):
    """
    The kinds of sources. AUTO: the reporter, else the cluster. HUB: what answers for many clusters.
    """

    AUTO = "auto"
    REPORTER = "reporter"
    CLUSTER = "cluster"
    FILE = "file"
    URL = "URL"
    HUB = "hub"


NAMED_WAYS = {each.value: each for each in (Way.AUTO, Way.REPORTER, Way.CLUSTER, Way.HUB)}


class Where(NamedTuple):
    """
    A source. *text*: the path or the URL, if it has one.
    """

    way: Way
    text: str = ""

    @property
    def is_dump(self) -> bool:
        return self.way is Way.FILE

    @property
    def is_outside(self) -> bool:
        """
        Return whether it is reached without the API server.
        """
        return bool(self.text)


def asks_hub(arguments: Arguments) -> bool:
    """
    Return whether a hub is named, rightly or not.
    """
    return arguments.values["from"].partition(":")[0] == HUB


def parse_where(arguments: Arguments, *, used: Collection[str] = ()) -> Where:
    """
    Return where to ask. Raises SettingsError for what is no source, and for flags without effect there.

    *used*: flags of ``run`` that the command itself uses, wherever the status comes from.
    """
    where = _parse(arguments.values["from"])
    text = f"--from={arguments.values['from']}"
    if arguments.values.get("at") and not where.is_dump:
        raise SettingsError("--at", "applies to dumps alone: --from=file:PATH")
    given = {each[2:].partition("=")[0] for each in arguments.run_flags} - {*used}
    if where.is_outside:
        leading = [name for name in ACCESS_FLAGS if arguments.values.get(name)]
        for name in (*leading, *given & {KUBECONFIG}):
            raise SettingsError(
                f"--{name}",
                f"leads to a cluster, which {text} does not read; leave one of them out",
            )
    if where.way in {Way.REPORTER, Way.URL, Way.HUB}:
        for name in sorted(given - {KUBECONFIG}):
            raise SettingsError(
                f"--{name}",
                f"shapes what this program evaluates, and with {text} a reporter evaluates with flags"
                " of its own; leave it out, or use --from=cluster",
            )
    return where


def _parse(text: str) -> Where:
    if text.startswith(FILE):
        path = text.removeprefix(FILE)
        if not path:
            raise SettingsError(f"--from={FILE}", "names no file, as file:dump.yaml does")
        return Where(Way.FILE, path)
    if text.startswith(URL_SCHEMES):
        return Where(Way.URL, _parse_url(text, f"--from={text}"))
    if text.startswith(f"{HUB}:"):
        return Where(Way.HUB, _parse_hub_url(text))
    if text not in NAMED_WAYS:
        raise SettingsError(
            f"--from={text}",
            "must be auto, reporter, cluster, file:PATH, or a URL; of status also hub, or hub:URL",
        )
    return Where(NAMED_WAYS[text])


def _parse_hub_url(text: str) -> str:
    url = text.partition(":")[2]
    if not url.startswith(URL_SCHEMES):
        raise SettingsError(f"--from={text}", "must be hub, or hub: and the URL of a hub")
    return _parse_url(url, f"--from={text}")


def _parse_url(text: str, given: str) -> str:
    """
    Return the address alone. Raises SettingsError for what nothing could be asked at.
    """
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0
        usable &= parts.username is None and not parts.query and not parts.fragment
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError(given, "must be an address such as http://127.0.0.1:8082, and no more")
    return text
