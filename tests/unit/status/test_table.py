"""Tables as kubectl lays them out."""

import re
from pathlib import Path

from reporter.model.states import State
from reporter.server import static_files
from reporter.status.table import COLOURS, RESET, TextTable


HEAD = ("NAME", "STATE", "FOR")


def lines(*rows, **how) -> list[str]:
    return list(TextTable(HEAD, **how).render(rows))


def test_columns_are_as_wide_as_their_content_with_three_spaces_between():
    assert lines(("team-a", "Current", "-"), ("a", "Failed", "12m")) == [
        "NAME     STATE     FOR",
        "team-a   Current   -",
        "a        Failed    12m",
    ]


def test_an_empty_cell_is_a_dash():
    assert lines(("a", "Current", ""))[1] == "a      Current   -"


def test_rows_that_follow_have_no_head_and_keep_the_widths():
    table = TextTable(HEAD)
    first = list(table.render([("a-long-name", "Current", "-")]))
    (later,) = table.render([("a", "Failed", "1s")], with_head=False)
    assert later.index("Failed") == first[0].index("STATE")


def test_foreign_text_cannot_drive_the_terminal():
    (_, line) = lines(("\x1b[2J\x1b]0;mine\x07", "Current", "\n"))
    assert line.isprintable()
    assert line.startswith("\\x1b[2J\\x1b]0;mine\\x07   Current")


def test_the_state_alone_is_coloured_and_the_columns_stay():
    (_, plain) = lines(("Failed", "Failed", "1s"))
    (_, painted) = lines(("Failed", "Failed", "1s"), colour=True)
    colour = COLOURS[State.FAILED]
    assert painted == f"Failed   {colour}Failed{RESET}   1s"
    assert painted.replace(colour, "").replace(RESET, "") == plain


def test_every_state_has_a_colour():
    assert COLOURS.keys() == {state.word for state in State}


def test_people_read_ready_and_progressing_and_programs_the_words_of_kstatus():
    words = {state.value: state.word for state in State if state.word != state.value}
    assert words == {"Current": "Ready", "InProgress": "Progressing"}


def test_the_page_has_the_same_words():
    page = Path(static_files.__file__).parent / "page" / "status" / "states.js"
    (shown,) = re.findall(r"const WORDS = \{ (.*) \};", page.read_text("utf-8"))
    words = {state.value: state.word for state in State if state.word != state.value}
    assert shown == ", ".join(f'{value}: "{word}"' for value, word in words.items())
