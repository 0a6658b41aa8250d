"""The status page without a mouse: focus, keys, roles and names, also while the status changes."""

from msgspec.structs import replace
from selenium.webdriver.common.keys import Keys

from reporter.model.states import State
from tests.integration.page.browser_page import BrowserPage
from tests.integration.page.documents import (
    NO_PODS,
    a_document,
    a_namespace,
    an_inference_set,
    every_state,
    healthy,
    kaito_out,
    no_pods,
)
from tests.integration.page.served_document import serving_document


LLAMA = "set/team-failed/llama"
STOPS = """
const found = document.activeElement;
return found.closest("#causes, #states, #tree, #details")?.id || found.id || found.className;
"""
FOLD = "return document.activeElement.closest('details')?.open ?? null"


async def tab_stops(page: BrowserPage) -> list[str]:
    """Return the parts of the page that Tab leads to, in their order, each once."""
    found: list[str] = []
    while True:
        await page.press(Keys.TAB)
        part = await page.run(STOPS)
        if part in found[:-1] or len(found) > 20:
            return found
        if not found or found[-1] != part:
            found.append(part)
        if part == "details":
            return found


async def test_tab_leads_through_the_page_from_top_to_bottom(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        parts = await tab_stops(page)
        assert parts == ["skip", "causes", "text", "states", "tree", "details"]


async def test_enter_and_space_open_a_cause_and_escape_closes_it(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.press(Keys.TAB, Keys.TAB)
        for key in (Keys.ENTER, Keys.SPACE):
            await page.press(key)
            assert await page.run(FOLD) is True
            await page.until_text("#causes .follows", "team-failed/llama")
            await page.press(Keys.ESCAPE)
            assert await page.run(FOLD) is False
            assert NO_PODS in await page.run("return document.activeElement.textContent")


async def test_enter_on_a_model_goes_to_its_details_and_escape_back_and_closes_them(
    page: BrowserPage,
):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click(f"[data-id='{LLAMA}']")
        for key in (Keys.ENTER, Keys.SPACE):
            await page.press(key)
            assert await page.run("return document.activeElement.id") == "details"
            await page.press(Keys.ESCAPE)
            assert await page.selected() == LLAMA
        await page.press(Keys.ESCAPE)
        assert "Select a subject" in await page.text("#details")
        rows = await page.rows()
        assert [id_ for id_, row in rows.items() if row["selected"]] == []
        assert [id_ for id_, row in rows.items() if row["tabbable"]] == [LLAMA]
        assert await page.selected() == LLAMA, "the focus stays where it was"


async def test_enter_opens_and_closes_what_has_rows_below_it(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("[data-id='namespace/team-failed']")
        for key, opened in ((Keys.ENTER, "false"), (Keys.SPACE, "true")):
            await page.press(key)
            assert (await page.rows())["namespace/team-failed"]["expanded"] == opened


async def test_what_has_the_focus_is_seen(page: BrowserPage):
    outline = """
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2;
    """
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        seen = []
        for _ in range(16):
            await page.press(Keys.TAB)
            seen.append((await page.run(STOPS), await page.run(outline)))
            if seen[-1][0] == "details":
                break
        assert [part for part, is_seen in seen if not is_seen] == []
        assert len({part for part, _ in seen}) == 6


async def test_a_link_in_a_cause_keeps_the_focus_while_the_status_changes(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("#causes .follows summary")
        await page.until_text("#causes .follows", "team-failed/llama")
        await page.press(Keys.TAB)
        link = "return [document.activeElement.className, document.activeElement.textContent]"
        assert await page.run(link) == ["link", "team-failed/llama"]
        before = every_state()
        model = an_inference_set(
            "phi", State.FAILED, blocking=kaito_out(), suppressed=(no_pods(),)
        )
        more = a_namespace("team-a", State.FAILED, model)
        served.change(replace(before, namespaces=(*before.namespaces, more)))
        await page.until_text("#causes .follows", "2 suppressed")
        assert await page.run(link) == ["link", "team-failed/llama"]


async def test_the_focus_is_kept_in_the_causes_when_what_had_it_is_gone(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.press(Keys.TAB, Keys.TAB)
        served.change(healthy())
        await page.until_text("#causes", "Nothing blocks.")
        assert await page.run("return document.activeElement.id") == "causes"


async def test_where_a_row_goes_the_one_in_its_place_gets_the_focus(page: BrowserPage):
    models = [an_inference_set(name, State.FAILED) for name in ("a", "b", "c")]
    async with serving_document(a_document(a_namespace("team", State.FAILED, *models))) as served:
        await page.open(served.url)
        await page.click("[data-id='set/team/b']")
        left = (models[0], models[2])
        served.change(a_document(a_namespace("team", State.FAILED, *left)))
        await page.until("return !document.querySelector(\"[data-id='set/team/b']\")")
        assert await page.selected() == "set/team/c"
        await page.press(Keys.ARROW_UP)
        assert await page.selected() == "set/team/a"


NAMED = {
    "button",
    "checkbox",
    "DisclosureTriangle",
    "link",
    "region",
    "search",
    "searchbox",
    "tree",
    "treeitem",
}
"""Roles whose elements need a name."""


async def test_roles_have_names_as_a_screen_reader_gets_them(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        found = await page.accessible_names()
        named = [(role, name) for role, name in found if role in NAMED]
        assert {role for role, _ in named} == NAMED - {"button"}
        assert [role for role, name in named if not name.strip()] == []
        assert ("tree", "Subjects") in named
        assert ("searchbox", "Filter") in named
        assert any(role == "treeitem" and "llama" in name for role, name in named)


async def test_a_change_of_the_state_is_told_to_who_does_not_see_it(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        status = "return [...document.querySelectorAll('[role=status]')].map((e) => e.textContent)"
        assert await page.run(status) == ["Cluster Ready. Nothing blocks."]
        served.change(every_state())
        await page.until_text("#causes", NO_PODS)
        (said,) = await page.run(status)
        assert said.startswith("Cluster Failed. ")
        assert "causes shown" in said
