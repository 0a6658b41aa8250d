"""
Laws of the HealthEvent store, under random trouble, limits, lost writes, restarts and other hands.
"""

from collections import Counter
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reporter.history.desired import id_of
from reporter.history.plan import Plan
from reporter.kinds.health_events import StoreLimits
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Cause, ObjectRef
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.health_events import StoreReplay, a_health_event, as_text
from tests.support.replay import Replay


SETS = tuple(Subject(Layer.MODELDEPLOYMENT, f"team-{i}", "qwen") for i in range(3))
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("inferencesetPressure", None, layer=Layer.MODELDEPLOYMENT, orthogonal=True),
)
KEYS = (
    a_key("clusterBBR"),
    *(a_key("inferencesetPods", each) for each in SETS),
    *(a_key("inferencesetPressure", each) for each in SETS),
)
NODES = ("n1", "n2", "n3")
ROOMY = StoreLimits(per_node=100, total=1000, retention=timedelta(days=365))

_keys = st.sampled_from(KEYS)
_names = st.integers(0, 30)
STEPS = st.one_of(
    st.tuples(st.just("trouble"), _keys, st.sets(st.sampled_from(NODES), max_size=3)),
    st.tuples(st.just("clear"), _keys),
    st.tuples(st.just("unknown"), _keys),
    st.tuples(st.just("advance"), st.sampled_from([1, 10, 31, 61, 600, 4000])),
    st.tuples(st.just("write"), st.integers(0, 20)),
    st.tuples(st.just("delete"), _names),
    st.tuples(st.just("resolve"), _names),
    st.tuples(st.just("finalize"), _names),
    st.tuples(st.just("limit"), st.integers(1, 4), st.integers(1, 6)),
    st.tuples(st.just("restart"), st.booleans()),
    st.tuples(st.just("gone"), st.sampled_from(SETS)),
)


class Story:
    def __init__(self) -> None:
        limits = StoreLimits(per_node=2, total=4, retention=timedelta(minutes=30))
        replay = Replay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *SETS}))
        self.store = StoreReplay(replay, limits)

    @property
    def replay(self) -> Replay:
        return self.store.replay

    # ------------------------------------------------------------ steps

    def take(self, step: tuple) -> None:
        name, *words = step
        getattr(self, name)(*words)
        self.check(self.store.plan())

    def trouble(self, key, nodes: set[str]) -> None:
        if key.reason != "inferencesetPressure":
            nodes = set()
        troubles = [
            replace(a_trouble(), cause=Cause(ObjectRef("nodes", "", node), "Memory"))
            for node in sorted(nodes)
        ]
        if key.subject in self.replay.subjects:
            self.replay.set_verdicts(an_active_verdict(key, *troubles))

    def clear(self, key) -> None:
        self.replay.set_clear(key)

    def unknown(self, key) -> None:
        if key.subject in self.replay.subjects:
            self.replay.set_unknown(key)

    def advance(self, seconds: int) -> None:
        self.replay.advance(seconds)

    def write(self, number: int) -> None:
        """Carry out the first writes; all others are lost."""
        plan = self.store.plan()
        self.check(plan)
        creates, patches = plan.creates[:number], plan.patches[: max(number - 3, 0)]
        deletes = plan.deletes[: max(number - 5, 0)]
        before = self.counts()
        self.store.carry_out(replace(plan, creates=creates, patches=patches, deletes=deletes))
        after, limits = self.counts(), self.store.limits
        assert after.total() <= max(limits.total, before.total())
        for node in NODES:
            assert after[node] <= max(limits.per_node, before[node])

    def delete(self, place: int) -> None:
        self._with_one(place, self.store.existing.pop)

    def resolve(self, place: int) -> None:
        self._change(place, phase="Resolved", resolvedTime=as_text(self.replay.now))

    def finalize(self, place: int) -> None:
        def mark(name: str) -> None:
            found = self.store.existing[name]
            if found.phase == "Resolved":
                self.store.existing[name] = a_health_event(
                    name, found.spec, deleted_at=self.replay.now, **(found.status or {})
                )

        self._with_one(place, mark)

    def limit(self, per_node: int, total: int) -> None:
        self.store.limits = replace(self.store.limits, per_node=per_node, total=total)

    def restart(self, reads_back: bool) -> None:
        old = self.replay
        successor = Replay(CATALOGUE, subjects=old.subjects, now=old.now, evaluating_since=old.now)
        successor.verdicts = dict(old.verdicts)
        if reads_back:
            successor.announcement_state = old.announcement_state
        self.store.restart(successor.run_pass())

    def gone(self, subject: Subject) -> None:
        for key in KEYS:
            if key.subject == subject:
                self.replay.verdicts.pop(key, None)
        self.replay.subjects -= {subject}
        self.replay.run_pass()

    def _change(self, place: int, **status) -> None:
        def change(name: str) -> None:
            found = self.store.existing[name]
            after = {**(found.status or {}), **status}
            self.store.existing[name] = a_health_event(name, found.spec, **after)

        self._with_one(place, change)

    def _with_one(self, place: int, act) -> None:
        names = sorted(self.store.existing)
        if names:
            act(names[place % len(names)])

    # ------------------------------------------------------------ laws

    def counts(self) -> Counter[str]:
        return Counter(each.spec.node_name for each in self.store.existing.values())

    def running(self) -> set[tuple]:
        episodes = self.replay.announcement_state.episodes.items()
        return {
            (key.reason, key.subject, int(each.event.episode_start.timestamp()))
            for key, each in episodes
            if key.reason in {each.reason for each in KEYS}
        }

    def check(self, plan: Plan) -> None:
        existing = self.store.existing
        for each in plan.deletes:
            assert each is existing[each.metadata.name]
            assert each.phase == "Resolved", "an Active one is never deleted"
        touched = [each.found.metadata.name for each in plan.patches]
        touched += [each.metadata.name for each in plan.deletes]
        assert len(set(touched)) == len(touched), "one write an object"
        assert set(touched) <= existing.keys(), "nothing is touched that is not ours"
        assert not any(each.found.is_deleting for each in plan.patches)
        created = [each.name for each in plan.creates]
        rejected = [each.name for each in plan.rejections]
        assert len({*created, *rejected}) == len(created) + len(rejected)
        assert not existing.keys() & {*created, *rejected}
        places = Counter((id_of(each.spec), each.spec.node_name) for each in existing.values())
        assert all(number == 1 for number in places.values()), "no episode exists twice"

    def check_end(self) -> None:
        """
        With room and time, each running episode has its object, and every other one is resolved.
        """
        self.store.limits = ROOMY
        self.store.existing = {
            name: each for name, each in self.store.existing.items() if not each.is_deleting
        }
        for key in KEYS:
            self.replay.verdicts.pop(key, None)
        remaining = {key: an_active_verdict(key) for key in KEYS[:4:2]}
        self.replay.verdicts.update(
            {k: v for k, v in remaining.items() if k.subject in self.replay.subjects}
        )
        self.replay.run_pass().advance(200)
        self.store.settle()
        self.replay.advance(200)
        self.store.settle()
        active = {
            each.spec.check_name + each.spec.subject
            for each in self.store.existing.values()
            if each.phase == "Active"
        }
        assert len(active) == len(self.running())
        assert all(not name.startswith("inferencesetPressure") for name in active)


@given(st.lists(STEPS, max_size=40))
def test_laws_of_the_plan(steps):
    story = Story()
    for step in steps:
        story.take(step)
    story.check_end()
