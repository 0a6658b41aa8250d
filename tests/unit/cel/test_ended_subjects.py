"""
Objects of a declared kind that are being deleted, as their own status says: they are no subjects.
"""

from pathlib import Path

import pytest

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.rollup.touched import find_terminating
from reporter.settings import FLAG_NAMES
from reporter.snapshot.subjects import find_subjects
from tests.support.own_reasons import OwnStore


CHAT = Subject(Layer.MODELDEPLOYMENT, "team-a", "Model/chat")
PACK = """\
kinds:
  - {{ kind: Model, group: example.com, version: v1, resource: models }}
subjects:
  - layer: modeldeployment
    kind: Model
    about: one Model
    ended-conditions: [Deleting, Stopped]
    ended-phases: [Terminating]
reasons:
  - reason: modelNotServing
    layer: modeldeployment
    type: Warning
    owner: user
    rank: 10
    probe: cel
    parameters: {{ kind: Model, current: '{current}' }}
    message: "Model {{namespace}}/{{model}} does not serve."
    remedy: {{ default: Look at it. }}
  - {{ reason: modelReady, layer: modeldeployment, type: Normal, owner: user, message: "Model {{namespace}}/{{model}} serves again." }}
"""
READS = {
    "another field": "object.spec.ok",
    "the same conditions": 'object.status.conditions.exists(c, c.type == "Ready")',
    "all conditions": "object.status.conditions == []",
    "the whole status": "object.status == {}",
}


@pytest.fixture(params=[*READS.values()], ids=[*READS])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> OwnStore:
    """A store of Models, of which the reasons read different parts."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "pack.yaml").write_text(PACK.format(current=request.param))
    return OwnStore(
        load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES, packs=[str(folder)])
    )


def condition(kind: object, status: object = "True") -> dict[str, object]:
    return {"type": kind, "status": status, "message": "x"}


@pytest.mark.parametrize(
    ("status", "is_ended"),
    [
        (None, False),
        ({"phase": "Running", "conditions": [condition("Ready")]}, False),
        ({"phase": "Terminating"}, True),
        ({"conditions": [condition("Ready"), condition("Stopped")]}, True),
        ({"conditions": [condition("Deleting", "False")]}, False),
        ({"conditions": [condition("Deleting", True)]}, False),
        ({"conditions": [condition(["Deleting"]), condition({}), "Deleting", None]}, False),
        ({"conditions": {"Deleting": "True"}, "phase": ["Terminating"]}, False),
        ({"conditions": "Deleting", "phase": {"a": "Terminating"}}, False),
        ("Terminating", False),
        (["Terminating"], False),
    ],
)
def test_what_its_status_says_ends_the_subject(store: OwnStore, status: object, is_ended: bool):
    store.put("Model", **({} if status is None else {"status": status}))
    found = store.store.snapshot()
    assert find_subjects(found) - {CLUSTER_SUBJECT} == (set() if is_ended else {CHAT})
    assert find_terminating(found) == ({CHAT} if is_ended else set())


def test_the_subject_ends_and_comes_back_with_its_status(store: OwnStore):
    store.put("Model", status={"phase": "Running"})
    token = store.store.snapshot().tables[store.kind("Model").table].subjects_token
    store.put("Model", status={"phase": "Terminating"})
    after = store.store.snapshot()
    assert after.tables[store.kind("Model").table].subjects_token is not token
    assert CHAT not in find_subjects(after)
    store.put("Model", status={"phase": "Running"})
    assert CHAT in find_subjects(store.store.snapshot())
