"""Findings of a predecessor that are continued, by value."""

import pytest
from msgspec.structs import replace

from reporter.evaluation.clocks import NOTHING_TRACKED, Delays, FindingState
from reporter.evaluation.remembered import Remembered, RememberedFinding, continue_findings
from reporter.model.verdicts import InvolvedObject
from tests.support.builders import HOUR, MINUTE, NOON, a_key, a_trouble, an_entry


BBR = a_key("clusterBBR")
ENTRY = an_entry("clusterBBR")
ABOUT = InvolvedObject("v1", "Namespace", "kube-system")


@pytest.mark.parametrize(
    ("seen_here", "remembered"), [(NOON - HOUR, NOON - MINUTE), (NOON - MINUTE, NOON - HOUR)]
)
def test_a_key_is_unknown_since_the_earlier_of_two_times(seen_here, remembered):
    state = FindingState((), ABOUT, NOON, why_unknown="forbidden", unknown_since=seen_here)
    finding = RememberedFinding((a_trouble(),), ABOUT, NOON - HOUR, unknown_since=remembered)
    tracked = continue_findings(
        replace(NOTHING_TRACKED, finding_states={BBR: state}),
        Remembered({BBR: finding}),
        now=NOON,
        entry_of=lambda _: ENTRY,
        delays=Delays(),
    )
    assert tracked.finding_states[BBR].unknown_since == NOON - HOUR
