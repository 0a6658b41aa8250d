"""
The complete objects of one kind at one version, page by page.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from reporter.kube.changes import Page, Spoilt, read_page
from reporter.kube.client import Api
from reporter.kube.errors import Expired
from reporter.kube.paths import collection, named
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
    *within* is the time for one page.
    """
    for _ in range(ATTEMPTS - 1):
        with suppress(Expired):
            return await _pages(api, kind, version, within)
    return await _pages(api, kind, version, within)


async def _pages(api: Api, kind: ResourceKind, version: str, within: timedelta) -> Listing:
    asked = Asked(f"list {kind.qualified}", "GET", collection(kind, version))
    query = {
        "limit": str(PAGE),
        "labelSelector": kind.selector,
        "fieldSelector": named(kind),
    }
    pages: list[Page] = []
    while not pages or query.get("continue"):
        answer = await api.call(
            "GET",
            asked.path,
            query=[(name, value) for name, value in query.items() if value],
            timeout=within,
            doing=asked.doing,
        )
        pages.append(read_page(answer.body, kind, asked))
        query["continue"] = pages[-1].token
    return Listing(
        version=pages[0].version,
        objects=tuple(each for page in pages for each in page.objects),
        spoilt=tuple(each for page in pages for each in page.spoilt),
    )
