"""A file with mistakes of several kinds: none hides another."""

from collections.abc import Callable

import pytest


Refused = Callable[..., list[str]]


def has(problems: list[str], *expected: str) -> bool:
    return all(any(each in problem for problem in problems) for each in expected)


def test_an_unknown_key_at_the_top_hides_nothing_below_it(refused: Refused):
    problems = refused(
        overlay="reason: {}\nreasons: { clusterX: {} }\nadd: [{ layer: cluster }]\n"
    )
    assert has(problems, "unknown key `reason`", "unknown reason `clusterX`", "is missing")
    problems = refused("reasons:\n  - reason: clusterR", "more: 1\nreasons:\n  - reason: clusterR")
    assert has(problems, "unknown key `more`")
    problems = refused("    rank: 10\n", "    rank: 20\n", overlay="more: 1\n")
    assert has(problems, "unknown key `more`", "rank 20 is taken by")


@pytest.mark.parametrize(
    "wrong",
    ["rnk: 1\n    rank: 20", "rank: 20\n    settle: soon", "rank: 20\n    meaning: 3"],
    ids=["an unknown key", "a duration", "a text"],
)
def test_a_wrong_key_of_an_entry_hides_no_problem_of_the_others(refused: Refused, wrong: str):
    problems = refused("    rank: 10\n", f"    {wrong}\n")
    assert len(problems) == 2
    assert has(problems, "rank 20 is taken by")


def test_a_wrong_rank_is_not_said_to_be_missing(refused: Refused):
    assert len(refused("    rank: 10\n", "    rank: ten\n")) == 1


def test_an_unknown_probe_hides_no_clash_of_ranks(refused: Refused):
    problems = refused("    rank: 10\n    probe: things", "    rank: 20\n    probe: thing")
    assert has(problems, "unknown probe `thing`", "rank 20 is taken by")
    assert not any("unknown field" in problem for problem in problems)


def test_wrong_parameters_hide_no_wrong_message(refused: Refused):
    problems = refused(
        'sizes: [1, 2] }\n    message: "{object} {state}."',
        'sizes: [one] }\n    message: "{objekt}."',
    )
    assert has(problems, "`sizes[0]` is `one`", "unknown field `{objekt}`")


def test_a_wrong_key_of_a_change_hides_no_consequence_of_the_others(refused: Refused):
    problems = refused(overlay="reasons: { clusterRouterNotReady: { rank: 20, hol: 1 } }")
    assert has(problems, "unknown key `hol`", "rank 20 is taken by")
