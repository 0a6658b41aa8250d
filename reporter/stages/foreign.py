"""
Clean text that others wrote, before it goes into a message of ours.

Cloud errors, kubelet and webhooks put URLs, request ids, times and sometimes credentials into
their texts; a terminal shows escape sequences as they are.
"""

import re


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_BROKEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u2028\u2029]+")
_INVISIBLE = re.compile(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|$)")
_URL = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}://(?:[^\s\"'<>()\[\]{}]*@)?(?:\[[0-9a-fA-F:.%]*\])?[^\s\"'<>)\]}]*"
)
_TIME = re.compile(
    r"(?<![\d])\d{4}([-/])\d\d\1\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?"
    r"|\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+"
)
_AUTHORIZATION = re.compile(
    r"\b(?i:(bearer|basic|sharedaccesssignature))\s+(?=\S*[A-Z0-9=+/._-]|[a-z]{20})[\w.~+/=%:&-]{6,}"
)
_JWT = re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]*)*")
_KEYS = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,}|AKIA[0-9A-Z]{12,}|gh[pousr]_\w{16,}|xox[a-z]-[\w-]{8,})"
)
_NAMED = (
    r"(?:password|passwd|passphrase|pwd|secret(?!_?name|_?ref|_?key_?ref)|token(?!iz|s|_?id)"
    r"|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|credential|signature"
    r"|authorization)[\w.-]{0,60}|\b(?:sig|auth)"
)
_QUOTED = re.compile(
    rf"(?i)({_NAMED})(\\?[\"']?\s*[=:]\s*)(\\?\"(?:[^\"\\]|\\.){{3,}}\\?\"|'[^']{{3,}}')"
)
_ASSIGNED = re.compile(rf"(?i)({_NAMED})(=)(?!\[removed)([^\s\"'&,;)\]}}]{{3,}})")
_SAID = re.compile(rf"(?i)({_NAMED})([\"']?\s*:\s*|\s+=\s+)(?![\[{{\"'])([^\s\"'&,;]{{3,}})")
_IN_PATH = re.compile(r"[/@][\w.-]{0,60}$")
_WORD = re.compile(r"\(?[A-Za-z]{3,20}[):.]?")
_PASSWORD = re.compile(r"(?i)pass|pwd")
_SENTENCE = re.compile(r"\s+[\"'(]|\s+[A-Za-z0-9]+(?![\w.-]*[\"']?\s*[:=])")
REMOVED = "[removed]"
READ = 8192
"""
Characters that are looked at: enough for what is told, and a bound for what cleaning costs.
"""


def clean(text: str) -> str:
    """
    One line without URLs, times, secrets, control characters and escape sequences.
    """
    text = _ESCAPES.sub("", text[:READ])
    text = _INVISIBLE.sub("", _BROKEN.sub(" ", text))
    text = _PEM.sub(REMOVED, text)
    text = _URL.sub("", text)
    text = _AUTHORIZATION.sub(rf"\1 {REMOVED}", text)
    text = _QUOTED.sub(rf"\1\2{REMOVED}", text)
    text = _ASSIGNED.sub(rf"\1\2{REMOVED}", text)
    text = _SAID.sub(_unless_prose, text)
    text = _KEYS.sub(REMOVED, _JWT.sub(REMOVED, text))
    text = _TIME.sub("", text)
    return re.sub(r"\s+", " ", text).strip(" .:;,")


def _unless_prose(said: re.Match[str]) -> str:
    """
    Keep an image's tag, and the rest of a sentence that has a word like ``token:`` in it.

    A plain word behind ``password:`` is part of a sentence only if more follows.
    """
    name, between, value = said.groups()
    start = said.start()
    tag = between == ":" and _IN_PATH.search(said.string[max(start - 64, 0) : start]) is not None
    more = _SENTENCE.match(said.string, said.end()) is not None
    prose = _WORD.fullmatch(value) is not None and (more or not _PASSWORD.search(name))
    return said[0] if tag or prose else f"{name}{between}{REMOVED}"


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
