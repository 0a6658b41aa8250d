"""A page of a foreign site reads nothing of a reporter whose port a user forwards."""

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.integration.page.browser_page import REBOUND, BrowserPage
from tests.integration.page.documents import every_state
from tests.integration.page.served_document import ServedDocument


@pytest_asyncio.fixture
async def served() -> AsyncIterator[ServedDocument]:
    found = ServedDocument(every_state())
    await found.start()
    yield found
    await found.stop()


READ = """
return fetch(arguments[0]).then((answer) => answer.text()).catch((error) => "refused: " + error);
"""


async def test_its_own_name_for_this_machine_is_refused(page: BrowserPage, served: ServedDocument):
    """The origin is that of the site, so the browser lets its scripts read what they fetch."""
    site = f"http://{REBOUND}:{served.address.port}"
    await asyncio.to_thread(page._driver.get, site)
    assert "the Host header has a name that is not localhost" in await page.text("body")
    assert "team-" not in await page.run(READ, f"{site}/status/v1")
    assert served.requests == []


async def test_another_origin_is_refused_by_the_browser(page: BrowserPage, served: ServedDocument):
    found = await page.run(READ, f"{served.url}status/v1")
    assert found.startswith("refused: ")
