"""The age of an object whose creation is odd."""

from datetime import timedelta

from reporter.controller.reread_contents import Cache
from reporter.controller.reread_schedule import RereadState, begin_read, track
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.verdicts import ObjectRef
from tests.support.builders import HOUR, MINUTE, NOON, a_deployment, a_store


BBR = ObjectRef("deployments.apps", "kaito-system", "bbr")


def test_an_object_that_claims_to_be_created_in_the_future_ages_from_when_it_was_seen():
    """It would be the youngest of all for an hour, and take the whole budget."""
    store = a_store(a_deployment("bbr", ready=0, created_at=NOON + HOUR))
    state = RereadState()
    for now in (NOON, NOON + 2 * MINUTE):
        state = track(state, [BBR], Cache(DEFAULT_KINDS, store.snapshot()), now=now)
    assert begin_read(state, BBR, now=now).tracked[BBR].interval == timedelta(seconds=15)
