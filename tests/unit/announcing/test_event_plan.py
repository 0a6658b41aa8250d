"""The writes of Events that are due, by importance; after a write only its own is scheduled anew."""

from datetime import timedelta

from reporter.announcing.announcements import Announcements
from reporter.announcing.earlier_events import EarlierEvents
from reporter.announcing.event_plan import EventPlan
from reporter.announcing.event_writer import EventWriteLog
from reporter.announcing.printed_events import PrintedEvents
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.kube.errors import Invalid, Unreachable
from reporter.kube.event_record import EventRecord
from reporter.kube.leader_writer import AfterTry, Attempt
from reporter.model.enums import Emission
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import InvolvedObject
from reporter.process.clock import Clock
from tests.support.builders import NOON, SECOND, a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay


KEYS = [a_key(f"cluster{number:02}") for number in range(12)]
CATALOGUE = a_catalogue(*(an_entry(key.reason, rank) for rank, key in enumerate(KEYS, start=1)))
SETTINGS = EvaluationSettings(emission=Emission.ALL)


class UnwrittenReplay(Replay):
    def write_pending(self, outcome=None):
        return


class Planned:
    """A plan of twelve findings that are due and not written yet. *results*: what was counted."""

    def __init__(self) -> None:
        replay = UnwrittenReplay(CATALOGUE, SETTINGS).set_verdicts(*map(an_active_verdict, KEYS))
        self.evaluation, self.snapshot = replay.context.evaluation, replay.context.snapshot
        self.results: list[str] = []
        involved = InvolvedObject("v1", "Namespace", "kube-system", "uid")
        self.announcements = Announcements(
            CATALOGUE, SETTINGS, Clock(), involved_for=lambda _, __: involved
        )
        earlier = EarlierEvents(self.announcements, PrintedEvents(), Clock())
        self.plan = EventPlan(self.announcements, earlier, EventWriteLog(self.results.append))
        self.evaluate()

    def evaluate(self) -> None:
        self.announcements.update(self.evaluation, self.snapshot, now=NOON)

    def attempt(self, key: FindingKey) -> Attempt[FindingKey, EventRecord]:
        record = self.plan.render(key, now=NOON)
        assert isinstance(record, EventRecord)
        return Attempt(key, record, 0, NOON)

    async def due(self) -> list[FindingKey]:
        waiting, _ = await self.plan.find_due(now=NOON)
        return [key for key, due_at in waiting.items() if due_at <= NOON]


async def test_the_highest_ranks_come_first():
    assert await Planned().due() == KEYS


async def test_what_was_written_is_due_again_at_its_heartbeat():
    planned = Planned()
    await planned.due()
    attempt = planned.attempt(KEYS[0])
    assert planned.plan.written(attempt, attempt.write) is AfterTry.DONE
    planned.plan.finished(KEYS[0])
    assert await planned.due() == KEYS[1:]
    waiting, _ = await planned.plan.find_due(now=NOON)
    assert waiting[KEYS[0]] >= NOON + timedelta(seconds=270)
    assert planned.plan.render(KEYS[0], now=NOON + SECOND) is AfterTry.DONE


async def test_what_failed_keeps_its_place():
    planned = Planned()
    await planned.due()
    err = Unreachable("create", may_have_applied=True)
    assert planned.plan.failed(planned.attempt(KEYS[3]), err) is AfterTry.RETRY
    planned.plan.finished(KEYS[3])
    assert await planned.due() == KEYS
    assert planned.announcements.state.episodes[KEYS[3]].uncertain
    assert planned.results == ["uncertain"]


async def test_what_is_never_accepted_is_dropped():
    planned = Planned()
    await planned.due()
    err = Invalid("create", status=422)
    assert planned.plan.failed(planned.attempt(KEYS[0]), err) is AfterTry.DONE
    planned.plan.finished(KEYS[0])
    assert await planned.due() == KEYS[1:]
    assert planned.results == ["dropped"]
