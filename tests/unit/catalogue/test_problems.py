import pytest

from reporter.catalogue.loader import load_catalogue
from reporter.catalogue.problems import CatalogueError


ROUTER = "  - reason: clusterRouterNotReady\n"
GATE_ROW = """
    suppresses:
      - reason: modelharnessGateNotReady
        scope: cluster
        why: It is what the gate is made of.
"""


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
            "reason: modelharnessGateNotReady\n        scope",
            "reason: modelharnessGatNotReady\n        scope",
            "cluster.yaml:12: clusterRouterNotReady: suppresses: unknown reason "
            "`modelharnessGatNotReady`: did you mean `modelharnessGateNotReady`?",
            id="an unknown reason",
        ),
        pytest.param(
            "probe: things",
            "probe: thngs",
            "cluster.yaml:7: clusterRouterNotReady: unknown probe `thngs`: did you mean `things`?",
            id="an unknown probe",
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
            "name-flag: router-deployment",
            "name-flag: router-deploymnt",
            "cluster.yaml:8: clusterRouterNotReady: parameters: name-flag: unknown flag "
            "`router-deploymnt`: did you mean `router-deployment`?",
            id="a parameter that names no flag",
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
            "reason: clusterScalerNotReady",
            "reason: clusterRouterNotReady",
            "cluster.yaml:15: clusterRouterNotReady: this reason is defined at",
            id="a reason twice",
        ),
        pytest.param(
            "    rank: 20\n    probe: things\n    hold",
            "    rank: 10\n    probe: things\n    hold",
            "cluster.yaml:19: clusterScalerNotReady: rank 10 is taken by clusterRouterNotReady",
            id="a rank twice",
        ),
        pytest.param(
            "    rank: 20\n    probe: things\n    hold",
            "    rank: 20\n    orthogonal: true\n    probe: things\n    hold",
            "cluster.yaml:20: clusterScalerNotReady: has a rank and is orthogonal",
            id="both a rank and orthogonal",
        ),
        pytest.param(
            "    rank: 20\n    probe: things\n    hold",
            "    probe: things\n    hold",
            "cluster.yaml:15: clusterScalerNotReady: needs a `rank`, or `orthogonal: true`",
            id="neither a rank nor orthogonal",
        ),
        pytest.param(
            "        why: It is what the gate is made of.\n",
            "",
            "cluster.yaml:12: `suppresses[0].why` is missing: "
            "what the suppressed check lacks meanwhile",
            id="a suppression without why",
        ),
        pytest.param(
            "        scope: cluster\n",
            "        scope: namespace\n",
            "cluster.yaml:12: clusterRouterNotReady: suppresses: a reason of the cluster has no "
            "namespace; write `scope: cluster`",
            id="a namespace of the cluster",
        ),
        pytest.param(
            "reason: modelharnessGateNotReady\n        scope",
            "reason: clusterRouterNotReady\n        scope",
            "cluster.yaml:12: clusterRouterNotReady: suppresses: a reason cannot suppress itself",
            id="a suppression of itself",
        ),
        pytest.param(
            "reason: modelharnessGateNotReady\n        scope",
            "reason: modelharnessReady\n        scope",
            "cluster.yaml:12: clusterRouterNotReady: suppresses: modelharnessReady is Normal",
            id="a suppression of a Ready",
        ),
        pytest.param(
            "    remedy: { default: Mend it. }\n  - reason: modelharnessDoorNotReady\n",
            "    remedy: { default: Mend it. }\n    suppresses:\n"
            "      - { reason: clusterScalerNotReady, scope: namespace, why: No. }\n"
            "  - reason: modelharnessDoorNotReady\n",
            "modelharness.yaml:11: modelharnessGateNotReady: suppresses: clusterScalerNotReady "
            "belongs to the higher layer cluster; remove the row",
            id="a suppression upwards",
        ),
        pytest.param(
            'message: "{object} {state}."\n    remedy: { default: Mend it., B',
            'message: "{object} {stat}."\n    remedy: { default: Mend it., B',
            "cluster.yaml:9: clusterRouterNotReady: message: unknown field `{stat}`: "
            "did you mean `state`?",
            id="a message that names an unknown field",
        ),
        pytest.param(
            'message: "{object} {state}."\n    remedy: { default: Mend it., B',
            'message: "{object.name} {state}."\n    remedy: { default: Mend it., B',
            "cluster.yaml:9: clusterRouterNotReady: message: `{object.name}` must be a plain name "
            "in braces, such as {object}",
            id="a message that looks into a field",
        ),
        pytest.param(
            '"{namespace}: it is closed."',
            '"It is closed."',
            "modelharness.yaml:16: modelharnessDoorNotReady: message: must name its subject; "
            "add {namespace}",
            id="a message without its namespace",
        ),
        pytest.param(
            "Broken: Replace it.",
            "Brokn: Replace it.",
            "cluster.yaml:10: clusterRouterNotReady: remedy: unknown code `Brokn`: "
            "did you mean `Broken`?",
            id="a remedy for an unknown code",
        ),
        pytest.param(
            "default: Mend it., Broken",
            "Broken",
            "cluster.yaml:10: clusterRouterNotReady: remedy: `default` is missing",
            id="no remedy by default",
        ),
        pytest.param(
            "default: Mend it., Broken",
            "default: See https://example.test., Broken",
            "cluster.yaml:10: clusterRouterNotReady: remedy.default: an Event must not contain a URL",
            id="a URL",
        ),
        pytest.param(
            "    type: Normal\n    owner: platform\n    message: All is well.",
            "    type: Warning\n    owner: platform\n    rank: 90\n    probe: things\n"
            "    remedy: { default: Wait. }\n    message: All is well.",
            "cluster.yaml:1: layer cluster has no reason of type Normal",
            id="a layer without Ready",
        ),
        pytest.param(
            "    message: All is well.\n",
            "    message: All is well.\n  - reason: clusterFine\n    layer: cluster\n"
            "    type: Normal\n    owner: user\n    message: Fine.\n",
            "cluster.yaml:32: clusterFine: clusterReady is the Normal reason of layer cluster",
            id="a layer with two Ready",
        ),
        pytest.param(
            "    message: All is well.\n",
            "    message: All is well.\n    probe: things\n",
            "cluster.yaml:30: clusterReady: a Normal reason has no probe and no `probe`; "
            "remove it",
            id="a Ready with a probe",
        ),
        pytest.param(
            "    rank: 20\n    probe: things\n    hold",
            "    rank: 20\n    hold",
            "cluster.yaml:15: clusterScalerNotReady: a Warning needs a `probe`",
            id="a Warning without a probe",
        ),
        pytest.param(
            "reason: clusterScalerNotReady",
            "reason: scalerNotReady",
            "cluster.yaml:15: scalerNotReady: reasons of layer cluster begin with `cluster`",
            id="a name without its layer",
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
        pytest.param(
            GATE_ROW,
            GATE_ROW.replace("reason: modelharnessGateNotReady", "crd-of: false"),
            "cluster.yaml:12: clusterRouterNotReady: suppresses: a row names a `reason`, or has "
            "`crd-of: true`; write one of the two",
            id="a row that names nothing",
        ),
    ],
)
def test_an_error_names_file_line_and_what_to_do(refused, old, new, expected):
    assert any(problem.startswith(expected) for problem in refused(old, new)), refused(old, new)


