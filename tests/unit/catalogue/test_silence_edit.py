"""Silences that are added to the text of a file, and taken out of it."""

from pathlib import Path

import pytest

from reporter.catalogue.silence_edit import with_silence, without_silences
from reporter.catalogue.silence_file import parse_silence_file


KEDA = {"until": "2099-01-01T00:00:00Z", "why": "upgrade", "reasons": ["clusterKedaNotReady"]}
FILE = """\
# known trouble
silences:
  # ticket 7
  - namespace: team-m
    reasons: [all]
    until: 2099-01-01
    why: |
      the weights
      move
  - reasons:
      - clusterBBRNotReady   # the router
    until: 2099-02-01T00:00:00Z
# the end
"""


def reasons(text: str) -> list[tuple[str, ...]]:
    found = parse_silence_file(text, Path("silences.yaml"))
    assert not found.problem
    assert not any(each.problem for each in found.silences)
    return [each.reasons for each in found.silences]


def test_an_entry_is_added_at_the_end_beside_the_comments():
    text = with_silence(FILE, KEDA)
    assert reasons(text) == [("all",), ("clusterBBRNotReady",), ("clusterKedaNotReady",)]
    assert [line for line in FILE.splitlines() if line not in text.splitlines()] == []
    assert text.splitlines()[-1] == "# the end"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "silences: []\n",
        "silences:\n",
        "# nothing\n",
        "# ask platform\nsilences: []  # none\n# the end",
        "# ask platform\n---\n{silences: []}\n",
        "--- {silences: []}\n",
    ],
)
def test_the_first_entry_makes_the_list(text: str):
    edited = with_silence(text, KEDA)
    assert reasons(edited) == [("clusterKedaNotReady",)]
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in edited.splitlines() if line.startswith("#")] == comments


def test_a_list_on_one_line_is_written_anew():
    text = (
        '# ours\nsilences: [{reasons: [all], namespace: team-m, until: "2099-01-01"}]\n# the end\n'
    )
    added, removed = with_silence(text, KEDA), without_silences(text, [0])
    assert reasons(added) == [("all",), ("clusterKedaNotReady",)]
    assert (added[:7], added[-10:]) == ("# ours\n", "# the end\n")
    assert removed == "# ours\nsilences: []\n# the end\n"


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ([0], [("clusterBBRNotReady",)]),
        ([1], [("all",)]),
        ([0, 1], []),
        ([], [("all",), ("clusterBBRNotReady",)]),
    ],
)
def test_entries_are_taken_out_and_the_others_stay(places: list[int], left: list):
    text = without_silences(FILE, places)
    assert reasons(text) == left
    assert "# known trouble" in text
    assert text.splitlines()[-1] == "# the end"


def test_what_is_added_and_taken_out_leaves_the_text_as_it_was():
    assert without_silences(with_silence(FILE, KEDA), [2]) == FILE


def test_a_silence_without_indentation_is_followed_by_another_one():
    text = "silences:\n- reasons: [clusterBBRNotReady]\n  until: 2099-01-01"
    assert reasons(with_silence(text, KEDA)) == [
        ("clusterBBRNotReady",),
        ("clusterKedaNotReady",),
    ]


def test_an_entry_that_cannot_be_read_stays_as_it_is():
    text = with_silence("silences:\n  - reason: x\n    until: soon\n", KEDA)
    first, second = parse_silence_file(text, Path("silences.yaml")).silences
    assert first.problem
    assert "reason: x" in text
    assert (second.reasons, second.problem) == (("clusterKedaNotReady",), "")


MALFORMED = """\
silences: [{reasons: [all], until: 2099-01-01, by: 12345}, {reasons: [all], until: 2099-01-01, by: yes},
  {reasons: [all], until: 2099-01-01, why: ~}, {reasons: !!int "", until: 2099-01-01},
  {reasons: [all], until: 2099-02-30}, &own {reasons: [clusterBBRNotReady], until: 2099-01-01, by: '1'},
  {<<: *own, namespace: team-m}]
"""


def test_an_edit_puts_no_other_entry_into_effect():
    before = parse_silence_file(MALFORMED, Path("silences.yaml")).silences
    assert [bool(each.problem) for each in before] == [True] * 5 + [False] * 2
    text = with_silence(MALFORMED, KEDA)
    *others, added = parse_silence_file(text, Path("silences.yaml")).silences
    assert [bool(each.problem) for each in others] == [True] * 5 + [False] * 2
    assert (others[5].by, others[6].namespace) == ("1", "team-m")
    assert (added.reasons, added.problem) == (("clusterKedaNotReady",), "")
    left = parse_silence_file(without_silences(text, [5]), Path("silences.yaml")).silences
    assert [bool(each.problem) for each in left] == [True] * 5 + [False] * 2
    assert left[5].reasons == ("clusterBBRNotReady",)
