"""
The laws of the fleet under random clusters, objects, failures of the engine and restarts of the hub.

A cluster that is silent, doubled, unknown or not engaged is never Current.
"""

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reporter.model.states import State
from tests.support.fleet.rounds import MAX_AGE, Rounds, a_cluster
from tests.support.fleet.series import NOON, SourceSeries


NAMES = ("one", "two")
LABELS = st.sampled_from(["east", "east", "west", "west", ""])
UIDS = st.sampled_from(["uid-1", "uid-1", "uid-2", "uid-2", ""])
STATES = st.sampled_from([State.CURRENT, State.CURRENT, State.CURRENT, State.FAILED])
STALE = 300.0
NEVER = float("-inf")


@dataclass
class Truth:
    """
    A source as it is. *changed*: when an answer with a new time of evaluation last reached the hub.

    *before*: the time that it had before that. *reported*: when one last reached any process of the hub.
    """

    label: str
    uid: str
    state: State
    evaluated: float
    skew: float
    runs: bool = True
    shown: bool = True
    delivered: float = NEVER
    before: float = NEVER
    changed: float = NEVER
    reported: float = NEVER


class FleetLaws(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.rounds = Rounds()
        self.sources: dict[int, Truth] = {}
        self.known: dict[tuple[int, str, str], Truth] = {}
        self.shown: list[Truth] = []
        self.restarted = 0.0
        self.generation = 1

    @initialize()
    def begin(self):
        """Begin with two clusters that are Current."""
        for number, label in enumerate(("east", "west")):
            self.start(number, label, f"uid-{number + 1}", State.CURRENT, 0.0)
            self.engage(NAMES[number], label, "", False)
        self.ask([30.0, 30.0])
        assert self._current() == list(NAMES)

    # ------------------------------------------------------------ what happens

    @rule(
        number=st.integers(0, 3),
        label=LABELS,
        uid=UIDS,
        state=STATES,
        skew=st.sampled_from([0.0, 3600.0, -3600.0]),
    )
    def start(self, number, label, uid, state, skew):
        evaluated = NOON + self.rounds.seconds + skew
        made = Truth(label, uid, state, evaluated, skew)
        old = self.known.get((number, label, uid))
        if old is not None:
            made.delivered, made.changed = old.delivered, old.changed
            made.before, made.reported = old.before, old.reported
        self.sources[number] = self.known[number, label, uid] = made

    @rule(number=st.integers(0, 3), runs=st.booleans(), shown=st.booleans())
    def stop(self, number, runs, shown):
        if number in self.sources:
            self.sources[number].runs, self.sources[number].shown = runs, shown

    @rule(
        name=st.sampled_from(NAMES),
        label=st.sampled_from(["east", "west"]),
        uid=st.sampled_from(["", "", "uid-1"]),
        paused=st.sampled_from([False, False, True]),
    )
    def engage(self, name, label, uid, paused):
        self.generation += 1
        old = self.rounds.objects.get(name)
        status = old.status if old is not None else None
        made = a_cluster(
            name, label=label, uid=uid, paused=paused, generation=self.generation, status=status
        )
        self.rounds.engage(made)
        self.rounds.fail()

    @rule(name=st.sampled_from(NAMES))
    def disengage(self, name):
        self.rounds.objects.pop(name, None)
        self.rounds.fail()

    @rule()
    def restart(self):
        self.rounds.restart()
        self.restarted, self.shown = self.rounds.seconds, []
        for each in self.known.values():
            each.delivered = each.before = each.changed = NEVER
        self.rounds.fail()

    @rule(pauses=st.lists(st.sampled_from([30.0, 30.0, 30.0, 120.0]), min_size=2, max_size=12))
    def ask(self, pauses):
        for pause in pauses:
            self._pass(pause)
            shown = [each for each in self.sources.values() if each.shown]
            for each in shown:
                if each.delivered not in {each.evaluated, NEVER}:
                    each.changed, each.before = self.rounds.seconds, each.delivered
                if each.delivered != each.evaluated:
                    each.reported = self.rounds.seconds
                each.delivered = each.evaluated
            self._answer({n: each for n, each in self.sources.items() if each.shown})

    @rule(pauses=st.lists(st.sampled_from([30.0, 200.0]), min_size=2, max_size=8))
    def ask_copies(self, pauses):
        """Let two copies of the engine answer in turn, one of which lags behind."""
        for pause in pauses:
            self.ask([pause])
            self._pass(30.0)
            # An engine answers with no sample that is older than its lookback, five minutes
            # (prometheus.io/docs/prometheus/latest/querying/basics/#staleness).
            now = self.rounds.seconds
            known = {n: e for n, e in self.sources.items() if e.shown and now - e.changed <= STALE}
            self._answer({n: replace(each, evaluated=each.before) for n, each in known.items()})

    def _answer(self, shown: dict[int, Truth]) -> None:
        self.shown = list(shown.values())
        self.rounds.ask(*(self._series(number, each) for number, each in shown.items()))

    @rule(name=st.sampled_from(NAMES))
    def calm_down(self, name):
        """Leave one cluster under the label of an object: in the end it is Current."""
        if name not in self.rounds.objects or self.rounds.objects[name].spec.paused:
            return
        spec = self.rounds.objects[name].spec
        for each in self._of(name):
            each.runs = each.shown = False
        self.start(9, spec.cluster_label, spec.cluster_uid or "uid-3", State.CURRENT, 0.0)
        self.ask([30.0] * 12)
        assert name in self._current()

    @rule(pause=st.sampled_from([30.0, 200.0, 400.0]))
    def fail(self, pause):
        self._pass(pause)
        self.rounds.fail()

    def _pass(self, pause: float) -> None:
        self.rounds.seconds += pause
        for each in self.sources.values():
            if each.runs:
                each.evaluated = NOON + self.rounds.seconds + each.skew

    def _series(self, number: int, each: Truth) -> SourceSeries:
        made = SourceSeries(each.label, each.uid, each.evaluated, (each.state,))
        return replace(made, target={"pod": str(number)})

    # ------------------------------------------------------------ the laws

    def _of(self, name: str) -> tuple[Truth, ...]:
        label = self.rounds.objects[name].spec.cluster_label
        return tuple(each for each in self.known.values() if each.label == label)

    @invariant()
    def only_what_is_engaged_is_answered_for(self):
        assert set(self.rounds.fleet.clusters) == set(self.rounds.objects)

    @invariant()
    def what_is_current_is_engaged_and_not_paused(self):
        for name in self._current():
            assert not self.rounds.objects[name].spec.paused

    @invariant()
    def what_is_current_was_heard_within_the_stale_time(self):
        for name in self._current():
            heard = max((each.changed for each in self._of(name)), default=NEVER)
            # A leader takes over what the one before knew, and has as long to hear of it.
            since = max(heard, self.restarted)
            assert self.rounds.seconds - since <= STALE

    @invariant()
    def what_is_current_is_one_cluster_of_a_known_uid(self):
        now = self.rounds.seconds
        for name in self._current():
            fresh = {each.uid for each in self._of(name) if now - each.changed <= STALE}
            assert len(fresh) <= 1
            assert "" not in fresh
            wanted = self.rounds.objects[name].spec.cluster_uid
            assert not wanted or fresh <= {wanted}

    @invariant()
    def what_is_current_after_a_restart_is_the_one_that_is_shown(self):
        if self.rounds.seconds - self.restarted > STALE:
            return  # what is shown then may be long gone
        clusters = self.rounds.fleet.clusters
        for name in self._current():
            label = self.rounds.objects[name].spec.cluster_label
            uids = {each.uid for each in self.shown if each.label == label}
            assert uids <= {clusters[name].content.uid}

    @invariant()
    def what_is_current_has_one_label(self):
        engaged = {each.spec.cluster_label for each in self.rounds.objects.values()}
        for name in self._current():
            uid, spec = (
                self.rounds.fleet.clusters[name].content.uid,
                self.rounds.objects[name].spec,
            )
            labels = {
                each.label
                for each in self.known.values()
                if each.uid == uid and self.rounds.seconds - each.changed <= STALE
            }
            assert spec.cluster_uid or len(labels & engaged) <= 1

    @invariant()
    def no_restart_of_the_hub_keeps_a_cluster_current_for_ever(self):
        for name in self._current():
            reported = max((each.reported for each in self._of(name)), default=NEVER)
            assert self.rounds.seconds - reported <= MAX_AGE.total_seconds() + STALE + 1

    @invariant()
    def an_object_says_what_the_fleet_says(self):
        for name, record in self.rounds.fleet.clusters.items():
            status = self.rounds.objects[name].status or {}
            assert status["state"] == record.content.state
            ready = {each["type"]: each["status"] for each in status["conditions"]}["Ready"]
            assert (ready == "True") == (record.content.state is State.CURRENT)

    def _current(self) -> list[str]:
        clusters = self.rounds.fleet.clusters.items()
        return [name for name, each in clusters if each.content.state is State.CURRENT]


TestFleetLaws = FleetLaws.TestCase
