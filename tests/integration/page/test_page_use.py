"""The status page in a browser: its filter, its keys, and a thousand namespaces."""

import pytest
from selenium.webdriver.common.keys import Keys

from reporter.model.states import State
from tests.integration.page.browser_page import BrowserPage
from tests.integration.page.documents import (
    KAITO_OUT,
    a_document,
    a_namespace,
    an_inference_set,
    every_state,
    healthy,
    kaito_out,
    many,
)
from tests.integration.page.served_document import serving_document


TYPED_MS = 500
"""
More than the pause after the last letter until the page filters; it filters in longer ones as well.
"""


async def type_filter(page: BrowserPage, text: str) -> None:
    await page.click("#text")
    await page.press(text)
    await page.pass_time(TYPED_MS)


async def choose_state(page: BrowserPage, state: str) -> None:
    await page.click(f"#states input[value={state}]")


async def sets(page: BrowserPage) -> set[str]:
    return {id_ for id_ in await page.rows() if id_.startswith("set/")}


# ---------------------------------------------------------------- filter


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("llama", {"set/team-failed/llama"}),
        (KAITO_OUT.lower(), {"set/team-failed/llama"}),
        ("suppressed stalled", {"set/team-failed/llama"}),
        ("team-failed", {"set/team-failed/llama", "set/team-failed/qwen"}),
        ("team-well", {"set/team-well/mistral"}),
        ("paused", {"set/team-well/mistral"}),
        ("list inferencesets", {"set/team-unknown/gemma"}),
    ],
)
async def test_the_filter_finds_texts(page: BrowserPage, text: str, found: set[str]):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await type_filter(page, text)
        await page.until_text("#matches", "match")
        assert await sets(page) == found


async def test_the_filter_by_state_and_text_together(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await choose_state(page, "Failed")
        await page.until_text("#matches", "match")
        assert await sets(page) == {"set/team-failed/llama"}
        await choose_state(page, "Unknown")
        assert await sets(page) == {"set/team-failed/llama", "set/team-unknown/gemma"}
        await type_filter(page, "gemma")
        await page.until_text("#matches", "1 match")
        assert await sets(page) == {"set/team-unknown/gemma"}


async def test_a_filter_that_finds_nothing_says_so(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await type_filter(page, "no-such-text")
        await page.until_text("#matches", "Nothing matches.")
        assert await page.rows() == {}


async def test_the_filter_stays_while_the_status_changes(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        await type_filter(page, "team-b")
        await page.until_text("#matches", "Nothing matches.")
        served.change(a_document(a_namespace("team-b", State.FAILED, an_inference_set("phi"))))
        await page.until_text("#matches", "3 matches")
        assert "set/team-b/phi" in await page.rows()
        assert await page.run("return document.activeElement.id") == "text"


async def test_what_was_closed_by_hand_hides_no_match(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("[data-id='group/Failed']")
        assert (await page.rows())["group/Failed"]["expanded"] == "false"
        await type_filter(page, "llama")
        await page.until_text("#matches", "1 match")
        assert await sets(page) == {"set/team-failed/llama"}


# ---------------------------------------------------------------- keys


async def test_the_first_key_skips_to_the_tree(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.press(Keys.TAB)
        skip = "return document.activeElement.textContent"
        assert "Skip to the tree" in await page.run(skip)
        await page.press(Keys.ENTER)
        assert await page.until("return document.activeElement.dataset.id") == "cluster"


async def test_keys_move_open_and_close(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("[data-id=cluster]")
        assert await page.selected() == "cluster"
        await page.press(Keys.ARROW_RIGHT)
        assert await page.selected() == "layer/modeldeployment"
        await page.press(Keys.ARROW_LEFT)
        assert await page.selected() == "cluster"
        await page.press(Keys.ARROW_LEFT)
        assert (await page.rows())["cluster"]["expanded"] == "false"
        await page.press(Keys.ARROW_DOWN)
        assert await page.selected() == "group/Failed"
        await page.press(Keys.ARROW_UP, Keys.ENTER)
        assert (await page.rows())["cluster"]["expanded"] == "true"
        await page.press(Keys.END)
        assert await page.selected() == "group/Current"
        await page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        assert await page.selected() == "namespace/team-well"
        await page.press(Keys.HOME)
        assert await page.selected() == "cluster"


async def test_letters_move_to_a_name_and_a_star_opens_what_is_beside(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("[data-id=cluster]")
        await page.prolong_timers()
        await page.press("gemma")
        assert await page.selected() == "set/team-unknown/gemma"
        await page.press(Keys.HOME, "*")
        assert (await page.rows())["group/Current"]["expanded"] == "true"


async def test_exactly_one_row_is_reached_by_tab_and_its_focus_is_seen(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("[data-id=cluster]")
        await page.press(Keys.ARROW_DOWN)
        rows = await page.rows()
        assert [id_ for id_, row in rows.items() if row["tabbable"]] == [await page.selected()]
        assert [id_ for id_, row in rows.items() if row["selected"]] == [await page.selected()]
        outline = "return getComputedStyle(document.activeElement).outlineStyle"
        assert await page.run(outline) == "solid"


async def test_the_focus_stays_on_a_subject_whose_state_changes(page: BrowserPage):
    well = a_namespace("team-a", State.CURRENT, an_inference_set("qwen"))
    other = a_namespace("team-b", State.FAILED, an_inference_set("phi", State.FAILED))
    async with serving_document(a_document(well, other)) as served:
        await page.open(served.url)
        await page.click("[data-id='group/Current']")
        await page.prolong_timers()
        await page.press("team-a")
        assert await page.selected() == "namespace/team-a"
        out = kaito_out(pointer=True)
        served.change(a_document(replace_state(well, out), other))
        await page.until_text("#details", KAITO_OUT)
        assert await page.selected() == "namespace/team-a"


def replace_state(namespace, blocking):
    return a_namespace(
        namespace.name,
        State.FAILED,
        an_inference_set("qwen", State.FAILED, blocking=blocking),
        blocking=blocking,
    )


# ---------------------------------------------------------------- many


async def test_a_thousand_namespaces_are_drawn_in_parts(page: BrowserPage):
    async with serving_document(many(1000, 10)) as served:
        await page.open(served.url)
        await page.until("return document.querySelectorAll('[role=treeitem]').length > 50")
        assert len(await page.rows()) < 500
        assert "row" in await page.text("#more")
        await page.click("[data-id=cluster]")
        await page.press(Keys.END)
        assert await page.selected() == "namespace/team-0999"
        await type_filter(page, "team-0777")
        await page.until_text("#matches", "12 matches")
        assert "set/team-0777/model-9" in await page.rows()
