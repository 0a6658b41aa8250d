"""Validation of names and labels; each function returns the error texts of the real server."""

import re


DNS1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
DNS1123_SUBDOMAIN = rf"{DNS1123_LABEL}(\.{DNS1123_LABEL})*"
QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
LABEL_VALUE = f"({QUALIFIED_NAME})?"

_SAME_ENDS = "must start and end with an alphanumeric character"
_REGEX_USED = "regex used for validation is"
_NOT_DNS1123_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_SAME_ENDS} (e.g. 'example.com', {_REGEX_USED} '{DNS1123_SUBDOMAIN}')"
)
_NOT_DNS1123_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    f"and {_SAME_ENDS} (e.g. 'my-name',  or '123-abc', {_REGEX_USED} '{DNS1123_LABEL}')"
)
_NOT_DNS1035_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"{_REGEX_USED} '{DNS1035_LABEL}')"
)
_NOT_QUALIFIED_NAME = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_SAME_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', {_REGEX_USED} '{QUALIFIED_NAME}')"
)
_NOT_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_SAME_ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', {_REGEX_USED} '{LABEL_VALUE}')"
)


def _is_longer(text: str, limit: int) -> bool:
    return len(text.encode()) > limit


def validate_dns1123_subdomain(name: str) -> list[str]:
    errors = ["must be no more than 253 bytes"] if _is_longer(name, 253) else []
    return errors if re.fullmatch(DNS1123_SUBDOMAIN, name) else [*errors, _NOT_DNS1123_SUBDOMAIN]


def validate_dns1123_label(name: str) -> list[str]:
    errors = ["must be no more than 63 bytes"] if _is_longer(name, 63) else []
    return errors if re.fullmatch(DNS1123_LABEL, name) else [*errors, _NOT_DNS1123_LABEL]


def validate_dns1035_label(name: str) -> list[str]:
    errors = ["must be no more than 63 bytes"] if _is_longer(name, 63) else []
    return errors if re.fullmatch(DNS1035_LABEL, name) else [*errors, _NOT_DNS1035_LABEL]


def validate_path_segment(name: str) -> list[str]:
    """Validate the name of an Event, which may be any segment of a path."""
    if name in {".", ".."}:
        return [f"may not be '{name}'"]
    return [f"may not contain '{sign}'" for sign in ("/", "%") if sign in name]


def validate_qualified_name(name: str) -> list[str]:
    """Validate a label key or a reportingComponent: `[prefix/]name`."""
    parts = name.split("/")
    if len(parts) > 2:  # noqa: PLR2004
        example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_NOT_QUALIFIED_NAME} {example}"]
    errors = []
    if len(parts) == 2:  # noqa: PLR2004
        prefix = parts[0]
        errors = (
            [f"prefix part {text}" for text in validate_dns1123_subdomain(prefix)]
            if prefix
            else []
        )
        errors = errors if prefix else ["prefix part must be non-empty"]
    last = parts[-1]
    if not last:
        errors.append("name part must be non-empty")
    elif _is_longer(last, 63):
        errors.append("name part must be no more than 63 bytes")
    if not re.fullmatch(QUALIFIED_NAME, last):
        errors.append(f"name part {_NOT_QUALIFIED_NAME}")
    return errors


def validate_label_value(value: str) -> list[str]:
    errors = ["must be no more than 63 bytes"] if _is_longer(value, 63) else []
    return errors if re.fullmatch(LABEL_VALUE, value) else [*errors, _NOT_LABEL_VALUE]
