"""The status of subjects of other kinds, in namespaces with and without a harness."""

import pytest
from msgspec.structs import replace

from reporter.catalogue.entries import PathRow
from reporter.catalogue.subject_definitions import SubjectDefinition, make_definitions
from reporter.controller.blocking_objects import find_blocking_objects
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.gateway_api import HTTP_ROUTES, HTTPRoute
from reporter.kinds.objects import Metadata
from reporter.model.enums import Layer, Reason
from reporter.model.observations import NotSynced, Watching
from reporter.model.states import Mode, State
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear
from reporter.rollup.document import StatusView
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.store import Store
from tests.support.builders import (
    INVOLVED,
    MINUTE,
    NOON,
    a_catalogue,
    a_ready_entry,
    a_trouble,
    an_entry,
)
from tests.support.catalogue_fixture import HARNESS_LABEL, SUBJECTS
from tests.support.scripted_probe import a_scripted_probe


MODELS = Layer.MODELDEPLOYMENT
ROUTE = Subject(MODELS, "team-a", "HTTPRoute/llama")
REASON = Reason("httprouteNotAccepted")


class Watched:
    """A process that makes subjects of HTTPRoutes, with one reason about them."""

    def __init__(self) -> None:
        routes = SubjectDefinition(MODELS, HTTP_ROUTES, pack="mine", prefix="httproute")
        self.broken: set[Subject] = set()
        about = {"layer": MODELS, "subject_kind": "HTTPRoute", "object_kind": "HTTPRoute"}
        ready = replace(a_ready_entry(MODELS), reason=Reason("httprouteReady"), **about)
        entry = an_entry(REASON, message_template="{httproute}: {object}.", **about)
        self.catalogue = replace(
            a_catalogue(entry, ready),
            subject_definitions=make_definitions([*SUBJECTS.all, routes]),
        )
        self.store = Store((NAMESPACES, HTTP_ROUTES), subjects=self.catalogue.subject_definitions)
        for kind in self.store.kinds:
            self.store.set_watch_state(kind, Watching())
        probe = a_scripted_probe(self._evaluate)
        self.evaluator = Evaluator(self.catalogue, {"none": probe}, {}, EvaluationSettings())
        self.evaluation, self.rollup, self.now = Evaluation(), RollUp(), NOON

    def _evaluate(self, _, request):
        if request.subject in self.broken:
            return [Active(request.key(), (replace(a_trouble(), is_out=True),), INVOLVED)]
        return [Clear(request.key())]

    def look(self) -> "Watched":
        self.now += 10 * MINUTE
        snapshot, dirty = self.store.snapshot(), self.store.take_dirty() | ALL_LAYERS
        self.evaluation = self.evaluator.evaluate(self.evaluation, snapshot, dirty, now=self.now)
        given = RollUpInput(
            evaluation=self.evaluation,
            snapshot=snapshot,
            changed=self.evaluation.changed_since(self.rollup.evaluation),
            evaluated=self.evaluation.subjects,
            dirty=dirty,
            now=self.now,
            episodes={},
        )
        self.rollup = fold(self.rollup, given, RollUpRules(self.catalogue, {}))
        return self

    @property
    def view(self) -> StatusView:
        rules = RollUpRules(self.catalogue, {})
        return StatusView(self.rollup, rules, now=self.now, mode=Mode.WATCHING)

    @property
    def namespaces(self):
        return {each.name: each for each in self.view.namespaces()}


@pytest.fixture
def watched() -> Watched:
    made = Watched()
    made.store.upsert(NAMESPACES, Namespace(metadata=Metadata(name="team-a")))
    made.store.upsert(HTTP_ROUTES, a_route())
    return made


def a_route(name: str = "llama") -> HTTPRoute:
    return HTTPRoute(metadata=Metadata(name=name, namespace="team-a"))


def test_a_namespace_without_a_harness_is_shown_for_the_sake_of_its_models(watched):
    found = watched.look().look().namespaces["team-a"]
    assert found.harness is None
    [route] = found.inference_sets
    assert (route.name, route.state, route.available) == ("HTTPRoute/llama", State.CURRENT, True)
    assert (found.state, found.available, route.replicas) == (State.CURRENT, True, None)


