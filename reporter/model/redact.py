"""Redact what may be a secret in foreign text. Events, logs and errors use the same rules."""

import re


REMOVED = "[removed]"

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|$)")
_IN_URL = re.compile(r"(?<=\w://)[^/@\s\"'<>]+@")
# The value must hold something that English words do not, or be long: "basic understanding" is kept.
_AUTHORIZATION = re.compile(
    r"\b(?i:(bearer|basic|sharedaccesssignature))\s+(?=\S*[A-Z0-9=+/._-]|[a-z]{20})[\w.~+/=%:&-]{6,}"
)
# A JWT begins with the base64 of ``{"``.
_JWT = re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]*)*")
# Keys of OpenAI and the like, AWS, GitHub and Slack.
_API_KEYS = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,}|AKIA[0-9A-Z]{12,}|gh[pousr]_\w{16,}|xox[a-z]-[\w-]{8,})"
)
# Names of Kubernetes Secrets and of their keys are no secrets, nor are counts of tokens.
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
_SENTENCE_CONTINUES = re.compile(r"\s+[\"'(]|\s+[A-Za-z0-9]+(?![\w.-]*[\"']?\s*[:=])")


def redact(line: str) -> str:
    """Return the line with REMOVED in place of everything that may be a secret."""
    line = _IN_URL.sub(f"{REMOVED}@", _PEM.sub(REMOVED, line))
    line = _AUTHORIZATION.sub(rf"\1 {REMOVED}", line)
    line = _QUOTED_VALUE.sub(rf"\1\2{REMOVED}", line)
    line = _ASSIGNED_VALUE.sub(rf"\1\2{REMOVED}", line)
    line = _KEY_VALUE.sub(_redact_unless_prose, line)
    return _API_KEYS.sub(REMOVED, _JWT.sub(REMOVED, line))


def _redact_unless_prose(match: re.Match[str]) -> str:
    """
    Keep the tag of an image, and the rest of a sentence that contains a word like ``token:``.

    A plain word behind ``password:`` counts as part of a sentence only if more words follow.
    """
    name, separator, value = match.groups()
    start = match.start()
    preceding = match.string[max(start - 64, 0) : start]
    is_tag = separator == ":" and _IN_PATH.search(preceding) is not None
    continues = _SENTENCE_CONTINUES.match(match.string, match.end()) is not None
    is_prose = _WORD.fullmatch(value) is not None and (continues or not _PASSWORD.search(name))
    return match[0] if is_tag or is_prose else f"{name}{separator}{REMOVED}"
