"""An object that is needed and does not exist, as a controller that was deleted."""

from datetime import timedelta

import pytest

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.catalogue.entries import Catalogue
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.kinds.objects import Metadata
from reporter.model.enums import Reason, TroubleKind
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, Watching
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.model.verdicts import Active, Clear, ObjectRef, Trouble, Unknown, Verdict
from tests.support.builders import MINUTE, NOON
from tests.support.own_reasons import OwnStore, a_reason, an_overlay, own_catalogue


OPERATOR = {"kind": "Deployment", "name": "Operator", "group": "apps", "version": "v1"}
OPERATOR |= {"resource": "deployments"}
BY_NAME = {"field-selector": "metadata.name=operator"}
BY_LABEL = {"label-selector": "app=operator"}
REASON = "clusterOperatorNotReady"
CURRENT = "has(object.status.availableReplicas)"
META = {"name": "operator", "namespace": "system"}
SECOND = "2026-01-01T00:00:00Z"


MESSAGE = "{object} {state} ({count})."


def a_catalogue(current: str = CURRENT, message: str = MESSAGE, **limits: str) -> Catalogue:
    """Return a catalogue that needs an operator while there are InferenceServices."""
    reason = a_reason(
        reason=REASON,
        layer="cluster",
        rank=95,
        message=message,
        kind="Operator",
        neededBy=["InferenceService"],
        current=current,
    )
    kind = {**OPERATOR, **(limits or BY_NAME)}
    return own_catalogue(an_overlay(reason, kinds=[kind]))


def a_store(**limits: str) -> OwnStore:
    return OwnStore(a_catalogue(**limits))


def verdict(store: OwnStore) -> Verdict:
    return store.verdict(CLUSTER_SUBJECT, REASON, **{"release-namespace": "stack"})


def trouble(store: OwnStore) -> Trouble:
    found = verdict(store)
    assert isinstance(found, Active), found
    (only,) = found.troubles
    return only


def put_operator(store: OwnStore, **meta: str) -> None:
    store.put("Deployment", metadata={**META, **meta}, status={"availableReplicas": 1})


def test_of_a_stack_without_objects_nothing_is_missing():
    store = a_store()
    assert isinstance(verdict(store), Clear)
    put_operator(store)
    store.store.delete(store.kind("Deployment"), "system", "operator")
    assert isinstance(verdict(store), Clear), "it was uninstalled"


def why_unknown(store: OwnStore) -> str:
    found = verdict(store)
    assert isinstance(found, Unknown), found
    return found.why


def test_a_needed_object_that_was_never_seen_may_be_elsewhere_and_is_unknown():
    store = a_store()
    store.put()
    assert why_unknown(store) == (
        "Deployment operator does not exist; if something else does its work,"
        " set neededBy to [] for this reason in an overlay"
    )


def test_a_needed_object_that_was_deleted_is_lost_and_out_as_the_object_that_it_was():
    store = a_store()
    store.put()
    put_operator(store)
    assert isinstance(verdict(store), Clear)
    store.store.take_dirty()
    store.store.delete(store.kind("Deployment"), "system", "operator")
    assert CLUSTER_SUBJECT in store.store.take_dirty()
    found = trouble(store)
    assert (found.kind, found.is_out, found.cause.code) == (TroubleKind.LOST, True, "Deleted")
    assert found.cause.object == ObjectRef("deployments.apps", "system", "operator")
    assert found.message_fields["object"] == "Deployment system/operator"
    assert found.message_fields["state"] == "was deleted"
    assert verdict(store).involved_object.name == "system"
    put_operator(store)
    assert isinstance(verdict(store), Clear)


def test_of_several_that_were_deleted_the_last_one_is_named():
    store = a_store()
    store.put()
    for namespace in ("old", "system", "early"):
        put_operator(store, namespace=namespace)
    for namespace in ("old", "early", "system"):
        store.store.delete(store.kind("Deployment"), namespace, "operator")
    assert trouble(store).cause.object.namespace == "system"


def test_a_needed_object_that_is_being_deleted_is_missing():
    store = a_store()
    store.put()
    put_operator(store, deletionTimestamp=SECOND)
    assert trouble(store).message_fields["object"] == "Deployment system/operator"


