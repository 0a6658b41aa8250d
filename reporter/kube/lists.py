"""
The complete objects of one kind at one version.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from reporter.kube.arriving import Arriving
from reporter.kube.changes import Page, Spoilt
from reporter.kube.client import Api
from reporter.kube.errors import Expired, Unreachable
from reporter.kube.paths import Query, collection, named
from reporter.kube.translation import Asked
from reporter.model.kinds import ResourceKind
from reporter.model.objects import ApiObject


PAGE = 500
ATTEMPTS = 3
"""
How often a list whose continue token expires under way is started over.
"""


@dataclass(frozen=True, slots=True)
class Listing:
    """
    All objects as of *version*, and the names of those that could not be decoded.
    """

    version: str
    objects: tuple[ApiObject, ...]
    spoilt: tuple[Spoilt, ...] = ()


async def list_all(api: Api, kind: ResourceKind, version: str, *, within: timedelta) -> Listing:
    """
    *within* is the time for one answer.

    The API server takes a whole list out of its cache, but pages of what has not changed for some
    minutes out of etcd, at four times the cost. A list that breaks off may be too long to be sent
    within the time that the server gives a request, so it is read in pages then.
    """
    asked = Asked(f"list {kind.qualified}", "GET", collection(kind, version))
    query, whole = _query(kind), Arriving(kind, asked)
    try:
        return await _pages(api, whole, query, within)
    except Unreachable:
        if not whole.begun:
            raise
    query = [*query, ("limit", str(PAGE))]
    for _ in range(ATTEMPTS - 1):
        with suppress(Expired):
            return await _pages(api, whole.another(), query, within)
    return await _pages(api, whole.another(), query, within)


async def _pages(api: Api, first: Arriving, query: Query, within: timedelta) -> Listing:
    pages = [await _read(api, first, query, within)]
    while pages[-1].token:
        more = [*query, ("continue", pages[-1].token)]
        pages.append(await _read(api, first.another(), more, within))
    return Listing(
        version=pages[0].version,
        objects=tuple(each for page in pages for each in page.objects),
        spoilt=tuple(each for page in pages for each in page.spoilt),
    )


async def _read(api: Api, arriving: Arriving, query: Query, within: timedelta) -> Page:
    asked = arriving.asked
    async with api.pieces(asked.path, query, within=within, doing=asked.doing) as pieces:
        async for piece in pieces:
            arriving.feed(piece)
    return arriving.end()


def _query(kind: ResourceKind) -> Query:
    query = [("labelSelector", kind.selector), ("fieldSelector", named(kind))]
    return [(name, value) for name, value in query if value]
