"""
What names and labels may look like; each check returns what is wrong in the real server's words.
"""

import re


LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
VALUE = f"({QUALIFIED})?"

_SAME_ENDS = "must start and end with an alphanumeric character"
_USED = "regex used for validation is"
_NOT_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_SAME_ENDS} (e.g. 'example.com', {_USED} '{SUBDOMAIN}')"
)
_NOT_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    f"and {_SAME_ENDS} (e.g. 'my-name',  or '123-abc', {_USED} '{LABEL}')"
)
_NOT_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"{_USED} '{LABEL_1035}')"
)
_NOT_QUALIFIED = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_SAME_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', {_USED} '{QUALIFIED}')"
)
_NOT_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_SAME_ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', {_USED} '{VALUE}')"
)


def _longer(text: str, limit: int) -> bool:
    return len(text.encode()) > limit


def subdomain(name: str) -> list[str]:
    wrong = ["must be no more than 253 bytes"] if _longer(name, 253) else []
    return wrong if re.fullmatch(SUBDOMAIN, name) else [*wrong, _NOT_SUBDOMAIN]


def label(name: str) -> list[str]:
    wrong = ["must be no more than 63 bytes"] if _longer(name, 63) else []
    return wrong if re.fullmatch(LABEL, name) else [*wrong, _NOT_LABEL]


def label_1035(name: str) -> list[str]:
    wrong = ["must be no more than 63 bytes"] if _longer(name, 63) else []
    return wrong if re.fullmatch(LABEL_1035, name) else [*wrong, _NOT_1035]


def path_segment(name: str) -> list[str]:
    """
    The rule for names of Events: anything that can stand in a path.
    """
    if name in {".", ".."}:
        return [f"may not be '{name}'"]
    return [f"may not contain '{sign}'" for sign in ("/", "%") if sign in name]


def qualified(name: str) -> list[str]:
    """
    The rule for label keys and for reportingComponent: `[prefix/]name`.
    """
    parts = name.split("/")
    if len(parts) > 2:  # noqa: PLR2004
        example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_NOT_QUALIFIED} {example}"]
    wrong = []
    if len(parts) == 2:  # noqa: PLR2004
        prefix = parts[0]
        wrong = [f"prefix part {text}" for text in subdomain(prefix)] if prefix else []
        wrong = wrong if prefix else ["prefix part must be non-empty"]
    last = parts[-1]
    if not last:
        wrong.append("name part must be non-empty")
    elif _longer(last, 63):
        wrong.append("name part must be no more than 63 bytes")
    if not re.fullmatch(QUALIFIED, last):
        wrong.append(f"name part {_NOT_QUALIFIED}")
    return wrong


def label_value(value: str) -> list[str]:
    wrong = ["must be no more than 63 bytes"] if _longer(value, 63) else []
    return wrong if re.fullmatch(VALUE, value) else [*wrong, _NOT_VALUE]
