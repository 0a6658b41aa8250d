"""
The stories of the packs that are marked as real, with the rights that the chart grants each pack.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from e2e.controlplane import ControlPlane, crds
from e2e.controlplane.manifests import Json
from e2e.scenarios.cases.chosen_cases import STORIES, slow_unless_chosen
from e2e.support.cases.case_lines import differences
from e2e.support.cases.cluster_objects import ANY_VERSION, CaseClusterObjects
from e2e.support.cases.cluster_replay import ClusterCaseReplay, line
from e2e.support.cases.slow_steps import find_delays
from e2e.support.shared_plane import SharedPlane
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.kinds.resource_kind import ResourceKind
from reporter.stories.healthy_stack import stack_before
from tests.support.pack_stories import PACKS, catalogue_of


BUILT_IN = frozenset({"", "apps"})
ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

pytestmark = pytest.mark.controlplane


@pytest.fixture(scope="module")
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    """A plane without controllers, with CRDs of the kinds that packs declare."""
    with small_plane.lent() as plane:
        made = [_crd(each) for pack in PACKS for each in _declared(pack)]
        wanted = {crds.name(each): each for each in made if each["spec"]["group"] not in BUILT_IN}
        there = plane.client.exists
        crds.install(
            plane.client,
            [each for name, each in wanted.items() if not there(f"{crds.PATH}/{name}")],
        )
        yield plane


@pytest.mark.parametrize("name", slow_unless_chosen(STORIES))
def test_announces_what_the_story_expects(plane: ControlPlane, name: str) -> None:
    story: Any = STORIES[name]
    (pack,) = story["packs"]
    objects = CaseClusterObjects(plane.client, _declared(pack), stack_before([pack]))
    try:
        written = ClusterCaseReplay(plane, objects, story, find_delays(story)).run()
    finally:
        objects.end()
    found = differences([*map(line, written)], story)
    assert not found, "\n".join([story["why"], *found, "", "written was", *map(line, written)])


@pytest.mark.parametrize("pack", PACKS)
def test_each_pack_has_a_story_that_is_replayed(pack: str) -> None:
    assert any(story["packs"] == [pack] for story in STORIES.values())


@cache
def _declared(pack: str) -> Sequence[ResourceKind]:
    return tuple(each for each in kinds_to_watch(catalogue_of(pack)) if each.is_declared)


def _crd(kind: ResourceKind) -> Json:
    """Return a CRD that takes any object, as that of KServe does for the most part."""
    version = kind.versions[0] if kind.versions else ANY_VERSION
    names = {"kind": kind.kind, "plural": kind.resource, "singular": kind.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.resource}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": "Cluster" if kind.namespaced is False else "Namespaced",
            "names": names,
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": ANYTHING},
                }
            ],
        },
    }
