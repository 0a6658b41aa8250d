"""
The browser of the tests of the status page, and its driver: find them, or install them.
"""

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRIVER = "chromedriver"
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "chromium", "chromium-driver")
HOW = (
    f"On Debian: {' '.join(INSTALL)}\n"
    "Elsewhere put Chromium or Chrome and the chromedriver of the same version on the PATH."
)


class BrowserMissing(Exception):
    """
    There is no browser, or no driver for it; the text has what to do.
    """


@dataclass(frozen=True, slots=True)
class BrowserPrograms:
    browser: str
    driver: str


def find_browser() -> BrowserPrograms:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which(DRIVER)
    if browser is None or driver is None:
        missing = "Chromium" if browser is None else DRIVER
        raise BrowserMissing(f"{missing} is not installed.\n{HOW}")
    return BrowserPrograms(browser, driver)


def find_or_install() -> BrowserPrograms:
    """
    Return the programs, after installing them where that needs nobody's password: root, apt-get.
    """
    try:
        return find_browser()
    except BrowserMissing:
        if os.geteuid() != 0 or shutil.which(INSTALL[0]) is None:
            raise
    for command in (("apt-get", "update"), INSTALL):
        ended = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            raise BrowserMissing(f"{' '.join(command)} failed:\n{ended.stderr.strip()}\n{HOW}")
    return find_browser()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.browser", description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print only what is missing")
    arguments = parser.parse_args()
    try:
        found = find_or_install()
    except BrowserMissing as err:
        sys.stderr.write(f"\nNO BROWSER\n{err}\n\n")
        return 1
    if not arguments.quiet:
        sys.stdout.write(f"{found.browser}\n{found.driver}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
