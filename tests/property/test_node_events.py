"""
Laws of episodes in NVSentinel's kind, under random trouble, lost writes, restarts and other hands.
"""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reporter.history.content import make_spec
from reporter.history.node_events import (
    find_recovery,
    is_replaced,
    make_fault,
    pair_objects,
)
from reporter.history.plan import Plan
from reporter.kinds.health_events import StoreLimits
from reporter.kinds.nvsentinel import NodeHealthEvent, NodeHealthEventSpec
from reporter.kube.event_format import node_event_name, recovery_name
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Cause, ObjectRef
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.health_events import StoreReplay
from tests.support.node_events import a_node_event
from tests.support.replay import Replay


SETS = tuple(Subject(Layer.MODELDEPLOYMENT, f"team-{i}", "qwen") for i in range(2))
CATALOGUE = a_catalogue(
    an_entry("inferencesetPressure", None, layer=Layer.MODELDEPLOYMENT, orthogonal=True)
)
KEYS = tuple(a_key("inferencesetPressure", each) for each in SETS)
NODES = ("n1", "n2", "")
KEPT = timedelta(minutes=30)

_keys = st.sampled_from(KEYS)
STEPS = st.one_of(
    st.tuples(st.just("trouble"), _keys, st.sets(st.sampled_from(NODES), min_size=1)),
    st.tuples(st.just("clear"), _keys),
    st.tuples(st.just("unknown"), _keys),
    st.tuples(st.just("advance"), st.sampled_from([1, 10, 31, 61, 600, 4000])),
    st.tuples(st.just("write"), st.integers(0, 6), st.booleans()),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("succeed"), st.booleans()),
)


class NodeStory(StoreReplay):
    """*objects*: those in the cluster, by name."""

    def __init__(self) -> None:
        self.objects: dict[str, NodeHealthEvent] = {}
        replay = Replay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *SETS}))
        limits = StoreLimits(per_node=3, total=5, retention=KEPT)
        super().__init__(replay, limits, name_of=node_event_name, has_course=False)

    def take(self, step: tuple) -> None:
        name, *words = step
        getattr(self, name)(*words)

    # ------------------------------------------------------------ steps

    def trouble(self, key, nodes: set[str]) -> None:
        troubles = [
            replace(a_trouble(), cause=Cause(ObjectRef("nodes", "", node), "Memory"))
            if node
            else a_trouble()
            for node in sorted(nodes)
        ]
        self.replay.set_verdicts(an_active_verdict(key, *troubles))

    def clear(self, key) -> None:
        self.replay.set_clear(key)

    def unknown(self, key) -> None:
        self.replay.set_unknown(key)

    def advance(self, seconds: int) -> None:
        self.replay.advance(seconds)

    def delete(self, place: int) -> None:
        """Delete an object by another hand."""
        names = sorted(self.objects)
        if names:
            del self.objects[names[place % len(names)]]

    def succeed(self, reads_back: bool) -> None:
        old = self.replay
        successor = Replay(CATALOGUE, subjects=old.subjects, now=old.now, evaluating_since=old.now)
        successor.verdicts = dict(old.verdicts)
        if reads_back:
            successor.announcement_state = old.announcement_state
        self.restart(successor.run_pass())

    def write(self, number: int = 100, is_whole: bool = True) -> Plan:
        """
        Carry out the first writes; the others are lost, and so is the second half of a deletion.
        """
        self.existing = {
            name: each.found for name, each in pair_objects(self.objects.values()).by_name.items()
        }
        plan = self.plan()
        context, now = self.replay.context, self.replay.now
        for create in plan.creates[:number]:
            self._create(create.name, make_fault(make_spec(create.episode, create.node, context)))
        for patch in plan.patches[:number]:
            recovery = find_recovery(patch, self.existing.values(), context, now=now)
            if recovery is None:
                self._remove(patch.found.metadata.name, is_whole)
            else:
                assert not is_replaced(patch.found, self.existing.values(), context)
                self._create(recovery_name(patch.found.metadata.name), recovery)
        for each in plan.deletes[:number]:
            assert each.phase == "Resolved", "an Active one is never deleted"
            self._remove(each.metadata.name, is_whole)
        return plan

    def _create(self, name: str, spec: NodeHealthEventSpec) -> None:
        assert name not in self.objects, "no object is written twice"
        self.objects[name] = a_node_event(name, spec)

    def _remove(self, name: str, is_whole: bool) -> None:
        objects = pair_objects(self.objects.values()).by_name[name].objects
        for each in objects if is_whole else objects[:1]:
            del self.objects[each.metadata.name]

    # ------------------------------------------------------------ laws

    def check(self) -> None:
        pairs = pair_objects(self.objects.values())
        assert not pairs.unread
        assert all(each.spec.node_name for each in self.objects.values())
        assert len(pairs.by_name) <= 5
        strategies = {each.spec.processing_strategy for each in self.objects.values()}
        assert strategies <= {"STORE_ONLY"}

    def check_end(self) -> None:
        """With room and time, exactly the nodes in trouble have a fault without a recovery."""
        self.limits = replace(self.limits, total=100, per_node=100)
        self.trouble(KEYS[0], {"n1"})
        self.clear(KEYS[1])
        for _ in range(6):
            self.replay.advance(100)
            self.write()
        active = [
            (each.found.spec.subject, each.found.spec.node_name)
            for each in pair_objects(self.objects.values()).by_name.values()
            if each.found.phase == "Active"
        ]
        assert active == [("team-0/qwen", "n1")]
        self.clear(KEYS[0])
        for span in (100, 100, 100, KEPT.total_seconds(), 100, 100):
            self.replay.advance(span)
            self.write()
        assert self.objects == {}


@given(st.lists(STEPS, max_size=30))
def test_laws_of_faults_and_recoveries(steps):
    story = NodeStory()
    for step in steps:
        story.take(step)
        story.check()
    story.check_end()
