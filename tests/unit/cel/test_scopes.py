"""
A kind that is declared with namespaces and has none, or the reverse: it is shown, and not read.
"""

import pytest

from reporter.cli.configuration import load_shipped_catalogue
from reporter.model.enums import Layer
from reporter.model.observations import DiscoveryResult, NotServed, Watching
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.snapshot.subjects import find_subjects, find_unknown_subjects
from tests.support.builders import MINUTE, NOON
from tests.support.own_reasons import OwnStore, a_reason, an_overlay, own_catalogue


SERVICES = "inferenceservices.serving.kserve.io"
QUOTA = {"kind": "Quota", "group": "example.com", "resource": "quotas", "namespaced": False}
QUOTAS = "quotas.example.com"
OF_CLUSTER = a_reason(
    reason="clusterQuotaExhausted",
    layer="cluster",
    rank=95,
    kind="Quota",
    current="object.spec.ok",
    message="{object}.",
)
PACK = """\
kinds:
  - { kind: Model, group: example.com, version: v1, resource: models }
subjects:
  - { layer: modeldeployment, kind: Model, about: one Model }
reasons:
  - reason: modelNotServing
    layer: modeldeployment
    type: Warning
    owner: user
    rank: 10
    probe: cel
    parameters: { kind: Model, current: object.status.phase == "Serving" }
    message: "Model {namespace}/{model} does not serve."
    remedy: { default: Look at it. }
  - reason: modelReady
    layer: modeldeployment
    type: Normal
    owner: user
    message: "Model {namespace}/{model} serves again."
"""


@pytest.fixture
def store() -> OwnStore:
    return OwnStore(own_catalogue(an_overlay(a_reason(), OF_CLUSTER, kinds=[QUOTA])))


def discovered(store: OwnStore, *, minute: int, **namespaced: bool) -> None:
    scopes = {{"services": SERVICES, "quotas": QUOTAS}[key]: on for key, on in namespaced.items()}
    served = {SERVICES: ("v1",), QUOTAS: ("v1",)}
    found = DiscoveryResult(served, namespaced=scopes)
    store.store.record_discovery(found, now=NOON + minute * MINUTE)


def why(store: OwnStore, *about: object) -> str:
    verdict = store.verdict(*about)
    assert isinstance(verdict, Unknown), verdict
    return verdict.why


def test_a_kind_without_namespaces_that_is_declared_with_them_is_unknown_with_what_to_do(store):
    discovered(store, minute=1, services=False, quotas=False)
    assert why(store).startswith(f"{SERVICES} not listed yet: ")
    assert why(store).endswith(
        "overlay.yaml:1: InferenceService is declared with namespaces, and has none;"
        " add `namespaced: false`"
    )
    assert isinstance(store.verdict(CLUSTER_SUBJECT, OF_CLUSTER["reason"]), Clear)


def test_a_kind_with_namespaces_that_is_declared_without_them_is_unknown_too(store):
    store.put("Quota", spec={"ok": False})
    discovered(store, minute=1, services=True, quotas=True)
    found = why(store, CLUSTER_SUBJECT, OF_CLUSTER["reason"])
    assert (
        "Quota is declared without namespaces, and has them; remove `namespaced: false`" in found
    )
    assert isinstance(store.verdict(), Clear)


def test_without_an_answer_about_the_scope_a_kind_is_read(store):
    store.put(status={"conditions": []})
    discovered(store, minute=1)
    assert isinstance(store.verdict(), Active)


def test_a_crd_that_is_made_anew_with_another_scope_is_seen_at_the_next_discovery(store):
    discovered(store, minute=1, services=True)
    assert isinstance(store.verdict(), Clear)
    store.store.take_dirty()
    discovered(store, minute=2, services=False)
    assert store.store.take_dirty(), "what depends on it is evaluated again"
    assert "has none" in why(store)
    assert not any(isinstance(e, Watching) for e in states(store)), "the watch counts as closed"
    assert SERVICES not in store.store.kinds_waited_for(), "waiting is no use"
    discovered(store, minute=3, services=True)
    assert isinstance(store.verdict(), Clear)


def test_a_crd_that_is_deleted_has_no_scope(store):
    discovered(store, minute=1, services=False)
    store.store.set_watch_state(store.kind(), NotServed())
    for minute in (2, 3):
        store.store.record_discovery(DiscoveryResult({}), now=NOON + minute * MINUTE)
    assert states(store) == [NotServed()]
    assert isinstance(store.verdict(), Clear)


def states(store: OwnStore) -> list[object]:
    found = zip(store.store.kinds, store.store.watch_states, strict=True)
    return [state for kind, state in found if kind == store.kind()]


def test_the_subjects_of_such_a_kind_are_unknown_and_not_absent(tmp_path):
    pack = tmp_path / "models"
    pack.mkdir()
    (pack / "pack.yaml").write_text(PACK)
    store = OwnStore(load_shipped_catalogue(packs=[str(pack)]))
    found = DiscoveryResult(
        {"models.example.com": ("v1",)}, namespaced={"models.example.com": False}
    )
    store.store.record_discovery(found, now=NOON + MINUTE)
    snapshot = store.store.snapshot()
    assert {each.layer for each in find_subjects(snapshot)} == {Layer.CLUSTER}
    (unknown,) = find_unknown_subjects(snapshot, now=NOON).items()
    assert unknown[0].kind == "Model"
    assert f"{pack / 'pack.yaml'}:2: Model is declared with namespaces" in unknown[1]


def test_a_definition_that_moves_in_its_file_is_the_same_kind_with_its_new_line():
    first = own_catalogue(an_overlay(a_reason()))
    again = own_catalogue("\n\n" + an_overlay(a_reason()))
    before, after = (OwnStore(each).kind() for each in (first, again))
    assert before == after, "it is not listed anew"
    assert (before.place[-2:], after.place[-2:]) == (":1", ":3")


def test_the_scope_is_part_of_the_kind():
    kinds = [{**QUOTA, "namespaced": on} for on in (False, True)]
    made = [own_catalogue(an_overlay(OF_CLUSTER, kinds=[each])) for each in kinds]
    (before, after) = (OwnStore(each).kind("Quota") for each in made)
    assert before != after
