"""The rules that each reason of the catalogue gives to the status."""

from datetime import timedelta

import pytest

from reporter.model.enums import Owner
from reporter.model.subjects import FindingKey, Subject
from reporter.rollup.rules import RollUpRules
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


RULES = RollUpRules(DEFAULT_CATALOGUE, {})
RANKED = [each for each in DEFAULT_CATALOGUE.entries.values() if each.rank is not None]


@pytest.mark.parametrize("entry", RANKED, ids=lambda each: each.reason)
def test_every_reason_has_an_owner_a_remedy_and_windows(entry):
    key = FindingKey(Subject(entry.layer), entry.reason)
    assert entry.owner in Owner
    assert entry.remedies["default"]
    # What metrics pages show has lasted for a window of its own already.
    assert RULES.finding_window(key) > timedelta(0) or RULES.reads_pages(key)
    assert RULES.quiet_window(entry.layer, key) > timedelta(0)
