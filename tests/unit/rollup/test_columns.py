"""A column of the status: what is declared is filled, and what has changed is shown."""

import ast
import inspect

import pytest
from msgspec.structs import replace

from reporter.model import status_document
from reporter.rollup import document, progress, sets
from reporter.rollup.fold import fold
from reporter.rollup.records import InferenceSetFacts, ReplicaProgress, RollUp
from tests.support.rollups import stack_after


PUBLISHED = (
    status_document.Blocking,
    status_document.ClusterStatus,
    status_document.Contributing,
    status_document.HarnessStatus,
    status_document.InferenceSetStatus,
    status_document.NamespaceStatus,
    status_document.Suppressed,
)
MADE_IN = {
    **dict.fromkeys(PUBLISHED, document),
    ReplicaProgress: progress,
    InferenceSetFacts: sets,
}


@pytest.mark.parametrize(("struct", "module"), MADE_IN.items(), ids=lambda each: each.__name__)
def test_each_field_is_filled_where_its_struct_is_made(struct, module):
    calls = [
        each
        for each in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(each, ast.Call)
        and ast.unparse(each.func).rpartition(".")[2] in {struct.__name__, "replace"}
    ]
    filled = {keyword.arg for each in calls for keyword in each.keywords}
    assert set(struct.__struct_fields__) - filled == set()


class Other:
    """A value that no fact has."""

    desired = 1
    """The replicas, where it stands for them."""


FACTS = [(InferenceSetFacts, name) for name in InferenceSetFacts.__struct_fields__]
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
    if struct is InferenceSetFacts:
        facts = replace(facts, **{field: Other()})
    else:
        facts = replace(facts, progress=replace(facts.progress, **{field: Other()}))
    sets = {**namespace.sets, "qwen": replace(record, facts=facts)}
    # As if its objects were others, too: what is counted from them is counted again.
    team = replace(namespace, sets=sets, counted={})
    return replace(rollup, namespaces={**rollup.namespaces, "team-m": team})
