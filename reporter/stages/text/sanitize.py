"""
Clean text that others wrote, before it goes into a message of ours.

Cloud errors, kubelet and webhooks put URLs, request ids, times and sometimes credentials into
their texts; a terminal shows escape sequences as they are.
"""

import re

from reporter.model.redact import redact


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL_CHARACTERS = re.compile(r"[\u0000-\u001f\u007f-\u009f\u2028\u2029]+")
_INVISIBLE = re.compile(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_URL = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}://(?:[^\s\"'<>()\[\]{}]*@)?(?:\[[0-9a-fA-F:.%]*\])?[^\s\"'<>)\]}]*"
)
_TIME = re.compile(
    r"(?<![\d])\d{4}([-/])\d\d\1\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?"
    r"|\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+"
)
MAX_INPUT_CHARACTERS = 8192
"""
Characters that are looked at: enough for what is told, and a bound for what cleaning costs.
"""


def sanitize(text: str) -> str:
    """
    One line without URLs, times, secrets, control characters and escape sequences.
    """
    text = _ESCAPES.sub("", text[:MAX_INPUT_CHARACTERS])
    text = _INVISIBLE.sub("", _CONTROL_CHARACTERS.sub(" ", text))
    text = redact(_URL.sub("", text))
    text = _TIME.sub("", text)
    return re.sub(r"\s+", " ", text).strip(" .:;,")


def truncate_bytes(text: str, limit: int) -> str:
    """
    At most *limit* bytes of UTF-8, cut between characters, with an ellipsis.
    """
    raw = text.encode()
    if len(raw) <= limit:
        return text
    if limit < len("…".encode()):
        return ""
    return raw[: limit - len("…".encode())].decode(errors="ignore").rstrip() + "…"
