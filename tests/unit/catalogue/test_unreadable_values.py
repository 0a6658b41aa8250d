"""The problems of YAML files whose keys or values cannot be read."""

import pytest


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "    rank: 10\n",
            "    rnk: 10\n",
            "cluster.yaml:6: unknown key `rnk`: did you mean `rank`?",
            id="an unknown key",
        ),
        pytest.param(
            "reasons:\n  - reason: clusterR",
            "reason: 3\nreasons:\n  - reason: clusterR",
            "cluster.yaml:1: unknown key `reason`: did you mean `reasons`?",
            id="an unknown key at the top",
        ),
        pytest.param(
            "sizes: [1, 2]",
            "size: 1",
            "cluster.yaml:8: clusterRouterNotReady: parameters: unknown key `size`: "
            "did you mean `sizes`?",
            id="an unknown parameter",
        ),
        pytest.param(
            "sizes: [1, 2]",
            "sizes: [1, two]",
            "cluster.yaml:8: clusterRouterNotReady: parameters: `sizes[1]` is `two`; "
            "it must be a whole number",
            id="a parameter of the wrong type",
        ),
        pytest.param(
            "rank: 20",
            "rank: ten",
            "cluster.yaml:19: `rank` is `ten`; it must be a whole number, 0 or more",
            id="a wrong type",
        ),
        pytest.param(
            "owner: platform",
            "owner: nobody",
            "cluster.yaml:5: `owner` is `nobody`; it must be one of user, platform, infrastructure",
            id="a word outside of its set",
        ),
        pytest.param(
            "settle: 5m",
            "settle: 5 minutes",
            "cluster.yaml:22: `settle` is `5 minutes`; "
            "it must be a duration such as 30s, 5m or 1h30m",
            id="a wrong duration",
        ),
        pytest.param(
            "settle: 5m",
            "settle: grace",
            "cluster.yaml:22: `settle` is `grace`; it must be a duration such as 30s, 5m or 1h30m",
            id="a settle of grace",
        ),
        pytest.param(
            "lost: 1m",
            "lost: 60",
            "cluster.yaml:21: `hold.lost` is `60`; "
            "it must be a duration such as 15s, 5m or 1h30m, or the word grace",
            id="a duration without unit",
        ),
        pytest.param(
            "    rank: 10\n",
            "    rank: 10\n    rank: 11\n",
            "cluster.yaml:7: duplicate key `rank`, first in line 6; remove one",
            id="a key twice",
        ),
        pytest.param(
            "    rank: 10\n",
            "    rank: [10\n",
            "cluster.yaml:7: is not YAML: did not find expected ',' or ']'",
            id="what is not YAML",
        ),
        pytest.param(
            "sizes: [1, 2]",
            "sizes: &sizes [*sizes]",
            "cluster.yaml:8: this alias contains itself; write its value out",
            id="an alias of itself",
        ),
    ],
)
def test_a_value_that_cannot_be_read_names_file_line_and_what_to_do(refused, old, new, expected):
    assert any(problem.startswith(expected) for problem in refused(old, new)), refused(old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "sizes: [1, 2]",
            "sizes: [one, 2, three]",
            [
                (
                    "cluster.yaml:8: clusterRouterNotReady: parameters: `sizes[0]` is `one`; "
                    "it must be a whole number"
                ),
                (
                    "cluster.yaml:8: clusterRouterNotReady: parameters: `sizes[2]` is `three`; "
                    "it must be a whole number"
                ),
            ],
            id="two items of a list",
        ),
        pytest.param(
            "hold: { lost: 1m, starting: grace }",
            "hold: { lost: 1, lst: 1m, starting: [] }",
            [
                (
                    "cluster.yaml:21: `hold.lost` is `1`; "
                    "it must be a duration such as 15s, 5m or 1h30m, or the word grace"
                ),
                (
                    "cluster.yaml:21: `hold.starting` is a list; "
                    "it must be a duration such as 15s, 5m or 1h30m, or the word grace"
                ),
                "cluster.yaml:21: unknown key `hold.lst`: did you mean `lost`?",
            ],
            id="three keys of a mapping",
        ),
        pytest.param(
            "{ default: Mend it., Broken: Replace it. }",
            "{ default: [], Lost: Fine., Broken: 3 }",
            [
                (
                    "cluster.yaml:10: `remedy.Broken` is `3`; "
                    "it must be a sentence of at most 300 characters"
                ),
                (
                    "cluster.yaml:10: `remedy.default` is a list; "
                    "it must be a sentence of at most 300 characters"
                ),
            ],
            id="two values of a mapping with any keys",
        ),
        pytest.param(
            "        scope: cluster\n        why: It is what the gate is made of.\n",
            "",
            [
                (
                    "cluster.yaml:12: `suppresses[0].scope` is missing: `cluster` for reasons of the "
                    "cluster layer: all subjects. `namespace` for the others: the subjects of the "
                    "same namespace"
                ),
                (
                    "cluster.yaml:12: `suppresses[0].why` is missing: "
                    "what the suppressed check lacks meanwhile"
                ),
            ],
            id="two missing keys",
        ),
        pytest.param(
            "    rank: 10\n",
            "    ? 'a - at `$.b[...].c'\n    : 1\n",
            [
                "cluster.yaml:2: clusterRouterNotReady: needs a `rank`, or `orthogonal: true`; add one",
                (
                    "cluster.yaml:6: unknown key `a - at `$.b[...].c`: "
                    "see the catalogue's README.md for what there is"
                ),
            ],
            id="a key that looks like a path in an error of msgspec",
        ),
        pytest.param(
            "    rank: 10\n",
            "    rank: 10\n    ? 'a - at `$.rank'\n    : 1\n",
            [
                (
                    "cluster.yaml:7: unknown key `a - at `$.rank`: "
                    "see the catalogue's README.md for what there is"
                ),
            ],
            id="a key that looks like the path of another in an error of msgspec",
        ),
    ],
)
def test_every_problem_of_an_entry_is_reported(refused, old, new, expected):
    assert refused(old, new) == expected
