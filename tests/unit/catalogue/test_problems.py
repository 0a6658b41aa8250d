import pytest

from reporter.catalogue.loader import load_catalogue
from reporter.catalogue.problems import CatalogueError


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "probe: things",
            "probe: thngs",
            "cluster.yaml:7: clusterRouterNotReady: unknown probe `thngs`: did you mean `things`?",
            id="an unknown probe",
        ),
        pytest.param(
            "name-flag: router-deployment",
            "name-flag: router-deploymnt",
            "cluster.yaml:8: clusterRouterNotReady: parameters: name-flag: unknown flag "
            "`router-deploymnt`: did you mean `router-deployment`?",
            id="a parameter that names no flag",
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
    assert len(problems) == 2
    assert [p.partition(":")[0] for p in both] == ["cluster.yaml", "over.overlay"]


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(CatalogueError, match="there is no"):
        load_catalogue(tmp_path, specs={}, flags=frozenset())
