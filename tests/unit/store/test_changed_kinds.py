"""Kinds that a change of the catalogue reads in another way, or does not need any more."""

import msgspec

from reporter.catalogue.entries import Catalogue
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.kinds.core import PODS
from reporter.kinds.karpenter import NODE_CLAIMS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotSynced, Watching
from reporter.model.verdicts import Active, Clear, ObjectRef, Unknown
from reporter.snapshot.subjects import find_subjects
from reporter.store.store import Store
from tests.support import source_builders
from tests.support.builders import a_condition, a_pod
from tests.support.catalogue_fixture import SUBJECTS
from tests.support.model_builders import TEAM as MODEL_TEAM
from tests.support.model_builders import WORKSPACE, a_workspace
from tests.support.own_reasons import (
    HARNESS,
    READY,
    OwnStore,
    a_reason,
    an_overlay,
    an_own_store,
    own_catalogue,
    ready,
)


ALSO = "object.spec.size > 1"


def change(own: OwnStore, catalogue: Catalogue) -> ResourceKind:
    """Change the catalogue of a store; return its kind as it is watched from now on."""
    kinds = kinds_to_watch(catalogue)
    own.catalogue = catalogue
    own.store.prepare_kinds(kinds, (), catalogue.subject_definitions)()
    return own.kind()


def with_reasons(*entries: object) -> Catalogue:
    return own_catalogue(an_overlay(*entries))


def list_anew(own: OwnStore, *contents: dict[str, object]) -> None:
    kind = own.kind()
    objects = [msgspec.convert(each, kind.type) for each in contents]
    own.store.replace(kind, objects)
    own.store.set_watch_state(kind, Watching())


def chat(**content: object) -> dict[str, object]:
    return {"metadata": {"name": "chat", "namespace": "team-a", "uid": "u"}, **content}


def test_a_kind_that_is_read_in_another_way_is_unknown_until_it_is_listed():
    own = an_own_store(a_reason())
    own.put(status=ready("True"))
    assert isinstance(own.verdict(), Clear)
    before = own.kind()
    assert change(own, with_reasons(a_reason(current=ALSO))) != before
    assert own.store.watch_states[own.store.kinds.index(own.kind())] == NotSynced()
    assert isinstance(own.verdict(), Unknown)
    list_anew(own, chat(spec={"size": 1}))
    assert isinstance(own.verdict(), Active)
    own.store.replace(own.kind(), [])
    assert isinstance(own.verdict(), Clear)


def test_objects_that_are_no_longer_listed_are_gone_with_the_new_list():
    own = an_own_store(a_reason())
    old = own.put(status=ready("True"))
    own.put(metadata={"name": "other", "uid": "o"}, status=ready("True"))
    change(own, with_reasons(a_reason(current=ALSO)))
    assert len(list(own.store.snapshot().all(own.kind()))) == 2
    list_anew(own, chat(spec={"size": 2}))
    (kept,) = own.store.snapshot().all(own.kind())
    assert (kept.metadata.name, type(kept)) == ("chat", own.kind().type)
    assert type(kept) is not type(old)


def test_what_was_current_before_is_remembered_while_current_means_the_same():
    own = an_own_store(a_reason())
    own.put(status=ready("True"))
    more = a_reason(reason="modelharnessSizeWrong", rank=81, current=ALSO)
    change(own, with_reasons(a_reason(), more))
    list_anew(own, chat(status=ready("False"), spec={"size": 1}))
    assert kind_of_trouble(own) is TroubleKind.LOST
    assert kind_of_trouble(own, "modelharnessSizeWrong") is TroubleKind.STARTING


def test_another_meaning_of_current_was_never_fulfilled():
    own = an_own_store(a_reason())
    own.put(status=ready("True"))
    change(own, with_reasons(a_reason(current=f"{READY} && {ALSO}")))
    list_anew(own, chat(status=ready("True"), spec={"size": 1}))
    assert kind_of_trouble(own) is TroubleKind.STARTING