def test_another_object_than_the_missing_one_suffices():
    store = a_store()
    store.put()
    for namespace in ("system", "other"):
        put_operator(store, namespace=namespace)
    store.store.delete(store.kind("Deployment"), "system", "operator")
    assert isinstance(verdict(store), Clear)


def test_a_kind_with_a_label_selector_may_also_have_lost_its_label():
    store = a_store(**BY_LABEL)
    store.put()
    assert why_unknown(store).startswith("Deployment with app=operator does not exist;")
    put_operator(store)
    store.store.delete(store.kind("Deployment"), "system", "operator")
    assert trouble(store).foreign_text == "it was deleted or no longer has app=operator"


def test_the_first_and_the_last_object_that_needs_it_dirty_the_cluster():
    store = a_store()
    store.store.take_dirty()
    store.put()
    assert CLUSTER_SUBJECT in store.store.take_dirty()
    store.put(status={"url": "x"})
    assert CLUSTER_SUBJECT not in store.store.take_dirty()
    store.store.delete(store.kind(), "team-a", "chat")
    assert CLUSTER_SUBJECT in store.store.take_dirty()


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{object} {state} ({count}).", "Deployment system/operator was deleted (1 of 1)."),
        ("{object}.", "Deployment system/operator: it was deleted."),
    ],
)
def test_that_it_was_deleted_is_said_once(template: str, expected: str):
    catalogue = a_catalogue(message=template)
    store = OwnStore(catalogue)
    store.put()
    put_operator(store)
    store.store.delete(store.kind("Deployment"), "system", "operator")
    reported = ReportedTrouble(trouble(store), timedelta(0))
    entry = catalogue.entries[Reason(REASON)]
    message = render_message(MessageInput(entry, CLUSTER_SUBJECT, (reported,)))
    assert message.partition(" User: ")[0] == expected


def test_while_the_kinds_that_need_it_cannot_be_listed_it_is_unknown():
    store = a_store()
    store.store.set_watch_state(store.kind(), NotSynced("may not list", refused=True))
    found = verdict(store)
    assert isinstance(found, Unknown)
    assert "may not list" in found.why
    put_operator(store)
    assert isinstance(verdict(store), Clear), "nothing is missing"
    store.store.delete(store.kind("Deployment"), "system", "operator")
    store.store.set_watch_state(store.kind(), NotServed())
    assert isinstance(verdict(store), Clear), "a kind that is not served has no objects"


def test_until_it_is_confirmed_that_the_kind_that_needs_it_is_gone_it_is_unknown():
    store = a_store()
    store.put()
    put_operator(store)
    store.store.delete(store.kind("Deployment"), "system", "operator")
    assert trouble(store)
    store.store.set_watch_state(store.kind(), NotServed())
    assert isinstance(verdict(store), Unknown)
    store.store.record_discovery(DiscoveryResult({}), now=NOON + MINUTE)
    assert isinstance(verdict(store), Clear)


def test_while_it_cannot_be_listed_itself_it_is_unknown():
    store = a_store()
    store.put()
    store.store.set_watch_state(store.kind("Deployment"), NotSynced("may not list", refused=True))
    assert isinstance(verdict(store), Unknown)


@pytest.mark.parametrize("named", ["InferenceService", "Deployment"])
def test_an_object_that_cannot_be_decoded_exists(named: str):
    store = a_store()
    kind = store.kind(named)
    stub = kind.type(metadata=Metadata(name="chat", namespace="team-a"))
    store.store.mark_undecodable(kind, "team-a", "chat", stub)
    if named == "Deployment":
        store.put()
        assert isinstance(verdict(store), Unknown)
    else:
        assert why_unknown(store).startswith("Deployment operator does not exist;")


def test_a_needed_object_that_was_deleted_before_its_kind_was_read_in_another_way_stays_lost():
    store = a_store()
    store.put()
    put_operator(store)
    store.store.delete(store.kind("Deployment"), "system", "operator")
    store.catalogue = a_catalogue("has(object.status.readyReplicas)")
    kinds = kinds_to_watch(store.catalogue)
    store.store.prepare_kinds(kinds, (), store.catalogue.subject_definitions)()
    changed = store.kind("Deployment")
    store.store.replace(changed, [])
    store.store.set_watch_state(changed, Watching())
    assert trouble(store).cause.code == "Deleted"
