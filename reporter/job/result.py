"""The fields of a result: their rules, defaults and limits."""

from reporter.job.observations import ValidResult


SUCCESS, FAILURE = "success", "failure"
DEFAULT_REASON = "NoReasonProvided"
DEFAULT_MESSAGE = "No message provided"
MAX_REASON_BYTES = 128
MAX_MESSAGE_BYTES = 1024

GO_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Characters that Go's strings.TrimSpace removes. Python's strip removes four more."""


class InvalidFieldError(ValueError):
    """A field of a result that breaks its rule."""


def make_result(status: str, reason: str, message: str) -> ValidResult:
    """Return the result. Raise InvalidFieldError for another status than success and failure."""
    if status not in {SUCCESS, FAILURE}:
        raise InvalidFieldError(f"status: must be either '{SUCCESS}' or '{FAILURE}'")
    return ValidResult(
        status == SUCCESS,
        cut_bytes(reason.strip(GO_WHITE_SPACE) or DEFAULT_REASON, MAX_REASON_BYTES),
        cut_bytes(message.strip(GO_WHITE_SPACE) or DEFAULT_MESSAGE, MAX_MESSAGE_BYTES),
    )


def cut_bytes(text: str, limit: int) -> str:
    """Return at most *limit* bytes of UTF-8, cut between characters."""
    raw = text.encode()
    return text if len(raw) <= limit else raw[:limit].decode(errors="ignore")