def test_all_problems_are_reported_at_once_in_the_order_of_the_files(refused):
    problems = refused("rank: 10\n    probe: things", "rank: x\n    probe: thngs")
    both = refused(
        "rank: 20\n    probe: things",
        "rank: x\n    probe: things",
        overlay="reasons: { clusterRady: {} }",
    )
    assert len(problems) == 1
    assert [p.partition(":")[0] for p in both] == ["cluster.yaml", "over.overlay"]


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
            ["cluster.yaml:2: Object contains unknown field `a - at `$.b[...].c`"],
            id="a key that looks like a path",
        ),
        pytest.param(
            "    rank: 10\n",
            "    ? 'a - at `$.suppresses.b'\n    : 1\n",
            ["cluster.yaml:2: Object contains unknown field `a - at `$.suppresses.b`"],
            id="a key that looks like a path into a list",
        ),
        pytest.param(
            "    rank: 10\n",
            "    rank: 10\n    ? 'a - at `$.rank'\n    : 1\n",
            [
                "cluster.yaml:2: Object contains unknown field `a - at `$.rank`",
                "cluster.yaml:6: `rank` is `10`; it must be a whole number, 0 or more",
            ],
            id="a key that looks like the path of another",
        ),
    ],
)
def test_every_problem_of_an_entry_is_reported(refused, old, new, expected):
    assert refused(old, new) == expected


def test_a_cycle_is_reported_once_with_its_path(refused):
    back = (
        "    settle: 5m\n    suppresses:\n"
        "      - { reason: clusterRouterNotReady, scope: cluster, why: Round. }\n"
    )
    there = (
        "add:\n  - reason: clusterMeshNotReady\n    layer: cluster\n    type: Warning\n"
        "    owner: platform\n    rank: 30\n    probe: things\n    message: '{object}'\n"
        "    remedy: { default: Mend it. }\n    suppresses:\n"
        "      - { reason: clusterScalerNotReady, scope: cluster, why: Round. }\n"
        "      - { reason: clusterMirrorNotReady, scope: cluster, why: Round. }\n"
        "  - reason: clusterMirrorNotReady\n    layer: cluster\n    type: Warning\n"
        "    owner: platform\n    rank: 40\n    probe: things\n    message: '{object}'\n"
        "    remedy: { default: Mend it. }\n    suppresses:\n"
        "      - { reason: clusterMeshNotReady, scope: cluster, why: Round. }\n"
    )
    expected = (
        "over.overlay:12: clusterMeshNotReady: suppresses: a cycle: clusterMeshNotReady > "
        "clusterMirrorNotReady > clusterMeshNotReady; remove one of its rows"
    )
    assert refused("    settle: 5m\n", back, overlay=there) == [expected]


def test_only_one_reason_has_the_row_of_missing_crds(refused):
    row = "      - { crd-of: true, scope: cluster, why: Nothing to read. }\n"
    problems = refused(GATE_ROW, f"\n    suppresses:\n{row}{row}")
    expected = (
        "cluster.yaml:13: clusterRouterNotReady: suppresses: clusterRouterNotReady has "
        "`crd-of: true` already; remove this row"
    )
    assert problems == [expected]


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(CatalogueError, match="there is no"):
        load_catalogue(tmp_path, specs={}, flags=frozenset())