def test_a_finding_about_it_is_that_of_its_namespace(watched):
    watched.look().broken.add(ROUTE)
    found = watched.look().look().namespaces["team-a"]
    assert found.state is State.FAILED
    assert found.blocking.reason == REASON
    assert found.inference_sets[0].blocking.message.startswith("llama: Thing thing")


def test_what_lies_on_the_path_of_its_requests_makes_it_unavailable(watched):
    watched.look().broken.add(ROUTE)
    (route,) = watched.look().look().namespaces["team-a"].inference_sets
    assert (route.available, route.not_available.reason) == (None, REASON)
    entry = replace(watched.catalogue[REASON], path=(PathRow("HTTPRoute"),))
    watched.catalogue = replace(
        watched.catalogue, entries={**watched.catalogue.entries, REASON: entry}
    )
    watched.rollup = RollUp()
    (route,) = watched.look().namespaces["team-a"].inference_sets
    assert (route.available, route.not_available.reason) == (False, REASON)


def test_what_blocks_it_is_no_inferenceset(watched):
    watched.look().broken.add(ROUTE)
    watched.look().look()
    blocking = list(find_blocking_objects(watched.rollup))
    assert all(each.resource != "inferencesets.kaito.sh" for each in blocking)


def test_a_namespace_goes_with_the_last_of_them(watched):
    assert "team-a" in watched.look().namespaces
    watched.store.delete(HTTP_ROUTES, "team-a", "llama")
    assert "team-a" not in watched.look().namespaces


def test_a_namespace_that_gets_or_loses_a_harness_keeps_its_models(watched):
    labelled = Namespace(metadata=Metadata(name="team-a", labels=dict([HARNESS_LABEL])))
    watched.look().store.upsert(NAMESPACES, labelled)
    found = watched.look().namespaces["team-a"]
    assert found.harness is not None
    assert [each.name for each in found.inference_sets] == ["HTTPRoute/llama"]
    watched.store.upsert(NAMESPACES, Namespace(metadata=Metadata(name="team-a")))
    found = watched.look().namespaces["team-a"]
    assert found.harness is None
    assert [each.name for each in found.inference_sets] == ["HTTPRoute/llama"]


def test_a_subject_of_another_kind_is_unknown_while_its_kind_cannot_be_listed(watched):
    watched.look().store.set_watch_state(HTTP_ROUTES, NotSynced("may not list it", refused=True))
    found = watched.look().namespaces["team-a"]
    assert found.inference_sets[0].state is State.UNKNOWN
    assert "may not list it" in found.inference_sets[0].blocking.message
    assert [each.layer for each in watched.rollup.cluster.unlisted] == [MODELS]


def test_a_namespace_or_subject_that_cannot_be_listed_is_unknown_and_not_missing():
    unread = Watched()
    unread.store.set_watch_state(HTTP_ROUTES, NotSynced("may not list it", refused=True))
    view = unread.look().view
    summary, found = view.namespace_summary("team-b"), view.inference_set("team-b", ROUTE.name)
    for each in (summary, found):
        assert (each.state, each.blocking.layer) == (State.UNKNOWN, MODELS)
        assert "may not list it" in each.blocking.message
        assert each.blocking.since is not None
    assert view.inference_set("team-b", "llama") is None, "InferenceSets are another kind"


def test_a_harness_whose_models_cannot_be_listed_is_unknown(watched):
    labelled = Namespace(metadata=Metadata(name="team-b", labels=dict([HARNESS_LABEL])))
    watched.store.upsert(NAMESPACES, labelled)
    assert watched.look().namespaces["team-b"].state is State.CURRENT
    watched.store.set_watch_state(HTTP_ROUTES, NotSynced("may not list it", refused=True))
    found = watched.look().namespaces["team-b"]
    assert (found.state, found.blocking.layer) == (State.UNKNOWN, MODELS)
    assert "may not list it" in found.blocking.message
    watched.store.set_watch_state(HTTP_ROUTES, Watching())
    assert watched.look().namespaces["team-b"].state is State.CURRENT


def test_a_namespace_that_nothing_makes_known_is_missing(watched):
    view = watched.look().view
    assert view.namespace_summary("team-b") is None
    assert view.inference_set("team-a", "HTTPRoute/other") is None
