"""
A page in a real browser, driven over WebDriver.

The calls wait for the browser, so each is made in a thread: servers run in the loop of the test.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.support.browser import find_browser


WAIT_SECONDS = 60.0
REBOUND = "rebound.example.com"
"""A name that a foreign site lets resolve to this machine."""

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # containers run as root
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
    "--lang=en",
    "--force-color-profile=srgb",
)
WIDE = (1280, 1600)
"""So high that the tree is seen below the causes: of a row that is not, the browser knows no innerText."""

ROWS = """
return [...document.querySelectorAll("[role=treeitem]")].map((row) => ({
  id: row.dataset.id,
  text: row.innerText.replace(/\\s+/g, " ").trim(),
  level: Number(row.getAttribute("aria-level")),
  expanded: row.getAttribute("aria-expanded"),
  selected: row.getAttribute("aria-selected") === "true",
  tabbable: row.tabIndex === 0,
}));
"""

DRAWN = """
const row = document.querySelector("[role=treeitem]");
return row === null || row.innerText !== "";
"""


def start_browser() -> Chrome:
    programs = find_browser()
    options = ChromeOptions()
    options.binary_location = programs.browser
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(programs.driver))


class BrowserPage:
    def __init__(self, driver: Chrome) -> None:
        self._driver = driver

    async def reset(self) -> None:
        """Leave the page, with a wide window and in light colours."""
        await asyncio.to_thread(self._driver.get, "about:blank")
        await self.emulate(WIDE)
        await self.log()

    async def open(self, url: str) -> None:
        """
        Load the page and wait for its first status, and for the frame in which its rows are drawn.

        The style ``content-visibility: auto`` leaves a row without an innerText until then.
        """
        await asyncio.to_thread(self._driver.get, url)
        await self.until("return document.querySelector('#cluster').textContent !== ''")
        await self.until(DRAWN)

    async def run(self, script: str, *values: object) -> Any:
        return await asyncio.to_thread(self._driver.execute_script, script, *values)

    async def until(self, script: str, *values: object) -> Any:
        """Run *script* until what it returns is true, and return that."""
        found: Any = None
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not (found := await self.run(script, *values)):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = await self.run("return document.body.innerText")
            raise AssertionError(f"not so: {script}\n{shown}") from None
        return found

    async def until_text(self, selector: str, text: str) -> str:
        script = "const found = document.querySelector(arguments[0])?.innerText ?? '';"
        script += "return found.includes(arguments[1]) && found"
        found: str = await self.until(script, selector, text)
        return found

    async def text(self, selector: str) -> str:
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        found: str = await self.run(script, selector)
        return found

    async def rows(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the rows of the tree that are drawn, by id."""
        return {row["id"]: row for row in await self.run(ROWS)}

    async def selected(self) -> str:
        """Return the id of the selected row, which has the focus."""
        found: str = await self.run("return document.activeElement?.dataset.id ?? ''")
        return found

    async def press(self, *keys: str) -> None:
        def act() -> None:
            for key in keys:
                ActionChains(self._driver, duration=0).send_keys(key).perform()

        await asyncio.to_thread(act)

    async def click(self, selector: str) -> None:
        def act() -> bool:
            try:
                self._driver.find_element("css selector", selector).click()
            except StaleElementReferenceException:
                return False  # a change of the status has drawn it anew since it was found
            return True

        async with asyncio.timeout(WAIT_SECONDS):
            while not await asyncio.to_thread(act):
                pass

    async def pass_time(self, milliseconds: int) -> None:
        """Let timers of the page fire that were set before and are shorter."""
        script = "return new Promise((done) => setTimeout(done, arguments[0]))"
        await self.run(script, milliseconds)

    async def prolong_timers(self) -> None:
        """
        Let no timer of a part of a second end that is set from now on, however slowly keys follow.
        """
        await self.run(
            "const real = window.setTimeout;"
            "window.setTimeout = (run, ms) => real(run, ms >= 100 && ms < 1000 ? 1e6 : ms)"
        )

    async def accessible_names(self) -> list[tuple[str, str]]:
        """Return the role and the name of each element that a screen reader is told of."""
        tree = await asyncio.to_thread(
            self._driver.execute_cdp_cmd, "Accessibility.getFullAXTree", {}
        )
        return [
            (str(node["role"]["value"]), str(node.get("name", {}).get("value", "")))
            for node in tree["nodes"]
            if not node["ignored"] and "role" in node
        ]

    async def emulate(self, size: tuple[int, int] = WIDE, *, scheme: str = "light") -> None:
        """Emulate the size of a screen, and its preference for light or dark."""
        width, height = size
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        commands = {
            "Emulation.setDeviceMetricsOverride": screen,
            "Emulation.setEmulatedMedia": media,
        }
        for command, values in commands.items():
            await asyncio.to_thread(self._driver.execute_cdp_cmd, command, values)

    async def screenshot(self, path: Path) -> None:
        await asyncio.to_thread(self._driver.save_screenshot, str(path))

    async def until_logged(self, text: str) -> None:
        """Wait for a line of the browser's log, which is written beside the page."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not any(text in line for line in await self.log()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def log(self) -> list[str]:
        """Return what the browser has logged since the last call: errors and refused content."""
        entries = await asyncio.to_thread(self._driver.get_log, "browser")
        return [str(entry["message"]) for entry in entries]
