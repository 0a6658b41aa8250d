"""
Kinds that a catalogue declares, in a dump: it is read as far as their selectors and namespaces go.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reporter.evaluation.evaluation import Evaluation
from reporter.model.subjects import FindingKey
from tests.integration.status.single_look import evaluate_once, observe_once
from tests.support.own_reasons import HARNESS, REASON, a_reason, an_overlay, own_catalogue
from tests.support.settings import settings


NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SELECTED = {"checked": "yes"}


def a_map(name: str, ok: str, namespace: str = "team-a", **labels: str) -> dict:
    meta = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"ok": ok}}


def state_of(folder: Path, objects: list[dict], **limits: str) -> str:
    """Return the state of a reason about ConfigMaps in a dump, whose kind has these limits."""
    kind = {"kind": "ConfigMap", "resource": "configmaps", **limits}
    reason = a_reason(kind="ConfigMap", current="object.data.ok == 'yes'", hold={"starting": "0s"})
    catalogue = own_catalogue(an_overlay(reason, kinds=[kind]))
    label = {"productionstack.kaito.sh/managed-by": "modelharness"}
    team = {"name": "team-a", "labels": label}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": team}
    path = folder / "dump.json"
    empty = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-c"}}
    items = [namespace, empty, *objects]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = evaluate_once(
        observe_once(str(path), settings(), catalogue, now=NOW), settings(), catalogue
    )
    return _state(found)


def _state(found: Evaluation) -> str:
    key = FindingKey(HARNESS, REASON)
    if key in found.tracked.unknown_states:
        return "unknown"
    state = found.tracked.finding_states.get(key)
    return "trouble" if state is not None and state.troubles else "clear"


@pytest.mark.parametrize(
    ("limits", "state"),
    [
        ({}, "trouble"),
        ({"label-selector": "checked=yes"}, "clear"),
        ({"label-selector": "checked!=yes"}, "trouble"),
        ({"field-selector": "metadata.name!=wrong"}, "clear"),
        ({"namespace": "team-a"}, "trouble"),
        ({"namespace": "team-b"}, "clear"),
        ({"namespace": "team-c"}, "unknown"),
    ],
)
def test_what_is_not_selected_is_not_evaluated(tmp_path: Path, limits: dict, state: str):
    objects = [
        a_map("wrong", "no"),
        a_map("right", "yes", **SELECTED),
        a_map("other", "yes", namespace="team-b"),
    ]
    assert state_of(tmp_path, objects, **limits) == state
