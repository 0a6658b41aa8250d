"""
What need not be thought over again is thought over when it changed all the same.
"""

from reporter.model.subjects import CLUSTER, Subject
from reporter.model.words import Layer
from reporter.stages.pacing import Decided, Stage
from tests.builders import a_catalogue, a_key, a_row, a_trouble, active, an_entry
from tests.play import Play, home


TEAM = Subject(Layer.MODELHARNESS, "team-a")


class Remembering(Play):
    """
    Hands on what was decided, as a process does.
    """

    decided: dict[object, Decided] | None = None

    @property
    def stage(self) -> Stage:
        if self.decided is None:
            self.decided = {}
        voice, judged, catalogue, terms = self.voice, self.judged, self.catalogue, self.terms
        return Stage(voice, judged, catalogue, terms, home, self.decided)


def test_a_source_without_a_rank_tells_whom_it_silences_as_soon_as_it_may():
    source = an_entry("odd", None, orthogonal=True)
    target = an_entry("harness", 2, layer=Layer.MODELHARNESS)
    catalogue = a_catalogue(source, target, rows=(a_row("odd", "harness"),))
    play = Remembering(catalogue, subjects=frozenset({CLUSTER, TEAM}))
    play.say(active(a_key("odd"), a_trouble(out=True))).after(65)
    assert play.said == ["odd x1"]
    play.say(active(a_key("harness", TEAM)))
    assert play.said == ["odd x2"]
    assert "(suppressing downstream reasons: harness in 1 namespace(s))" in play.last
