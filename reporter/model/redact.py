"""
Remove what may be a secret from texts of others, by the same rules for Events, logs and errors.
"""

import re


REMOVED = "[removed]"

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|$)")
_IN_URL = re.compile(r"(?<=\w://)[^/@\s\"'<>]+@")
_AUTHORIZATION = re.compile(
    r"\b(?i:(bearer|basic|sharedaccesssignature))\s+(?=\S*[A-Z0-9=+/._-]|[a-z]{20})[\w.~+/=%:&-]{6,}"
)
_JWT = re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]*)*")
_API_KEYS = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,}|AKIA[0-9A-Z]{12,}|gh[pousr]_\w{16,}|xox[a-z]-[\w-]{8,})"
)
_SENSITIVE_NAME = (
    r"(?:password|passwd|passphrase|pwd|secret(?!_?name|_?ref|_?key_?ref)|token(?!iz|s|_?id)"
    r"|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|key-?data|credential|signature"
    r"|authorization)[\w.-]{0,60}|\b(?:sig|auth)"
)
_QUOTED_VALUE = re.compile(
    rf"(?i)({_SENSITIVE_NAME})(\\?[\"']?\s*[=:]\s*)(\\?\"(?:[^\"\\]|\\.){{3,}}\\?\"|'[^']{{3,}}')"
)
_ASSIGNED_VALUE = re.compile(rf"(?i)({_SENSITIVE_NAME})(=)(?!\[removed)([^\s\"'&,;)\]}}]{{3,}})")
_KEY_VALUE = re.compile(
    rf"(?i)({_SENSITIVE_NAME})([\"']?\s*:\s*|\s+=\s+)(?![\[{{\"'])([^\s\"'&,;]{{3,}})"
)
_IN_PATH = re.compile(r"[/@][\w.-]{0,60}$")
_WORD = re.compile(r"\(?[A-Za-z]{3,20}[):.]?")
_PASSWORD = re.compile(r"(?i)pass|pwd")
_SENTENCE_GOES_ON = re.compile(r"\s+[\"'(]|\s+[A-Za-z0-9]+(?![\w.-]*[\"']?\s*[:=])")


def redact(line: str) -> str:
    """
    Replace what may be a secret by REMOVED.
    """
    line = _IN_URL.sub(f"{REMOVED}@", _PEM.sub(REMOVED, line))
    line = _AUTHORIZATION.sub(rf"\1 {REMOVED}", line)
    line = _QUOTED_VALUE.sub(rf"\1\2{REMOVED}", line)
    line = _ASSIGNED_VALUE.sub(rf"\1\2{REMOVED}", line)
    line = _KEY_VALUE.sub(_redact_unless_prose, line)
    return _API_KEYS.sub(REMOVED, _JWT.sub(REMOVED, line))


def _redact_unless_prose(found: re.Match[str]) -> str:
    """
    Keep an image's tag, and the rest of a sentence that has a word like ``token:`` in it.

    A plain word behind ``password:`` is part of a sentence only if more follows.
    """
    name, between, value = found.groups()
    start = found.start()
    tag = between == ":" and _IN_PATH.search(found.string[max(start - 64, 0) : start]) is not None
    more = _SENTENCE_GOES_ON.match(found.string, found.end()) is not None
    prose = _WORD.fullmatch(value) is not None and (more or not _PASSWORD.search(name))
    return found[0] if tag or prose else f"{name}{between}{REMOVED}"
