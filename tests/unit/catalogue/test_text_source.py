"""The line and column of a place in a text, however it is written."""

import pytest

from reporter.catalogue.problems import Problem
from reporter.catalogue.yaml_nodes import compose


@pytest.mark.parametrize(
    "written",
    [
        "first second third",
        "'first second third'",
        '"first second third"',
        ">-\n  first second\n  third",
        "|\n  first second\n  third",
        ">-\n  first\n    second\n  third",
        ">-\n  first\n\n  second third",
        "|2-\n  first\n\n  second third",
        "first\n  second\n  third",
        "'first\n  second third'",
    ],
)
@pytest.mark.parametrize("word", ["first", "second", "third"])
def test_names_the_line_and_column_of_a_word(tmp_path, written, word):
    file = tmp_path / "a.yaml"
    file.write_text(f"before: x\nkey: {written}\nafter: y\n")
    problems: list[Problem] = []
    value = compose(file, problems).values["key"]
    lines = value.value.split("\n")
    number = next(i for i, line in enumerate(lines) if word in line)
    line, column = value.source.locate(number + 1, lines[number].index(word) + 1)
    found = file.read_text().split("\n")[line - 1]
    assert found.startswith(word, column - 1)
    assert not problems


def test_a_column_is_left_out_where_escapes_shift_it(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text('key: "a\\tb c"\n')
    assert compose(file, []).values["key"].source.locate(1, 5) == (1, 0)


def test_a_place_beyond_the_text_is_that_of_the_text(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("key: |\n  a\n")
    assert compose(file, []).values["key"].source.locate(7, 1) == (2, 0)
