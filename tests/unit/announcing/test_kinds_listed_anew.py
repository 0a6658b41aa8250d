"""
Episodes of subjects whose objects are listed anew, because another catalogue reads more of them.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from reporter.announcing.episodes import keep_episodes
from reporter.catalogue.entries import Catalogue
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.evaluation.catalogue_change import change_catalogue
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import NotServed, NotSynced, Watching
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.store import Store
from reporter.stories.process import ReplayedProcess
from tests.support.catalogue_fixture import DEFAULT_FLAGS


INVALID, READY = "inferenceserviceSpecInvalid", "inferenceserviceReady"
CONDITIONS = [{"type": each, "status": "True"} for each in ("IngressReady", "PredictorReady")]
OTHER_FIELD = """\
reasons:
  inferenceserviceSpecInvalid:
    parameters:
      current: object.?status.?modelStatus.?transitionStatus.orValue("") != object.?spec.?wrong.orValue("InvalidSpec")
"""


def a_controller(kinds: Iterable[ResourceKind]) -> tuple[ResourceKind, ApiObject]:
    """Return the Deployment that InferenceServices need, with its kind."""
    kind = next(each for each in kinds if "kserve-controller" in each.field_selector)
    meta = {"name": "kserve-controller-manager", "namespace": "kserve"}
    found = msgspec.convert({"metadata": meta, "status": {"availableReplicas": 1}}, kind.type)
    return kind, found


class PackedProcess(ReplayedProcess):
    """A process with the pack kserve, in which one InferenceService was announced as invalid."""

    def __init__(self) -> None:
        catalogue = load_shipped_catalogue(packs=["kserve"])
        super().__init__(catalogue, subjects=ALL_LAYERS)
        self.store = Store(kinds_to_watch(catalogue), subjects=catalogue.subject_definitions)
        self.evaluator = Evaluator(catalogue, PROBES, DEFAULT_FLAGS, self.settings)
        self.list_models("InvalidSpec")
        self.store.upsert(*a_controller(self.store.kinds))
        for kind in self.store.kinds:
            self.store.set_watch_state(kind, Watching())
        self.run_pass().advance(60)
        assert self.reasons == [INVALID]

    @property
    def kind(self) -> ResourceKind:
        return next(each for each in self.store.kinds if each.kind == "InferenceService")

    @property
    def reasons(self) -> list[str]:
        """Return the reasons of the Events that were created."""
        return [each.key.reason for each in self.writes if each.count == 1]

    def list_models(self, state: str, name: str = "chat") -> None:
        meta = {"name": name, "namespace": "team-a", "uid": "u"}
        status = {"modelStatus": {"transitionStatus": state}, "conditions": CONDITIONS}
        content = {"metadata": meta, "status": status}
        found = msgspec.convert(content, self.kind.type)
        self.store.replace(self.kind, [found])
        self.store.set_watch_state(self.kind, Watching())

    def change(self, after: Catalogue) -> None:
        self.store.prepare_kinds(
            kinds_to_watch(after), crds_to_track(after), after.subject_definitions
        )()
        self.catalogue = after
        self.evaluator = Evaluator(after, PROBES, DEFAULT_FLAGS, self.settings)
        self.evaluation = change_catalogue(self.evaluation, after, self.settings)
        self.announcement_state = keep_episodes(self.announcement_state, after, self.settings)
        self.run_pass()


@pytest.fixture
def process(tmp_path: Path) -> PackedProcess:
    """A process that changes to another catalogue, whose list is under way."""
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(OTHER_FIELD)
    changed = PackedProcess()
    changed.change(load_shipped_catalogue(overlay, ["kserve"]))
    return changed


def is_open(process: PackedProcess) -> bool:
    return [key.reason for key in process.announcement_state.episodes] == [INVALID]


@pytest.mark.parametrize(
    "state", [NotSynced(), NotSynced("may not list", refused=True), NotSynced("500", failing=True)]
)
def test_an_episode_stays_open_until_the_list_arrives(process: PackedProcess, state: NotSynced):
    process.store.set_watch_state(process.kind, state)
    process.advance(7200)
    assert is_open(process)
    assert any(each.object_name == "chat" for each in process.evaluation.subjects)
    process.list_models("InvalidSpec")
    process.run_pass().advance(600)
    assert is_open(process)
    assert process.reasons == [INVALID]
    process.list_models("UpToDate")
    process.run_pass().advance(60)
    assert process.reasons == [INVALID, READY]


def test_an_episode_outlasts_a_change_of_leader_before_the_list(process: PackedProcess):
    process.advance(60)
    process.take_over()
    process.advance(600)
    assert is_open(process)
    process.list_models("UpToDate")
    process.run_pass().advance(60)
    assert process.reasons == [INVALID, READY]


def test_a_subject_that_the_list_lacks_is_gone_without_a_ready(process: PackedProcess):
    process.list_models("UpToDate", "another")
    process.run_pass().advance(600)
    assert not is_open(process)
    assert process.reasons == [INVALID]


def test_a_kind_that_is_not_served_any_more_ends_nothing_by_itself(process: PackedProcess):
    process.store.set_watch_state(process.kind, NotServed())
    process.advance(600)
    assert is_open(process)
    assert process.reasons == [INVALID]
