"""The browser of the tests of the status page, and its driver: find them, or install them."""

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.debian import Packages, ProgramMissing


# The first has no window at all, and needs a fifth of the processor time.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
SHELL = "/usr/lib/chromium/chromium-headless-shell"
"""Debian's command of this name is a script that waits for it: the driver would end the script alone."""

DRIVER = "chromedriver"
PACKAGES = Packages(
    ("chromium-headless-shell", "chromium-driver"),
    "Elsewhere put Chromium or Chrome and the chromedriver of the same version on the PATH.",
)


class BrowserPrograms(NamedTuple):
    browser: str
    driver: str


def find_browser() -> BrowserPrograms:
    """Return the programs; raises ProgramMissing."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which(DRIVER)
    if browser is None or driver is None:
        missing = "Chromium" if browser is None else DRIVER
        raise ProgramMissing(f"{missing} is not installed.\n{PACKAGES.how}")
    is_script = Path(browser).name == Path(SHELL).name and Path(SHELL).is_file()
    return BrowserPrograms(SHELL if is_script else browser, driver)


if __name__ == "__main__":
    sys.exit(PACKAGES.main(find_browser, name="browser", description=str(__doc__)))
