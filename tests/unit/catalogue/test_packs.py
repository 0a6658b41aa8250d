"""Several packs as one catalogue: what fits together, and what is refused with its place."""

from pathlib import Path

import pytest

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import load_catalogue
from reporter.catalogue.overlay import find_packs
from reporter.catalogue.problems import CatalogueError
from reporter.cli.configuration import load_shipped_catalogue
from reporter.model.enums import Layer, Reason
from tests.unit.catalogue.conftest import FILES, FLAGS, SPECS


ROUTES = """\
subjects:
  - layer: modeldeployment
    kind: HTTPRoute
    about: one HTTPRoute
reasons:
  - reason: clusterPortNotReady
    layer: cluster
    type: Warning
    owner: platform
    rank: 30
    probe: things
    message: "{object} {state}."
    remedy: { default: Mend it. }
    suppresses:
      - { reason: httprouteNotAccepted, scope: cluster, why: It is what accepts routes. }
  - reason: httprouteNotAccepted
    layer: modeldeployment
    type: Warning
    owner: user
    rank: 10
    probe: things
    message: "Namespace {namespace}, HTTPRoute {httproute}: {object}."
    remedy: { default: Mend it. }
  - reason: httprouteReady
    layer: modeldeployment
    type: Normal
    owner: user
    message: "{namespace}/{httproute} is well."
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A catalogue with the packs `stack` and `routes`."""
    for pack, files in (("stack", FILES), ("routes", {"pack.yaml": ROUTES})):
        (tmp_path / "packs" / pack).mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / "packs" / pack / name).write_text(text)
    cluster = tmp_path / "packs" / "stack" / "cluster.yaml"
    reasons, _, ready = cluster.read_text().partition("  - reason: clusterReady\n")
    cluster.write_text(reasons)
    (tmp_path / "common.yaml").write_text(f"reasons:\n  - reason: clusterReady\n{ready}")
    return tmp_path


def load(folder: Path, *packs: str, overlay: str | None = None) -> Catalogue:
    over = folder / "over.overlay"
    over.write_text(overlay or "")
    return load_catalogue(
        folder, over if overlay is not None else None, specs=SPECS, flags=FLAGS, packs=packs
    )


def refusal(folder: Path, *packs: str, overlay: str | None = None) -> list[str]:
    with pytest.raises(CatalogueError) as refused:
        load(folder, *packs, overlay=overlay)
    return [str(each).replace(f"{folder}/", "") for each in refused.value.problems]


def change(folder: Path, old: str, new: str, file: str = "routes/pack.yaml") -> None:
    path = folder / "packs" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_packs_are_merged_and_each_reason_is_about_the_subjects_of_its_own(folder):
    both = load(folder, "stack", "routes")
    alone = load(folder, "stack")
    assert set(alone.entries) < set(both.entries)
    assert both["inferencesetSlow"].subject_kind == ""
    assert both["httprouteNotAccepted"].subject_kind == "HTTPRoute"
    assert both.ready_entry(Layer.MODELDEPLOYMENT, "HTTPRoute").reason == "httprouteReady"
    assert both.ready_entry(Layer.MODELDEPLOYMENT).reason == "inferencesetReady"
    assert [e.reason for e in both.evaluated_entries(Layer.MODELDEPLOYMENT)] == [
        "inferencesetSlow"
    ]
    assert [e.reason for e in both.evaluated_entries(Layer.MODELDEPLOYMENT, "HTTPRoute")] == [
        "httprouteNotAccepted"
    ]


def test_the_order_of_packs_changes_nothing(folder):
    one, other = load(folder, "stack", "routes"), load(folder, "routes", "stack")
    assert list(one.entries.items()) == list(other.entries.items())
    assert set(one.suppressions) == set(other.suppressions)
    assert one.subject_definitions == other.subject_definitions


@pytest.mark.parametrize("where", ["./", ".", "sub/..", "sub/../"])
def test_a_pack_has_the_name_of_its_folder_however_that_is_written(
    folder: Path, where: str, monkeypatch: pytest.MonkeyPatch
):
    pack = folder / "packs" / "routes"
    (pack / "sub").mkdir()
    monkeypatch.chdir(pack)
    found = find_packs(folder, [f"./{where}"], [])
    assert [each.name for each in found] == ["routes"]


def test_a_pack_may_be_any_folder(folder, tmp_path):
    mine = tmp_path / "elsewhere" / "mine"
    mine.parent.mkdir()
    (folder / "packs" / "routes").rename(mine)
    assert "httprouteReady" in load(folder, "stack", str(mine)).entries


def test_unknown_packs_are_refused_with_what_there_is_and_with_all_other_problems(folder):
    change(folder, "owner: user\n    rank: 10", "owner: nobody\n    rank: 10")
    assert refusal(folder, "stak", "routes", "/nowhere/mine") == [
        "/nowhere/mine:1: there is no such folder for a pack",
        "packs:1: there is no pack `stak`: did you mean `stack`?",
        (
            "packs/routes/pack.yaml:19: `owner` is `nobody`; "
            "it must be one of user, platform, infrastructure"
        ),
        *refusal(folder, "routes")[1:],
    ]


