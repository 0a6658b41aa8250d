"""The file of silences: each entry counts by itself, and only if it is plain."""

import os
import threading
from pathlib import Path

import pytest

from reporter.catalogue.silence_file import read_silence_file
from reporter.model.silences import SilenceFile, SilenceText


@pytest.fixture
def reading(tmp_path: Path):
    def read(text: str | bytes) -> SilenceFile:
        path = tmp_path / "silences.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_silence_file(path)

    return read


def test_entries_are_read_with_their_lines(reading):
    found = reading(
        "silences:\n- namespace: team-m\n  inferenceset: qwen\n  reasons: [a, b]\n"
        "  until: '2026-12-01T00:00:00Z'\n  why: moved\n  by: alice\n"
        "- { reasons: [all], until: 2026-12-01 }\n"
    )
    assert found.problem == ""
    assert found.silences == (
        SilenceText(
            "silences.yaml:2",
            "team-m",
            "qwen",
            ("a", "b"),
            "2026-12-01T00:00:00Z",
            "moved",
            "alice",
        ),
        SilenceText("silences.yaml:8", reasons=("all",), until="2026-12-01"),
    )


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("2026-12-01T00:00:00Z", "2026-12-01T00:00:00+00:00"),
        ("2026-12-01T00:00:00+02:00", "2026-12-01T00:00:00+02:00"),
        ("2026-12-01 00:00:00", "2026-12-01T00:00:00"),
        ("5", "5"),
        ("", ""),
    ],
)
def test_a_time_of_yaml_keeps_its_zone(reading, written, text):
    (found,) = reading(f"silences: [{{ reasons: [a], until: {written} }}]").silences
    assert found.until == text


def test_one_entry_that_is_wrong_hides_no_other(reading):
    found = reading(
        "silences:\n"
        "- { namespace: team-m, reason: a, until: 2026-12-01 }\n"
        "- { reasons: a, until: 2026-12-01 }\n"
        "- 7\n"
        "- { namespace: '', reasons: [a], until: 2026-12-01 }\n"
        "- { reasons: [a], until: 2026-12-01 }\n"
    )
    *wrong, right = found.silences
    assert (wrong[0].namespace, right.problem) == ("team-m", "")
    assert [each.origin for each in wrong] == [f"silences.yaml:{line}" for line in (2, 3, 4, 5)]
    assert "unknown key `reason`" in wrong[0].problem
    assert "`reasons` is `a`; it must be a list" in wrong[1].problem
    assert all(each.problem for each in wrong)


@pytest.mark.parametrize(
    "text",
    [
        "silences: [",
        "silences: 7",
        "silence: []",
        "- a",
        "silences: []\nsilences: [{ reasons: [a], until: 2026-12-01 }]",
        b"silences: [\xff]",
        "silences: 2026-11-31T00:00:00Z",
        "silences: [{ reasons: [a], until: 2026-11-31, why: a, why: b }]",
        "silences: [&self [*self]]",
    ],
    ids=repr,
)
def test_a_file_that_is_wrong_as_a_whole_silences_nothing(reading, text):
    found = reading(text)
    assert found.problem
    assert found.silences == ()


@pytest.mark.parametrize(
    "value",
    [
        "until: 2026-11-31T00:00:00Z",
        "until: !!timestamp soon",
        "until: !!int ''",
        "until: !!bool maybe",
        "until: !end 2026-12-01",
        "until: 2026-12-01, why: =",
        "until: 2026-12-01, more: { than: [2026-02-30] }",
    ],
)
def test_a_value_that_is_none_of_yaml_hides_no_other_entry(reading, value):
    found = reading(
        "silences:\n"
        "- { reasons: [a], until: 2026-12-01 }\n"
        f"- {{ namespace: team-m, reasons: [a], {value} }}\n"
    )
    right, wrong = found.silences
    assert (found.problem, right.problem, right.until) == ("", "", "2026-12-01")
    assert (wrong.origin, wrong.namespace) == ("silences.yaml:3", "team-m")
    assert wrong.problem.startswith("line 3: `")
    assert wrong.problem.endswith("; quote it if it is text")


@pytest.mark.parametrize("text", ["", "# none yet", "silences: []", "{}"])
def test_an_empty_file_has_none(reading, text):
    found = reading(text)
    assert (found.silences, found.problem, found.exists) == ((), "", True)


def test_a_file_that_does_not_exist_has_none_and_says_so(tmp_path):
    found = read_silence_file(tmp_path / "none.yaml")
    assert (found.silences, found.problem, found.exists) == ((), "", False)


def test_a_file_that_may_not_be_looked_at_is_not_missing(tmp_path):
    file = tmp_path / "a file"
    file.touch()
    found = read_silence_file(file / "silences.yaml")
    assert found.exists
    assert "cannot be read: Not a directory" in found.problem


def test_a_folder_is_no_file(tmp_path):
    assert read_silence_file(tmp_path).problem


def test_a_fifo_is_no_file(tmp_path):
    path, found = tmp_path / "silences.yaml", []
    os.mkfifo(path)
    # A thread, as nothing else ends a call that blocks.
    reading = threading.Thread(target=lambda: found.append(read_silence_file(path)), daemon=True)
    reading.start()
    reading.join(60)
    assert [each.problem for each in found] == ["line 1: cannot be read: it is not a regular file"]
