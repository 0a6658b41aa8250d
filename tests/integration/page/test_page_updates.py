"""The status page in a browser: changes, and a reporter that is not reached."""

import asyncio

from msgspec.structs import replace

from tests.integration.page.browser_page import WAIT_SECONDS, BrowserPage
from tests.integration.page.documents import KAITO_OUT, every_state, healthy
from tests.integration.page.served_document import serving_document


async def test_a_change_is_shown_without_loading_the_page_anew(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await page.run("window.sameLoad = true")
        await served.until_waiting()
        served.change(every_state())
        await page.until_text("#causes", KAITO_OUT)
        await served.until_waiting()
        served.change(healthy())
        await page.until_text("#causes", "Nothing blocks.")
        assert await page.run("return window.sameLoad")
        assert "/status/v1?wait=30" in served.requests


async def test_a_reporter_that_is_gone_is_noticed_and_so_is_its_return(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await served.stop()
        banner = await page.until_text("#banner", "The reporter cannot be reached since")
        assert "last known status" in banner
        assert await page.run("return document.querySelector('#banner').role") == "alert"
        assert "Unknown last known: Ready" in " ".join((await page.text("#cluster")).split())
        assert "Nothing blocks" not in await page.text("#causes")
        assert await page.text("#subjects-title") == "Subjects, last known"
        assert "Namespaces: last known: " in await page.text("#cluster")
        await served.start()
        await page.until("return document.querySelector('#banner').hidden")
        assert await page.text("#subjects-title") == "Subjects"
        assert await page.text("#causes") == "Nothing blocks."


async def test_an_answer_that_cannot_be_read_is_no_health(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        served.change(replace(served.document, schema="v2"))
        banner = await page.until_text("#banner", "cannot be reached")
        assert "schema v1" in banner
        assert "Unknown" in await page.text("#cluster")


async def test_an_error_of_the_reporter_is_no_health(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        served.refusal = 500
        served.change(every_state())
        await page.until_text("#banner", "it answers HTTP 500")
        assert "Unknown" in await page.text("#cluster")
        served.refusal = 0
        await page.until("return document.querySelector('#banner').hidden")
        assert "Failed" in await page.text("#cluster")


async def test_a_computer_that_slept_takes_the_status_for_old_and_asks_at_once(
    page: BrowserPage,
):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await served.until_waiting()
        asked = len(served.requests)
        await page.run("const real = Date.now; Date.now = () => real() + 3_600_000")
        await page.until_text("#banner", "The status is stale")
        async with asyncio.timeout(WAIT_SECONDS):
            while len(served.requests) == asked:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert served.requests[asked] == "/status/v1"
        served.change(healthy())
        await page.until("return document.querySelector('#banner').hidden")


async def test_a_hidden_page_asks_for_nothing(page: BrowserPage):
    hide = (
        "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'));"
    )
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await served.until_waiting()
        await page.run(hide, True)
        asked = len(served.requests)
        served.change(every_state())
        await asyncio.sleep(2)  # a page that is seen asks after a second
        assert len(served.requests) == asked
        assert KAITO_OUT not in await page.text("#causes")
        await page.run(hide, False)
        await page.until_text("#causes", KAITO_OUT)
        assert served.requests[asked] == "/status/v1"


async def test_a_pause_that_no_timer_can_hold_is_no_reason_to_ask_at_once(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await served.until_waiting()
        served.refusal, served.retry_after = 503, 30 * 86_400
        served.change(every_state())
        await page.until_text("#banner", "HTTP 503")
        asked = len(served.requests)
        await asyncio.sleep(2)  # a timer of more than 2^31 ms fires at once
        assert len(served.requests) == asked


async def test_too_many_waiting_pages_are_no_outage(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await served.until_waiting()
        served.refusal, asked = 429, len(served.requests)
        served.change(every_state())
        async with asyncio.timeout(WAIT_SECONDS):
            while len(served.requests) < asked + 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await page.run("return document.querySelector('#banner').hidden")
        served.refusal = 0
        served.change(healthy())
        await page.until_text("#causes", "Nothing blocks.")
