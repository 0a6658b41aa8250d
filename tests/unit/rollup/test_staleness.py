"""A fact that has changed is shown, whichever it is: none has to be listed for that."""

import pytest
from msgspec.structs import replace

from reporter.rollup.fold import fold
from reporter.rollup.records import ReplicaProgress, RollUp, SetFacts
from tests.support.rollups import stack_after


class Other:
    """A value that no fact has."""

    desired = 1
    """The replicas, where it stands for them."""


FACTS = [(SetFacts, name) for name in SetFacts.__struct_fields__]
PROGRESS = [(ReplicaProgress, name) for name in ReplicaProgress.__struct_fields__]


@pytest.mark.parametrize(
    ("struct", "field"), FACTS + PROGRESS, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_fact_that_differs_from_the_pass_before_is_a_change(struct, field):
    replay = stack_after()
    expected = replay.rollup.namespaces["team-m"]
    before = with_other_fact(replay.rollup, struct, field)
    given = replace(replay.rollup_input(), evaluated=replay.evaluation.subjects)
    after = fold(before, given, replay.rollup_rules)
    assert after.namespaces["team-m"].sets["qwen"].facts == expected.sets["qwen"].facts
    assert after.namespaces["team-m"].revision == after.revision == before.revision + 1


def with_other_fact(rollup: RollUp, struct: type, field: str) -> RollUp:
    """Return a roll-up that was made when one fact about team-m/qwen was another one."""
    namespace = rollup.namespaces["team-m"]
    record = namespace.sets["qwen"]
    facts = record.facts
    if struct is SetFacts:
        facts = replace(facts, **{field: Other()})
    else:
        facts = replace(facts, progress=replace(facts.progress, **{field: Other()}))
    sets = {**namespace.sets, "qwen": replace(record, facts=facts)}
    # As if its objects were others, too: what is counted from them is counted again.
    team = replace(namespace, sets=sets, counted={})
    return replace(rollup, namespaces={**rollup.namespaces, "team-m": team})
