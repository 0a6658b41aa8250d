"""
Clean text that others wrote, before it goes into a message of ours.

Cloud errors, kubelet and webhooks put URLs, request ids, times and sometimes credentials into
their texts; a terminal shows escape sequences as they are.
"""

import re


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_BROKEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u2028\u2029]+")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_PEM = re.compile(r"-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|$)")
_URL = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://\S*")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?")
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic|sharedaccesssignature)\s+[\w.~+/=%:&-]{6,}")
_JWT = re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]*)*")
_KEYS = re.compile(r"\b(?:sk-[\w-]{8,}|AKIA[0-9A-Z]{12,}|gh[pousr]_\w{16,}|xox[a-z]-[\w-]{8,})")
_SECRETS = re.compile(
    r"(?i)([\w.-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key"
    r"|credential|signature|authorization)[\w.-]*|\bsig)"
    r"(\"?'?\s*[=:]\s*\"?'?)(?!\[)([^\s\"'&,;]{3,})"
)
REMOVED = "[removed]"


def clean(text: str) -> str:
    """
    One line without URLs, times, secrets, control characters and escape sequences.
    """
    text = _ESCAPES.sub("", text)
    text = _INVISIBLE.sub("", _BROKEN.sub(" ", text))
    text = _PEM.sub(REMOVED, text)
    text = _URL.sub("", text)
    text = _AUTHORIZATION.sub(rf"\1 {REMOVED}", text)
    text = _SECRETS.sub(rf"\1\2{REMOVED}", text)
    text = _KEYS.sub(REMOVED, _JWT.sub(REMOVED, text))
    text = _TIME.sub("", text)
    return re.sub(r"\s+", " ", text).strip(" .:;,")


def shorten(text: str, limit: int) -> str:
    """
    At most *limit* bytes of UTF-8, cut between characters, with an ellipsis.
    """
    raw = text.encode()
    if len(raw) <= limit:
        return text
    if limit < len("…".encode()):
        return ""
    return raw[: limit - len("…".encode())].decode(errors="ignore").rstrip() + "…"
