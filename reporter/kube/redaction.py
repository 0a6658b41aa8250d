"""
Text of others made fit for logs and error messages: short, one line, without secrets.
"""

import html
import re
import unicodedata

from reporter.stages.secrecy import without_secrets


LONGEST = 300
"""
Characters; what an error says beyond that has never helped anyone.
"""

READ = 16_384
"""
Characters that are looked at: an answer may be of any size.
"""

_PAGE = re.compile(r"<(?:!doctype|html|head|body|title|center|h1|p|pre)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,300})", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,500}>")


def clean(text: str | bytes, *, longest: int = LONGEST) -> str:
    """
    The beginning of a text.
    """
    line = _one_line(_decoded(text[:READ]))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def clean_tail(text: str | bytes, *, longest: int = LONGEST) -> str:
    """
    The end of a text: where programs say why they gave up.
    """
    line = _one_line(_decoded(text[-READ:]))
    return line if len(line) <= longest else "…" + line[1 - longest :]


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _one_line(text: str) -> str:
    if _PAGE.search(text):
        text = _without_markup(text)
    shown = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    return " ".join(without_secrets(shown).split())


def _without_markup(page: str) -> str:
    title = _TITLE.search(page)
    if title is not None:
        return html.unescape(title.group(1))
    return html.unescape(_TAG.sub(" ", _UNSEEN.sub(" ", page)))