def test_two_folders_of_one_name_are_refused(folder, tmp_path):
    other = tmp_path / "other" / "routes"
    other.mkdir(parents=True)
    (other / "pack.yaml").write_text("subjects: []\n")
    [problem] = refusal(folder, "stack", "routes", str(other))
    assert "pack `routes` is in packs/routes already; rename one of the folders" in problem


def test_reasons_of_two_packs_with_one_name_are_refused_with_both_places(folder):
    change(folder, "reason: clusterPortNotReady", "reason: clusterScalerNotReady")
    found = refusal(folder, "stack", "routes")
    assert (
        "packs/routes/pack.yaml:6: clusterScalerNotReady: this reason is defined at "
        f"{folder}/packs/stack/cluster.yaml:15 already; remove one of the two"
    ) in [each.replace("at packs", f"at {folder}/packs") for each in found]


def test_ranks_are_unique_in_the_cluster_layer_and_among_reasons_of_one_kind(folder):
    change(folder, "rank: 30", "rank: 20")
    [problem] = refusal(folder, "stack", "routes")
    assert problem.startswith(
        (
            (
                "packs/stack/cluster.yaml:19: clusterScalerNotReady: rank 20 is taken by "
                "clusterPortNotReady"
            ),
            "packs/routes/pack.yaml:10: clusterPortNotReady: rank 20 is taken by clusterScalerNotReady",
        )
    )


def test_a_cycle_across_packs_is_refused_at_a_row_of_it(folder):
    change(
        folder,
        "{ reason: httprouteNotAccepted, scope",
        "{ reason: clusterRouterNotReady, scope: cluster, why: Test. }\n"
        "      - { reason: httprouteNotAccepted, scope",
    )
    row = "{ reason: clusterPortNotReady, scope: cluster, why: Test. }"
    change(folder, "    suppresses:\n", f"    suppresses:\n      - {row}\n", "stack/cluster.yaml")
    assert refusal(folder, "stack", "routes") == [
        (
            "packs/routes/pack.yaml:15: clusterPortNotReady: suppresses: a cycle: "
            "clusterPortNotReady > clusterRouterNotReady > clusterPortNotReady; "
            "remove one of its rows"
        )
    ]


def test_a_row_to_a_reason_of_a_pack_that_is_not_loaded_is_refused(folder):
    change(folder, "reason: httprouteNotAccepted, scope", "reason: inferencesetSlow, scope")
    assert "unknown reason `inferencesetSlow`" in refusal(folder, "routes")[0]
    assert "inferencesetSlow" in load(folder, "routes", "stack").entries


def test_an_overlay_changes_reasons_of_every_pack_and_adds_to_any_kind_of_subject(folder):
    overlay = """
reasons: { httprouteNotAccepted: { rank: 70 } }
add:
  - reason: httprouteSlow
    layer: modeldeployment
    subject: HTTPRoute
    type: Warning
    owner: user
    rank: 80
    probe: things
    message: "{namespace} {httproute}: {object}."
    remedy: { default: Wait. }
"""
    made = load(folder, "stack", "routes", overlay=overlay)
    assert made["httprouteNotAccepted"].rank == 70
    assert made[Reason("httprouteSlow")].subject_kind == "HTTPRoute"


def test_a_reason_without_a_subject_belongs_to_the_plain_kind_of_its_layer(folder):
    overlay = """
add:
  - reason: inferencesetOdd
    layer: modeldeployment
    type: Warning
    owner: user
    rank: 80
    probe: things
    message: "{namespace} {inferenceset}: {object}."
    remedy: { default: Wait. }
"""
    made = load(folder, "stack", "routes", overlay=overlay)
    assert made[Reason("inferencesetOdd")].subject_kind == ""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "    layer: modeldeployment\n    type: Warning",
            "    layer: modeldeployment\n    subject: Gateway\n    type: Warning",
            (
                "packs/routes/pack.yaml:18: httprouteNotAccepted: subject: no pack makes subjects of "
                "layer modeldeployment of kind `Gateway`: known are HTTPRoute, InferenceSet"
            ),
        ),
        (
            "reason: httprouteNotAccepted\n    layer: modeldeployment",
            "reason: inferencesetNotAccepted\n    layer: modeldeployment",
            (
                "packs/routes/pack.yaml:16: inferencesetNotAccepted: reasons of layer "
                "modeldeployment begin with `httproute`; rename it"
            ),
        ),
        (
            "HTTPRoute {httproute}: {object}.",
            "HTTPRoute {inferenceset}: {object}.",
            (
                "packs/routes/pack.yaml:22: httprouteNotAccepted: message: must name its subject; "
                "add {httproute}"
            ),
        ),
    ],
)
def test_a_reason_that_does_not_fit_its_subjects_is_refused(folder, old, new, expected):
    change(folder, old, new)
    assert expected in refusal(folder, "stack", "routes")


def test_an_overlay_changes_one_value_for_expressions_and_the_others_stay(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "reasons:\n"
        "  inferenceservicePodsFailing: { parameters: { parameters: { more: 2, hard: [Bad] } } }\n"
    )
    reason = Reason("inferenceservicePodsFailing")
    before = load_shipped_catalogue(packs=["kserve"])[reason].parameters
    after = load_shipped_catalogue(overlay, packs=["kserve"])[reason].parameters
    assert before.parameters
    assert after.parameters == {**before.parameters, "more": 2, "hard": ["Bad"]}
    assert after.expressions == before.expressions
