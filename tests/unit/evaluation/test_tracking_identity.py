"""An unchanged state stays the same object, by which later stages find what changed."""

from datetime import timedelta

from msgspec.structs import replace

from reporter.evaluation.clocks import NOTHING_TRACKED, Delays
from reporter.evaluation.tracking import (
    advance_clocks,
    apply_verdicts,
    extend_holds,
    next_tracking_deadline,
)
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Active, Clear, InvolvedObject, Unknown
from tests.support.builders import NOON, a_catalogue, a_key, a_trouble, an_active_verdict, an_entry


BBR, KEDA = a_key("clusterBBR"), a_key("clusterKeda")
CATALOGUE = a_catalogue(an_entry("clusterBBR", 10), an_entry("clusterKeda", 20))
LOST = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))


def after(tracked, *verdicts, seconds=0):
    return apply_verdicts(
        tracked,
        verdicts,
        now=NOON + timedelta(seconds=seconds),
        entry_of=CATALOGUE.__getitem__,
        delays=Delays(),
    )


KNOWN = after(NOTHING_TRACKED, Clear(BBR), Clear(KEDA))


def test_a_clear_verdict_for_a_clear_key_changes_nothing():
    assert after(KNOWN, Clear(BBR), Clear(KEDA)) is KNOWN


def test_a_reason_that_is_evaluated_for_the_first_time_is_remembered():
    assert KNOWN.evaluated_reasons == {BBR.reason, KEDA.reason}
    assert after(NOTHING_TRACKED, Clear(BBR)).finding_states is NOTHING_TRACKED.finding_states
    assert after(NOTHING_TRACKED, Unknown(BBR, "forbidden")).evaluated_reasons == frozenset()


def test_the_same_verdict_leaves_the_state_until_its_next_deadline():
    for verdict in (LOST, Unknown(BBR, "forbidden")):
        tracked = after(after(KNOWN, LOST), verdict, seconds=1)
        again = after(tracked, verdict, seconds=5)
        assert again.finding_states[BBR] is tracked.finding_states[BBR]
    cleared = after(after(KNOWN, LOST), Clear(BBR), seconds=1)
    again = after(cleared, Clear(BBR), seconds=5)
    assert again.finding_states[BBR] is cleared.finding_states[BBR]


def test_a_new_involved_object_replaces_the_one_before():
    recreated = InvolvedObject("v1", "Namespace", "system", "uid-2")
    tracked = after(after(KNOWN, LOST), Active(BBR, LOST.troubles, recreated), seconds=1)
    assert tracked.finding_states[BBR].involved_object == recreated


def test_an_unknown_key_keeps_its_time_and_takes_the_newest_cause():
    first = after(KNOWN, Unknown(BBR, "forbidden"))
    same = after(first, Unknown(BBR, "forbidden"), seconds=5)
    assert same.unknown_states[BBR] is first.unknown_states[BBR]
    other = after(same, Unknown(BBR, "watch lost"), seconds=9).unknown_states[BBR]
    assert (other.why, other.since) == ("watch lost", NOON)


def test_the_next_deadline_is_the_earliest():
    failed = an_active_verdict(KEDA, a_trouble("keda", TroubleKind.FAILED))
    tracked = after(KNOWN, LOST, failed)
    deadline = next_tracking_deadline(tracked, entry_of=CATALOGUE.__getitem__, delays=Delays())
    assert deadline == NOON + timedelta(seconds=15)


def test_no_hold_is_extended_without_keys():
    tracked = replace(KNOWN)
    extended = extend_holds(tracked, (), now=NOON, entry_of=CATALOGUE.__getitem__, delays=Delays())
    assert extended is tracked


def test_each_step_leaves_the_findings_that_it_is_given_as_they_are():
    rules = {"entry_of": CATALOGUE.__getitem__, "delays": Delays()}
    item = a_key("clusterKeda", item="other")
    failed = an_active_verdict(KEDA, a_trouble("keda", TroubleKind.FAILED))
    tracked = after(after(KNOWN, LOST, failed, Unknown(item, "forbidden")), Clear(BBR))
    tracked = advance_clocks(tracked, now=NOON + timedelta(seconds=30), **rules)
    parts = (tracked.finding_states, tracked.unknown_states, tracked.settled_at)
    copies = [dict(each) for each in parts]
    assert [each.keys() for each in parts] == [{KEDA}, {item}, {BBR}]
    after(tracked, LOST, Clear(item), seconds=31)
    extend_holds(tracked, [KEDA], now=NOON + timedelta(seconds=31), **rules)
    assert list(parts) == copies
