"""
The streaming list: a watch that begins with all objects and marks the end of them by a bookmark.

Needs less memory of both sides than pages, and no second request for the watch. Servers without
it say so in several ways, or not at all.
"""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

from reporter.kube.changes import Bookmark, Drop, Name, Put, Spoilt, read_event
from reporter.kube.errors import Invalid, KubeError, Refused, Unreachable
from reporter.kube.lists import Listing
from reporter.kube.pace import Pace
from reporter.kube.translation import Asked
from reporter.model.kinds import ResourceKind


INITIAL = (("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"))
NO_PROGRESS = "RequestWatchProgress"
"""
What an API server names when its etcd is too old for streaming lists.
"""


class Unmarked(KubeError):
    """
    The bookmark that ends the list did not come.
    """


async def read_initial(
    lines: AsyncIterator[bytes], kind: ResourceKind, asked: Asked, *, pace: Pace
) -> Listing:
    """
    Read up to the bookmark; the lines after it are those of a watch. Raises Unmarked without one.
    """
    now = asyncio.get_running_loop().time
    latest = now() + pace.streaming.total_seconds()
    found: dict[Name, Put | Spoilt] = {}
    try:
        async with asyncio.timeout(pace.bookmark.total_seconds()) as limit:
            async for line in lines:
                limit.reschedule(min(now() + pace.bookmark.total_seconds(), latest))
                change = read_event(line, kind, asked)
                match change:
                    case Bookmark(complete=True):
                        return _listing(change.version, found)
                    case Put() | Spoilt():
                        found[change.name] = change
                    case Drop():
                        found.pop(change.name, None)
                    case Bookmark():
                        pass
    except TimeoutError:
        raise Unmarked(asked.doing, message="no bookmark at the end of a streaming list") from None
    raise Unmarked(asked.doing, message="a streaming list ended before its bookmark")


def falls_back(err: KubeError) -> bool:
    """
    Whether pages may work where a streaming list did not: pages need another right, too.
    """
    match err:
        case Unmarked() | Invalid():
            return True
        case Refused():
            return err.status == HTTPStatus.FORBIDDEN
        case Unreachable(status=0 | 200):
            return err.arrived
        case _:
            return NO_PROGRESS in err.message


def lacks_streaming(err: KubeError) -> bool:
    """
    Whether to try no other streaming list with this server.
    """
    return isinstance(err, Unmarked | Invalid) or NO_PROGRESS in err.message


def _listing(version: str, found: dict[Name, Put | Spoilt]) -> Listing:
    return Listing(
        version=version,
        objects=tuple(each.object for each in found.values() if isinstance(each, Put)),
        spoilt=tuple(each for each in found.values() if isinstance(each, Spoilt)),
    )
