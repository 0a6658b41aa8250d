"""
Compare the support of the base's Debian and Python with today: `python -m e2e.release.base_support`.

`make audit` runs this each week. New digests bring security updates only as long as there are any.
"""

import re
import sys
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from e2e.image import base


DEBIAN = {"bookworm": date(2026, 6, 10), "trixie": date(2028, 8, 9)}
"""The end of the security team's support, https://wiki.debian.org/DebianReleases."""

PYTHON = {"3.11": date(2027, 10, 31), "3.12": date(2028, 10, 31), "3.13": date(2029, 10, 31)}
"""The end of security fixes, https://devguide.python.org/versions/."""

NOTICE = timedelta(days=90)
REFERENCE = re.compile(
    r"(?:.*/)?python:(?P<python>3\.\d+)-slim-(?P<debian>[a-z]+)@sha256:[0-9a-f]{64}"
)


class Support(NamedTuple):
    name: str
    until: date

    def is_near_its_end(self, today: date) -> bool:
        return today > self.until - NOTICE

    def __str__(self) -> str:
        return f"{self.name} of the image's base has security updates until {self.until}"


def find_support(reference: str) -> list[Support]:
    """
    Return until when the parts of a base are supported. Raise LookupError for an unknown one.
    """
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise LookupError(f"{reference}: not a slim image of Python by its digest")
    python, debian = match["python"], match["debian"]
    return [
        Support(f"Debian {debian}", DEBIAN[debian]),
        Support(f"Python {python}", PYTHON[python]),
    ]


def main(reference: str, today: date) -> int:
    found = find_support(reference)
    for each in found:
        print(each)
    ending = [each.name for each in found if each.is_near_its_end(today)]
    if ending:
        print(f"Choose a newer base in the Dockerfile instead of {' and '.join(ending)}.")
    return 1 if ending else 0


if __name__ == "__main__":
    sys.exit(main(base.pinned(), datetime.now(tz=UTC).date()))
