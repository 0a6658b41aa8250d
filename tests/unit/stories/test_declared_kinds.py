"""Objects of kinds that both the program and a catalogue watch."""

import dataclasses
from pathlib import Path

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.model.observations import WatchLost
from reporter.stories.format import START
from reporter.stories.objects import StoryObjects
from reporter.stories.runner import StoryResult
from reporter.stories.story_replay import StoryReplay
from tests.support.written_stories import read_written, run


def declaring(kind: str, current: str) -> str:
    """Return an overlay that declares a kind and has a reason about it."""
    return (
        f"overlay:\n  kinds: [{{ {kind} }}]\n"
        "  add:\n"
        "    - { reason: clusterOwn, layer: cluster, type: Warning, owner: user, rank: 900,\n"
        f"        probe: cel, parameters: {{ kind: Own, current: {current} }},\n"
        "        message: '{object}.', remedy: { default: Set it right. } }\n"
    )


DEPLOYMENT = "kind: Deployment, group: apps, version: v1, resource: deployments"
OWN = declaring(DEPLOYMENT, "object.spec.replicas > 0").replace("kind: Own", "kind: Deployment")
NAMED = declaring(f"{DEPLOYMENT}, name: Own, namespace: team-x", "object.spec.replicas > 0")
LABELED = declaring(
    f"{DEPLOYMENT}, name: Own, label-selector: app=own", "object.spec.replicas > 0"
)


def found_in(folder: Path, text: str) -> list[str]:
    """Return what is announced, each without what follows the kind of its object."""
    head = "why: Both watches have the object.\nof: [clusterReady]\nannounced: {}\n"
    result = run(folder, head + text)
    assert isinstance(result, StoryResult), result
    lines = [line for each in result.differences for line in each.lines[3:]]
    return [line.removeprefix("+").partition(" (")[0] for line in lines]


def test_the_healthy_stack_stays_healthy_with_a_pack_that_reads_the_same_kind(tmp_path: Path):
    assert found_in(tmp_path, "packs: [kaito, gateway-api]\nstory: [{ at: 1m }]\n") == []


@pytest.mark.parametrize(
    ("kind", "current", "more"),
    [
        (
            "kind: Namespace, version: v1, resource: namespaces, namespaced: false",
            'object.status.phase == "Active"',
            "",
        ),
        (
            "kind: Workspace, group: kaito.sh, version: v1beta1, resource: workspaces",
            'object.resource.instanceType == ""',
            "Workspace team-m/qwen-abc: { of: qwen }",
        ),
    ],
)
def test_an_own_reason_reads_fields_that_no_reason_of_the_program_reads(
    tmp_path: Path, kind: str, current: str, more: str
):
    overlay = declaring(kind, f"'{current}'").replace("kind: Own", kind.partition(",")[0])
    story = f"story: [{{ at: 1m, change: {{ {more} }} }}]\n"
    assert found_in(tmp_path, f"{overlay}{story}") == []
    wrong = overlay.replace("==", "!=")
    assert found_in(tmp_path, f"{wrong}{story}") != []


@pytest.mark.parametrize("overlay", [OWN, NAMED, LABELED])
def test_the_healthy_stack_stays_healthy_with_an_overlay_that_reads_deployments(
    tmp_path: Path, overlay: str
):
    assert found_in(tmp_path, f"{overlay}story: [{{ at: 1m }}]\n") == []


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("{ replicas: 0, labels: { app: own } }", id="short"),
        pytest.param(
            "{ metadata: { labels: { app: own } }, spec: { replicas: 0 } }",
            id="as the API shows it",
        ),
    ],
)
@pytest.mark.parametrize("overlay", [OWN, NAMED, LABELED])
def test_a_declared_kind_sees_every_object_that_its_selectors_match(
    tmp_path: Path, overlay: str, words: str
):
    text = f"{overlay}story: [{{ at: 1m, change: {{ Deployment team-x/own: {words} }} }}]\n"
    (line,) = found_in(tmp_path, text)
    assert "Warning clusterOwn " in line
    assert "Deployment team-x/own" in line


@pytest.mark.parametrize("overlay", [NAMED, LABELED])
def test_a_declared_kind_does_not_see_what_its_selectors_leave_out(tmp_path: Path, overlay: str):
    text = (
        f"{overlay}story: [{{ at: 1m, change: {{ Deployment team-y/own: {{ replicas: 0 }} }} }}]\n"
    )
    assert found_in(tmp_path, text) == []


@pytest.mark.parametrize("address", ["Deployment", "Own"])
def test_the_programs_own_kind_sees_the_object_by_either_name(tmp_path: Path, address: str):
    overlay = declaring(f"{DEPLOYMENT}, name: Own", "object.spec.replicas >= 0")
    change = f"{address} kaito-system/body-based-router: {{ spec: {{ replicas: 0 }} }}"
    (line,) = found_in(tmp_path, f"{overlay}story: [{{ at: 1m, change: {{ {change} }} }}]\n")
    assert "Warning clusterBBRNotReady " in line


def test_an_object_that_is_deleted_is_gone_from_every_watch(tmp_path: Path):
    overlay = declaring(DEPLOYMENT, "object.spec.replicas == 2 || object.metadata.name != 'own'")
    overlay = overlay.replace("kind: Own", "kind: Deployment")
    text = (
        f"{overlay}given: {{ change: {{ Deployment team-x/own: {{ replicas: 1 }} }} }}\n"
        "story: [{ at: 10m, change: { Deployment team-x/own: null } }]\n"
    )
    assert [line.split()[2] for line in found_in(tmp_path, text)] == ["clusterOwn", "clusterReady"]


def test_a_kind_of_another_group_leaves_the_healthy_stack_alone(tmp_path: Path):
    kind = "kind: Gateway, group: networking.istio.io, resource: gateways"
    overlay = declaring(kind, "object.spec.ok == true").replace("kind: Own", "kind: Gateway")
    assert found_in(tmp_path, f"{overlay}story: [{{ at: 1m }}]\n") == []
    change = "Gateway team-a/own: { spec: { ok: false } }"
    (line,) = found_in(tmp_path, f"{overlay}story: [{{ at: 1m, change: {{ {change} }} }}]\n")
    assert "Warning clusterOwn " in line


def test_the_state_of_a_watch_is_that_of_every_watch_of_the_resource(tmp_path: Path):
    head = "why: Both are lost.\nof: [clusterReady]\nannounced: {}\n"
    text = f"{head}{OWN}story: [{{ at: 1m, watch: {{ deployments: lost }} }}]\n"
    replay = StoryReplay(read_written(tmp_path, text).content).run()
    tables = replay.store.snapshot().tables
    for name in ("deployments", "deployments.apps/declared"):
        assert isinstance(tables[name].watch_state, WatchLost), name
    assert not isinstance(tables["pods"].watch_state, WatchLost)


def test_each_object_is_in_the_cluster_once_whatever_watches_it():
    kind = dataclasses.replace(
        DEPLOYMENTS, is_declared=True, alias="deployments.apps/Own", namespace="team-x"
    )
    changes = {"Deployment team-y/own": {"replicas": 3}, "Own team-y/own": {"labels": {"a": "b"}}}
    made = list(StoryObjects([kind]).change(changes, now=START))
    assert [address.kind for address, _ in made] == [DEPLOYMENTS, DEPLOYMENTS]
    assert made[-1][1].spec.replicas == 3
    assert dict(made[-1][1].metadata.labels) == {"a": "b"}
