"""The fields of a result: trimmed and cut as Go does it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.job.result import (
    GO_WHITE_SPACE,
    MAX_RESULT_MESSAGE_BYTES,
    MAX_RESULT_REASON_BYTES,
    ResultFormatError,
    ValidResult,
    cut_bytes,
    make_result,
)


@pytest.mark.parametrize("status", ["", "Success", "FAILURE", " success", "success\n", "true"])
def test_another_status_is_refused(status):
    with pytest.raises(ResultFormatError) as refused:
        make_result(status, "R", "m")
    assert str(refused.value) == (
        "invalid result format: status: must be either 'success' or 'failure'"
    )


@pytest.mark.parametrize("empty", ["", " ", "\t\r\n", "\u00a0\u2003\u3000"])
def test_empty_fields_have_defaults(empty):
    assert make_result("failure", empty, empty) == ValidResult(
        is_success=False, reason="NoReasonProvided", message="No message provided"
    )


def test_white_space_is_trimmed_as_go_trims_it():
    found = make_result("success", "\u2029 R \u0085", "\x1c m \x1f")
    assert (found.reason, found.message) == ("R", "\x1c m \x1f")
    assert set(GO_WHITE_SPACE) == {
        chr(n) for n in range(0x3001) if chr(n).isspace() and n not in range(0x1C, 0x20)
    }


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("a" * 128, 128, "a" * 128),
        ("a" * 129, 128, "a" * 128),
        ("é" * 64, 128, "é" * 64),
        ("a" + "é" * 64, 128, "a" + "é" * 63),
        ("a" * 127 + "€", 128, "a" * 127),
        ("a" * 126 + "€", 128, "a" * 126),
        ("a" * 125 + "€", 128, "a" * 125 + "€"),
        ("a" * 125 + "🚀", 128, "a" * 125),
        ("🚀" * 33, 128, "🚀" * 32),
        ("🚀", 1, ""),
    ],
)
def test_a_text_is_cut_by_bytes_between_characters(text, limit, expected):
    assert cut_bytes(text, limit) == expected


def test_what_is_cut_may_end_with_a_space():
    found = make_result("success", "a" * 127 + " b", " " + "é" * 600)
    assert found.reason == "a" * 127 + " "
    assert found.message == "é" * 512


@given(st.text(max_size=60), st.integers(1, 150))
def test_a_cut_text_is_the_longest_beginning_that_fits(text, limit):
    text = text.encode(errors="replace").decode()
    cut = cut_bytes(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= limit
    rest = text[len(cut) :]
    assert not rest or len((cut + rest[0]).encode()) > limit


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_every_result_fits_and_is_never_empty(reason, message):
    found = make_result("success", reason, message)
    assert 0 < len(found.reason.encode()) <= MAX_RESULT_REASON_BYTES
    assert 0 < len(found.message.encode()) <= MAX_RESULT_MESSAGE_BYTES
