"""The anchors of a document, as links from elsewhere name them."""

import re
from collections.abc import Iterator


CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def anchors(text: str) -> Iterator[str]:
    """
    Yield the anchors that GitHub gives to headings, and those set by hand with ``<a id="…">``.
    """
    seen: dict[str, int] = {}
    for heading in HEADING.findall(CODE_BLOCK.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = seen.get(anchor, 0)
        seen[anchor] = number + 1
        yield f"{anchor}-{number}" if number else anchor
    yield from re.findall(r'<a (?:id|name)="([^"]+)"', text)
