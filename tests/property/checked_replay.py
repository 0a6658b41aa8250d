"""
A replay that checks the laws of announcing at every pass and every write, with its catalogue.
"""

from dataclasses import dataclass, field

from reporter.announcing.grouping import group_key
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clocks import READ_BACK_WINDOW
from reporter.model.enums import EventType, Layer, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Active
from tests.support.builders import MINUTE, a_catalogue, a_key, a_suppression, an_entry
from tests.support.reason_states import reason_states
from tests.support.replay import Replay


SETS = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(12)]
MODELS = {"layer": Layer.MODELDEPLOYMENT}
ENTRIES = (
    an_entry("clusterCRD", 10),
    an_entry("clusterIstio", 20),
    an_entry("clusterKaito", 30, settle=MINUTE),
    an_entry("inferencesetPods", 10, **MODELS),
    an_entry("inferencesetRoute", 20, **MODELS),
    an_entry("inferencesetSlow", None, orthogonal=True, **MODELS),
)
ROWS = (
    a_suppression("clusterKaito", "inferencesetPods"),
    a_suppression("clusterIstio", "inferencesetRoute"),
)
BASE = a_catalogue(*ENTRIES, rows=ROWS)
CATALOGUE = Catalogue(
    BASE.entries,
    BASE.suppressions,
    missing_crd_reason=Reason("clusterCRD"),
    required_crds_by_reason={Reason("inferencesetPods"): frozenset({"crd-0"})},
)
KEYS = (
    *(a_key("clusterCRD", item=f"crd-{i}") for i in range(2)),
    a_key("clusterIstio"),
    a_key("clusterKaito"),
    *(
        a_key(reason, subject)
        for subject in SETS[:2]
        for reason in ("inferencesetPods", "inferencesetRoute", "inferencesetSlow")
    ),
)
GROUPED = tuple(a_key("inferencesetPods", subject) for subject in SETS)
GROUP = group_key(GROUPED[0])


@dataclass
class CheckedReplay(Replay):
    """
    A replay that checks every pass and every write against the laws.

    *active_since*: since when a key has been in the same trouble, known and not suppressed.
    *clear_since*: since when a subject has had no trouble.
    *clear_since_write*: keys that were clear since their last write.
    *announced_subjects*: subjects with an announced finding.
    *members*: the members of the group, while it had any.
    """

    active_since: dict = field(default_factory=dict)
    clear_since: dict = field(default_factory=dict)
    clear_since_write: set = field(default_factory=set)
    announced_subjects: set = field(default_factory=set)
    members: frozenset = frozenset()
    checked_writes: int = 0

    def run_pass(self) -> "CheckedReplay":
        unknown = {
            key: state
            for key, state in self.evaluation.tracked.finding_states.items()
            if isinstance(self.verdicts.get(key), str)
        }
        super().run_pass()
        for key, before in unknown.items():
            if key.subject in self.subjects and isinstance(self.verdicts.get(key), str):
                self.check_unchanged_while_unknown(key, before)
        self.track_active_since()
        for record in self.writes[self.checked_writes :]:
            self.check_write(record)
        self.checked_writes = len(self.writes)
        return self

    # ------------------------------------------------------------ at each pass

    def check_unchanged_while_unknown(self, key, before):
        after = self.evaluation.tracked.finding_states[key]
        clocks = {clock.object: clock for clock in after.clocks}
        assert clocks.keys() == {c.object for c in before.clocks}, "cleared or raised on Unknown"
        for clock in before.clocks:
            now = clocks[clock.object]
            assert clock.past_hold or not now.past_hold, "past its hold on Unknown"
            assert clock.active == now.active, "changed on Unknown"

    def track_active_since(self):
        states = reason_states(self.evaluation)
        self.clear_since_write |= {key for key in (*KEYS, *GROUPED) if key not in states}
        group = self.announcement_state.groups.get(GROUP)
        self.members = group.members if group is not None and group.members else self.members
        if not any(FindingKey(member, GROUP.reason) in states for member in self.members):
            self.clear_since_write.add(GROUP)
        for key in {*KEYS, *GROUPED}:
            verdict = self.verdicts.get(key)
            suppressed = key in self.evaluation.suppressions.suppressed_by
            if not isinstance(verdict, Active) or suppressed or key.subject not in self.subjects:
                self.active_since.pop(key, None)
                continue
            kinds = {t.cause.object: t.kind for t in verdict.troubles}
            if self.active_since.get(key, (None, None))[1] != kinds:
                self.active_since[key] = (self.now, kinds)
        for subject in self.subjects:
            not_clear = any(
                k.subject == subject and v is not None and k.reason != "inferencesetSlow"
                for k, v in self.verdicts.items()
            )
            if not_clear:
                self.clear_since.pop(subject, None)
            else:
                self.clear_since.setdefault(subject, self.now)

    # ------------------------------------------------------------ at each write

    def check_write(self, record):
        key = record.key
        if record.type is EventType.NORMAL:
            assert self.becomes_ready_at(record), f"{key} although a reason is not clear"
            assert key.subject in self.announced_subjects, f"{key} without an announced finding"
            return
        self.announced_subjects |= {key.subject} if not CATALOGUE[key.reason].orthogonal else set()
        earlier = [r for r in self.writes[: self.checked_writes] if r.key == key]
        if earlier and earlier[-1].episode_start != record.episode_start:
            recent = record.first_timestamp - earlier[-1].last_timestamp <= READ_BACK_WINDOW
            assert key in self.clear_since_write or not recent, (
                f"{key} has two Events in one episode"
            )
        self.clear_since_write.discard(key)
        if key.subject.layer is Layer.MODELDEPLOYMENT and not key.subject.name:
            members = [k for k in GROUPED if isinstance(self.verdicts.get(k), Active)]
            assert members, f"{key} written without members"
            return
        assert isinstance(self.verdicts.get(key), Active), f"{key} written without trouble"
        assert key not in self.evaluation.suppressions.suppressed_by, (
            f"{key} written although it is suppressed"
        )

    def becomes_ready_at(self, record) -> bool:
        """Return whether every ranked reason is clear; for a group, those of the sets it names."""
        named = {s for s in SETS if s.name in record.message}
        subjects = named if record.key.subject not in self.subjects else {record.key.subject}
        ranked = [k for k in self.verdicts if not CATALOGUE[k.reason].orthogonal]
        return all(self.verdicts[k] is None for k in ranked if k.subject in subjects)
