"""
Files with thousands of problems: each is reported once, in one reading of its part.

A reader that read the file again for each problem would not end.
"""

from collections.abc import Callable

import msgspec
import pytest

from reporter.catalogue.problems import MAX_COMPARED_NAMES, Place, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, Items, Scalar
from reporter.catalogue.yaml_reader import read


MANY = 2000
PLACE = Place("cluster.yaml", 1)
REASON = """\
  - reason: clusterPart{name}NotReady
    layer: cluster
    type: Warning
    owner: platform
    rank: {rank}
    probe: things
    message: "{{object}}"
    remedy: {{ default: Mend it. }}
    suppresses: [{{ reason: {target}, scope: cluster, why: Test. }}]
"""


def letters(number: int) -> str:
    """Write a number in letters, as names of reasons have no digits."""
    return "".join(chr(ord("A") + int(digit)) for digit in str(number))


def reasons(targets: list[str]) -> str:
    """Return an overlay that adds a reason for each target, which it suppresses."""
    return "add:\n" + "".join(
        REASON.format(name=letters(i), rank=1000 + i, target=target)
        for i, target in enumerate(targets)
    )


def reason(number: int) -> str:
    return f"clusterPart{letters(number)}NotReady"


@pytest.mark.parametrize(
    ("old", "new", "expected", "count"),
    [
        pytest.param(
            "sizes: [1, 2]",
            f"sizes: [{', '.join(['one'] * MANY)}]",
            "cluster.yaml:8: clusterRouterNotReady: parameters: `sizes[",
            MANY,
            id="items of a list",
        ),
        pytest.param(
            "Broken: Replace it.",
            ", ".join(f"Broken{i}: []" for i in range(MANY)),
            "cluster.yaml:10: `remedy.Broken",
            MANY,
            id="values of a mapping",
        ),
        pytest.param(
            "    rank: 10\n",
            "    rank: 10\n" + "".join(f"    rank{i}: 1\n" for i in range(MANY)),
            ": unknown key `rank",
            MANY,
            id="unknown keys",
        ),
        pytest.param(
            "reasons:\n",
            "reasons:\n" + "  - none\n" * MANY,
            "]` is `none`; it must be a mapping",
            MANY,
            id="entries that are no mappings",
        ),
        pytest.param(
            "reasons:\n",
            "reasons:\n" + "  - { reason: clusterRouterNotReady }\n" * MANY,
            "` is missing: ",
            4 * MANY,
            id="entries without keys",
        ),
    ],
)
def test_each_of_thousands_of_problems_is_reported(
    refused: Callable[..., list[str]], old: str, new: str, expected: str, count: int
):
    assert sum(expected in problem for problem in refused(old, new)) == count


def test_each_of_thousands_of_unknown_reasons_is_reported(refused: Callable[..., list[str]]):
    problems = refused(overlay=reasons([f"{reason(i)}X" for i in range(MANY)]))
    assert len(problems) == MANY
    changed = refused(
        overlay=f"reasons: {{ {', '.join(f'{reason(i)}: {{}}' for i in range(MANY))} }}"
    )
    assert len(changed) == MANY


def test_each_of_thousands_of_cycles_is_reported(refused: Callable[..., list[str]]):
    problems = refused(overlay=reasons([reason(i ^ 1) for i in range(MANY)]))
    assert len(problems) == MANY // 2
    assert all("a cycle" in problem for problem in problems)


def test_a_long_chain_of_suppressions_has_no_cycle(loading: Callable[..., object]):
    last = "clusterScalerNotReady"
    loading(overlay=reasons([*(reason(i) for i in range(1, MANY)), last]))


class Numbers(msgspec.Struct):
    numbers: list[int]


class CountedText(Scalar, frozen=True, kw_only=True):
    """A text that counts how often it is read."""

    reads: list[str]

    def __getattribute__(self, name: str) -> object:
        if name == "value":
            self.reads.append(name)
        return super().__getattribute__(name)


def test_reads_of_a_part_do_not_grow_with_the_number_of_problems():
    reads: list[str] = []
    problems: list[Problem] = []
    texts = Items(PLACE, tuple(CountedText(PLACE, "one", reads=reads) for _ in range(MANY)))
    assert read(Fields(PLACE, {"numbers": texts}), Numbers, problems) is None
    assert len(problems) == MANY
    assert len(reads) <= 5 * MANY


def test_no_similar_name_is_looked_for_among_too_many():
    names = [f"clusterPart{letters(i)}" for i in range(MAX_COMPARED_NAMES)]
    assert suggest_name("clusterPartAx", [*names[1:], "clusterPartA"]).startswith("did you mean")
    assert suggest_name("clusterPartAx", [*names, "clusterPartA"]).startswith("see the catalogue")
