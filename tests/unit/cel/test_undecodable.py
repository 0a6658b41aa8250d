"""Objects that cannot be decoded leave themselves open, and no other object of their subject."""

import pytest

from reporter.kinds.objects import Metadata
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.model.verdicts import Active
from tests.support.own_reasons import HARNESS, TEAM, a_reason, an_own_store, ready


OF_CLUSTER = a_reason(
    reason="clusterServiceNotReady", layer="cluster", rank=95, message="{object}."
)


def test_an_object_that_cannot_be_decoded_is_unknown_and_hides_no_other():
    store = an_own_store()
    store.put(metadata={"name": "a"}, status=ready("False"))
    store.put(metadata={"name": "b"}, status=ready("False"))
    store.store.mark_undecodable(store.kind(), TEAM, "a")
    verdict = store.verdict()
    assert [t.cause.object.name for t in verdict.troubles] == ["b"]
    assert [ref.name for ref in verdict.open_objects] == ["a"]
    store.store.delete(store.kind(), TEAM, "b")
    assert "could not be decoded" in store.verdict().why


@pytest.mark.parametrize("entry", [a_reason(), OF_CLUSTER], ids=["harness", "cluster"])
def test_several_objects_that_cannot_be_decoded_hide_no_other(entry):
    store, subject = an_own_store(entry), HARNESS
    if entry is OF_CLUSTER:
        subject = CLUSTER_SUBJECT
    for name in ("a", "b", "c"):
        store.put(metadata={"name": name}, status=ready("False"))
    for name in ("a", "b"):
        stub = store.kind().type(metadata=Metadata(name=name, namespace=TEAM))
        store.store.mark_undecodable(store.kind(), TEAM, name, stub)
    verdict = store.verdict(subject, entry["reason"])
    assert isinstance(verdict, Active), verdict
    assert [t.cause.object.name for t in verdict.troubles] == ["c"]
    assert sorted(ref.name for ref in verdict.open_objects) == ["a", "b"]
