"""One browser for all tests of a process; each test has a page of its own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from selenium.webdriver import Chrome

from tests.integration.page.browser_page import BrowserPage, start_browser


@pytest.fixture(scope="session")
def driver() -> Iterator[Chrome]:
    started = start_browser()
    yield started
    started.quit()


@pytest_asyncio.fixture
async def page(driver: Chrome) -> AsyncIterator[BrowserPage]:
    made = BrowserPage(driver)
    await made.reset()
    yield made
    await made.reset()
