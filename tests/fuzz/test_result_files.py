"""Result files that any container may write: valid ones that were damaged, and texts like JSON."""

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from reporter.job.result import (
    MAX_RESULT_MESSAGE_BYTES,
    MAX_RESULT_REASON_BYTES,
    ResultFormatError,
    ValidResult,
    parse_result,
)


RESULT = json.dumps(
    {
        "status": "failure",
        "reason": "Ursache é 🚀",
        "message": 'a \\ b " c \u2028',
        "details": {"list": [1, -2.5e-3, True, None, {"a": []}], "text": "\ud83d"},
    }
).encode()
PIECES = [
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud800", b"null", b"true", b"1e9",
    b'"status"', b'"success"', b'"reason"', b"\xff", b"\xed\xa0\x80", b"\x00", b" ", b"NaN",
]  # fmt: skip
TRIALS = 3000


def check(raw: bytes) -> bool:
    """Return whether the text is a result, which then fits into a condition."""
    refused = ""
    try:
        found = parse_result(raw)
    except ResultFormatError as err:
        refused = str(err)
    if refused:
        assert refused.isprintable()
        assert len(refused) < 200
        return False
    assert isinstance(found, ValidResult)
    assert 0 < len(found.reason.encode()) <= MAX_RESULT_REASON_BYTES
    assert 0 < len(found.message.encode()) <= MAX_RESULT_MESSAGE_BYTES
    return True


def test_damaged_results_are_results_or_refused():
    random_ = random.Random(1)
    accepted = 0
    for _ in range(TRIALS):
        raw = bytearray(RESULT)
        for _ in range(random_.randint(1, 4)):
            at = random_.randrange(len(raw))
            raw[at : at + random_.randint(0, 3)] = random_.choice(PIECES)
        accepted += check(bytes(raw))
    assert 0 < accepted < TRIALS


def test_each_beginning_of_a_result_is_refused():
    assert check(RESULT)
    assert not any(check(RESULT[:end]) for end in range(len(RESULT)))


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_pieces_of_json_are_a_result_or_refused(pieces):
    check(b"".join(pieces))
    check(b'{"status":"success",' + b"".join(pieces) + b"}")
