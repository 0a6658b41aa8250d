"""The causes of the roll-up."""

from datetime import timedelta

from msgspec.structs import fields

from reporter.model.enums import Layer
from reporter.model.states import Actionability, SinceFrom
from reporter.model.verdicts import ObjectRef
from reporter.rollup.records import Blocker, RollUpCause, Unavailability
from tests.support.builders import NOON, a_key, a_trouble


def test_what_blocks_is_wholly_the_cause_of_the_unavailability():
    blocker = Blocker(
        code="X",
        layer=Layer.CLUSTER,
        actionability=Actionability.USER,
        key=a_key("clusterBBR"),
        object=ObjectRef("pods", "team-a", "one"),
        why="it is out",
        held=True,
        troubles=(a_trouble(),),
        since=NOON,
        since_from=SinceFrom.PROCESS,
        window=timedelta(minutes=5),
    )
    cause = Unavailability.of(blocker, is_known=False)
    for each in fields(RollUpCause):
        assert getattr(blocker, each.name) != each.default, "give it another value here"
        assert getattr(cause, each.name) == getattr(blocker, each.name)
    assert not cause.is_known
