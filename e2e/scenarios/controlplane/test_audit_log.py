"""The audit log is read while the API server writes it."""

from e2e.controlplane.plane import parse_complete_lines


def test_a_line_that_is_just_written_is_left_for_later() -> None:
    assert parse_complete_lines('{"verb":"get"}\n{"ver') == [{"verb": "get"}]
    assert parse_complete_lines('{"verb":"get"}\n{"verb":"list"}\n') == [
        {"verb": "get"},
        {"verb": "list"},
    ]
    assert parse_complete_lines('{"ver') == []
