"""A list that is stored as a whole leaves the store as its objects do one by one."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.kinds.core import PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.store import store as store_module
from reporter.store.store import Store
from tests.support.builders import NOON, a_pod
from tests.support.catalogue_fixture import SUBJECTS


@st.composite
def pods(draw):
    workload = draw(st.sampled_from(("a", "b", "c")))
    return a_pod(
        f"{workload}-6c9f-{draw(st.integers(0, 5))}",
        draw(st.sampled_from(("red", "blue"))),
        workload=workload,
        ready=draw(st.booleans()),
        created_at=NOON - timedelta(seconds=draw(st.integers(0, 2))),
    )


LISTS = st.lists(pods(), max_size=30)


def content(store):
    table = store.snapshot().tables[PODS.resource]
    objects = {(o.metadata.namespace, o.metadata.name): o for o in table.objects.values()}
    keys = tuple(table.index.keys())
    return objects, {key: table.index.get(key) for key in keys}


@given(LISTS, LISTS, st.integers(1, 8))
def test_a_list_is_stored_as_its_objects_one_by_one(earlier, listed, batch_size):
    whole, single = (
        Store(DEFAULT_KINDS, subjects=SUBJECTS),
        Store(DEFAULT_KINDS, subjects=SUBJECTS),
    )
    for each in earlier:
        whole.upsert(PODS, each)
        single.upsert(PODS, each)
    whole.mark_undecodable(PODS, "red", "a-6c9f-0")
    single.mark_undecodable(PODS, "red", "a-6c9f-0")
    assert whole.take_dirty() == single.take_dirty()
    token = whole.snapshot().tables[PODS.resource].subjects_token
    before = set(content(whole)[0])
    for each in listed:
        single.upsert(PODS, each)
    names = {(o.metadata.namespace, o.metadata.name) for o in listed}
    for name in sorted({*before, ("red", "a-6c9f-0")} - names):
        single.delete(PODS, *name)
    original, store_module.BATCH_SIZE = store_module.BATCH_SIZE, batch_size
    try:
        whole.replace(PODS, listed)
    finally:
        store_module.BATCH_SIZE = original
    assert content(whole) == content(single)
    assert whole.snapshot().undecodable == single.snapshot().undecodable
    assert whole.take_dirty() == single.take_dirty()
    changed = set(content(whole)[0]) != before
    assert not changed or whole.snapshot().tables[PODS.resource].subjects_token is not token