def test_another_object_of_that_name_was_never_current():
    own = an_own_store(a_reason())
    own.put(status=ready("True"))
    change(own, with_reasons(a_reason(failed=ALSO)))
    other = chat(status=ready("False"), spec={"size": 1})
    other["metadata"] = {"name": "chat", "namespace": "team-a", "uid": "another"}
    list_anew(own, other)
    assert kind_of_trouble(own) is TroubleKind.STARTING


def test_a_second_change_while_the_list_is_under_way_is_unknown_as_well():
    own = an_own_store(a_reason())
    own.put(status=ready("True"))
    first = own.catalogue
    change(own, with_reasons(a_reason(current=ALSO)))
    change(own, first)
    assert isinstance(own.verdict(), Unknown)
    list_anew(own, chat(status=ready("False")))
    assert kind_of_trouble(own) is TroubleKind.LOST


def kind_of_trouble(own: OwnStore, reason: str = "modelharnessServiceNotReady") -> TroubleKind:
    verdict = own.verdict(HARNESS, reason)
    assert isinstance(verdict, Active), verdict
    return verdict.troubles[0].kind


def test_what_is_known_of_a_kind_that_goes_is_forgotten():
    own = an_own_store(a_reason())
    own.put(status=ready("True"))
    name = own.kind().watch_name
    own.store.mark_undecodable(own.kind(), "team-a", "broken")
    own.store.upsert(PODS, a_pod("gone-0"))
    own.store.delete(PODS, "team-a", "gone-0")
    kept = tuple(kind for kind in own.store.kinds if kind not in (own.kind(), PODS))
    own.store.prepare_kinds(kept, (), SUBJECTS)()
    snapshot = own.store.snapshot()
    assert name not in snapshot.tables
    assert PODS.table not in snapshot.tables
    assert not snapshot.undecodable
    assert ObjectRef("pods", "team-a", "gone-0") not in snapshot.deleted_uids
    assert own.store.get_pod("team-a", "gone-0") is None


def test_subjects_stay_while_their_objects_are_listed_anew(tmp_path):
    before = load_shipped_catalogue(packs=["kserve"])
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "reasons: { inferenceserviceSpecInvalid:"
        " { parameters: { current: has(object.spec.other) } } }\n"
    )
    after = load_shipped_catalogue(overlay, ["kserve"])
    assert after.subject_definitions != before.subject_definitions
    store = Store(kinds_to_watch(before), subjects=before.subject_definitions)
    store.upsert(of(store), msgspec.convert(chat(), of(store).type))
    for kind in store.kinds:
        store.set_watch_state(kind, Watching())
    subjects = find_subjects(store.snapshot())
    assert any(each.object_name == "chat" for each in subjects)
    store.prepare_kinds(kinds_to_watch(after), (), after.subject_definitions)()
    assert find_subjects(store.snapshot()) == subjects
    store.replace(of(store), [])
    assert find_subjects(store.snapshot()) < subjects


def of(store: Store) -> ResourceKind:
    return next(kind for kind in store.kinds if kind.kind == "InferenceService")


def test_machines_lost_before_node_claims_were_unwatched_count_no_more():
    store = source_builders.a_store(a_workspace())
    kinds = store.kinds
    lose_a_machine(store)
    store.prepare_kinds(tuple(each for each in kinds if each is not NODE_CLAIMS), (), SUBJECTS)()
    store.prepare_kinds(kinds, (), SUBJECTS)()
    lose_a_machine(store)
    assert not list(store.snapshot().provisioning_errors.keys())
    lose_a_machine(store)
    assert list(store.snapshot().provisioning_errors.keys()) == [(MODEL_TEAM, WORKSPACE)]


def lose_a_machine(store: Store) -> None:
    """Show a machine that was launched, and goes before its Node registers."""
    store.upsert(NODE_CLAIMS, source_builders.a_claim(a_condition("Launched", "True")))
    store.delete(NODE_CLAIMS, "", source_builders.CLAIM)
