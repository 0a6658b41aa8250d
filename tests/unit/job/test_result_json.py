"""Result files by their text: what is accepted, and the texts for the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.job.result import ResultFormatError, ValidResult, parse_result


WRONG_STATUS = "invalid result format: status: must be either 'success' or 'failure'"
END = "failed to parse JSON: unexpected end of JSON input"
OK = ValidResult(is_success=True, reason="R", message="m")
DEPTH = 50_000

VALID = {
    "a result": b'{"status":"success","reason":"R","message":"m"}',
    "with details": b'{"status":"success","reason":"R","message":"m","details":{"status":"failure"}}',
    "with further keys": b'{"status":"success","reason":"R","message":"m","when":[1,2.5e3,true,null]}',
    "with white space around": b'\r\n\t {"status": "success", "reason": " R ", "message": "m\\n"}\n',
    "duplicate keys, of which the last counts":
        b'{"status":"failure","reason":"A","reason":"R","message":"m","status":"success"}',
    "null, which changes nothing": b'{"status":"success","reason":"R","message":"m","reason":null}',
    "keys as Go names its fields": b'{"Status":"success","REASON":"R","message":"m"}',
    "numbers of any size":
        b'{"status":"success","reason":"R","message":"m","details":' + b"9" * 5000 + b"}",
    "nested details":
        b'{"status":"success","reason":"R","message":"m","details":'
        + b"[" * DEPTH + b"]" * DEPTH + b"}",
    "nested details before the fields":
        b'{"details":' + b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
        + b',"status":"success","reason":"R","message":"m"}',
}  # fmt: skip


@pytest.mark.parametrize("row", VALID)
def test_a_valid_text_is_a_result(row):
    assert parse_result(VALID[row]) == OK


INVALID = {
    "an empty object": (b"{}", WRONG_STATUS),
    "null": (b"null", WRONG_STATUS),
    "no status": (b'{"reason":"R"}', WRONG_STATUS),
    "another status": (b'{"status":"Success"}', WRONG_STATUS),
    "a status with a space": (b'{"status":"success "}', WRONG_STATUS),
    "a status in details": (b'{"details":{"status":"success"}}', WRONG_STATUS),
    "no text": (b" \n", END),
    "half of an object": (b'{"status":"success","rea', END),
    "a string without its end": (b'{"status":"suc', END),
    "an array without its end": (b'{"details":[1,', END),
    "nesting without its end": (b"[" * DEPTH, END),
    "an array": (b'[{"status":"success"}]', "failed to parse JSON: must be an object, not an array"),
    "a string": (b'"success"', "failed to parse JSON: must be an object, not a string"),
    "a number": (b"1", "failed to parse JSON: must be an object, not a number"),
    "a boolean": (b"true", "failed to parse JSON: must be an object, not a boolean"),
    "a number as the reason":
        (b'{"status":"success","reason":5}', "failed to parse JSON: reason: must be a string, not a number"),
    "an object as the message":
        (b'{"status":"success","message":{}}', "failed to parse JSON: message: must be a string, not an object"),
    "a list as the status":
        (b'{"Status":[]}', "failed to parse JSON: status: must be a string, not an array"),
    "a boolean that is replaced later":
        (b'{"reason":true,"reason":"R","status":"success"}',
         "failed to parse JSON: reason: must be a string, not a boolean"),
    "two objects": (b'{"status":"success"}{}', "failed to parse JSON: extra data: line 1 column 21"),
    "no quotes": (b"{status:success}",
        "failed to parse JSON: expecting property name enclosed in double quotes: line 1 column 2"),
    "a constant that is not JSON": (b'{"status":NaN}', "failed to parse JSON: it has a value that is not JSON"),
    "a control character": (b'{"status":"a\x00b"}', "failed to parse JSON: invalid control character at: line 1 column 13"),
    "UTF-16": ('{"status":"success"}'.encode("utf-16"), "failed to parse JSON: expecting value: line 1 column 1"),
    "a byte order mark": (b'\xef\xbb\xbf{"status":"success"}',
        "failed to parse JSON: unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1"),
}  # fmt: skip


@pytest.mark.parametrize("row", INVALID)
def test_an_invalid_text_is_refused_with_what_is_wrong(row):
    raw, text = INVALID[row]
    with pytest.raises(ResultFormatError) as refused:
        parse_result(raw)
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"caf\xe9", "caf\ufffd"),
        (b"\xe2\x82", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf0\x9f\x9a\x80", "🚀"),
        (b"\\ud83d\\ude80", "🚀"),
        (b"\\ud83d x", "\ufffd x"),
        (b"\\udc80", "\ufffd"),
        (b"\\ud83d\x80", "\ufffd\ufffd"),
    ],
)
def test_what_is_not_utf_8_is_replaced_as_go_does_it(raw, expected):
    found = parse_result(b'{"status":"failure","message":"' + raw + b'"}')
    assert found.message == expected


SECRET = "eyJhbGciOiJSUzI1NiJ9"


@pytest.mark.parametrize(
    "raw",
    [SECRET, f'"{SECRET}"', f'{{"{SECRET}": 1, "status": 1}}', f'{{"a" {SECRET}}}', f"[{SECRET}]"],
)
def test_no_text_of_the_file_is_in_an_error(raw):
    with pytest.raises(ResultFormatError) as refused:
        parse_result(raw.encode())
    assert SECRET not in str(refused.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_result_or_refused(raw):
    try:
        seen = parse_result(raw).message
    except ResultFormatError as err:
        seen = str(err)
    assert seen.encode()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["status", "reason", "message", "x"]), inner)
        ),
    )
)
def test_details_change_nothing(details):
    fields = {"details": details, "status": "success", "reason": "R", "message": "m"}
    assert parse_result(json.dumps(fields).encode()) == OK
