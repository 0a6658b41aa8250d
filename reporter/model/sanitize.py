"""
Clean foreign text before it becomes part of a message.

Cloud errors, the kubelet and webhooks put URLs, request ids, times and sometimes credentials into
their texts, and a terminal interprets escape sequences.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from reporter.model.redact import redact


MAX_EVENT_MESSAGE_BYTES = 1024
"""
The longest message of an Event: the API server refuses more than 1,024 bytes of UTF-8 (kubernetes,
pkg/apis/core/validation/events.go). Also the limit of what is kept or made of such a message.
"""

MAX_QUOTED_BYTES = 200
"""The most that is shown of a text of others where no limit of a message shortens it."""


# --------------------------------------------------------------------
# Phrases that messages share: short lists and ages.


MAX_LISTED = 3
"""The number of names shown of a long list."""


def abbreviate_list(names: Sequence[str], limit: int = MAX_LISTED) -> str:
    """Return at most *limit* names, sorted, and the number of the others."""
    ordered = sorted(names)
    if len(ordered) <= limit:
        return ", ".join(ordered)
    return f"{', '.join(ordered[:limit])} and {len(ordered) - limit} more"


def common_beginning(sentences: Sequence[str]) -> str:
    """
    Return what all sentences begin with, up to a colon; empty if they share nothing.

    Raises ValueError without any sentence.
    """
    first, last = min(sentences), max(sentences)
    # The first and the last in order differ as early as any two.
    pairs = enumerate(zip(first, last, strict=False))
    length = next((i for i, (one, other) in pairs if one != other), len(first))
    end = first.rfind(": ", 0, length)
    return first[: end + len(": ")] if end >= 0 else ""


def human_duration(duration: timedelta) -> str:
    """
    Return a duration in one unit, like the ages that kubectl prints: ``119s``, ``2m``, ``3h``, ``5d``.
    """
    seconds = int(duration.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


# ECMA-48 control sequences (CSI), operating system commands (OSC) and two-byte escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL_CHARACTERS = re.compile(r"[\u0000-\u001f\u007f-\u009f\u2028\u2029]+")
# Soft hyphens, zero-width and bidirectional controls, lone surrogates and tag characters: they can
# make a text look different from what it is.
_INVISIBLE = re.compile(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_URL = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}://(?:[^\s\"'<>()\[\]{}]*@)?(?:\[[0-9a-fA-F:.%]*\])?[^\s\"'<>)\]}]*"
)
# RFC 3339 and similar times, and klog's header. A time in a message would make each one look new.
_TIME = re.compile(
    r"(?<![\d])\d{4}([-/])\d\d\1\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?"
    r"|\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+"
)

MAX_INPUT_CHARACTERS = 8192
"""The characters that are read: more than any message has room for, and a bound of the cost."""


def sanitize(text: str) -> str:
    """Return one line without URLs, times, secrets, control characters and escape sequences."""
    text = _ESCAPES.sub("", text[:MAX_INPUT_CHARACTERS])
    text = _INVISIBLE.sub("", _CONTROL_CHARACTERS.sub(" ", text))
    text = redact(_URL.sub("", text))
    text = _TIME.sub("", text)
    text = re.sub(r"\s+", " ", text)
    if not text.isprintable():
        # Characters for private use or of a later Unicode: no terminal shows them.
        text = "".join(filter(str.isprintable, text))
    return text.strip(" .:;,")


def truncate_bytes(text: str, limit: int) -> str:
    """Return at most *limit* bytes of UTF-8, cut between characters, with an ellipsis if cut."""
    raw = text.encode()
    if len(raw) <= limit:
        return text
    if limit < len("…".encode()):
        return ""
    return raw[: limit - len("…".encode())].decode(errors="ignore").rstrip() + "…"
