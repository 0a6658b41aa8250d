"""The problems of suppression rows: unknown reasons, wrong directions and cycles."""

import pytest


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
            "reason: modelharnessGateNotReady\n        scope",
            "reason: modelharnessGatNotReady\n        scope",
            "cluster.yaml:12: clusterRouterNotReady: suppresses: unknown reason "
            "`modelharnessGatNotReady`: did you mean `modelharnessGateNotReady`?",
            id="an unknown reason",
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
            GATE_ROW,
            GATE_ROW.replace("reason: modelharnessGateNotReady", "crd-of: false"),
            "cluster.yaml:12: clusterRouterNotReady: suppresses: a row names a `reason`, or has "
            "`crd-of: true`; write one of the two",
            id="a row that names nothing",
        ),
    ],
)
def test_a_bad_suppression_names_file_line_and_what_to_do(refused, old, new, expected):
    assert any(problem.startswith(expected) for problem in refused(old, new)), refused(old, new)


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
