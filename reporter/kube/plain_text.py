"""Clean text from others for logs and error messages: short, one line, without secrets."""

import re
import unicodedata

from reporter.model.redact import redact


MAX_LENGTH = 300
"""Characters that are kept."""

MAX_INPUT = 16_384
"""Characters that are examined, since a response may have any size."""

_HTML = re.compile(r"<(?:!doctype|html|head|body|title|center|h1|p|pre)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,300})", re.IGNORECASE)
_HIDDEN_ELEMENT = re.compile(r"<(script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,500}>")


def clean(text: str | bytes, *, max_length: int = MAX_LENGTH) -> str:
    """
    Return the beginning of a text as one line, without markup and secrets, and cut to *max_length*.
    """
    line = _to_one_line(text[:MAX_INPUT])
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def clean_tail(text: str | bytes) -> str:
    """Return the end of a text in the same way as *clean*: programs write there why they failed."""
    line = _to_one_line(text[-MAX_INPUT:])
    return line if len(line) <= MAX_LENGTH else "…" + line[1 - MAX_LENGTH :]


def _to_one_line(raw: str | bytes) -> str:
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    if _HTML.search(text):
        text = _without_markup(text)
    shown = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    return " ".join(redact(shown).split())


def _without_markup(page: str) -> str:
    import html  # noqa: PLC0415  its table of entities takes longer to import than most modules

    title = _TITLE.search(page)
    if title is not None:
        return html.unescape(title.group(1))
    return html.unescape(_TAG.sub(" ", _HIDDEN_ELEMENT.sub(" ", page)))
