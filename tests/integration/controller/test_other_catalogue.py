"""The inputs of a process whose catalogue changes: what is watched, and what needs a restart."""

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.subject_definitions import SubjectDefinitions
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.inputs import Inputs
from reporter.controller.unread import UnreadKinds
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kube.client import RestClient
from reporter.model.observations import NotSynced
from reporter.process.clock import Clock
from tests.integration.kube.test_elector import api, server
from tests.integration.process.test_reload import MODELS_OFF
from tests.support.builders import NOON
from tests.support.settings import settings


__all__ = ["api", "server"]

SETS = "inferencesets.kaito.sh"


def with_overlay(folder: Path, text: str, *packs: str) -> Catalogue:
    file = folder / "overlay.yaml"
    file.write_text(text)
    return load_shipped_catalogue(file, packs)


def inputs_of(api: RestClient, catalogue: Catalogue) -> Inputs:
    return Inputs(settings(), catalogue, api, Clock(), count_scrape=lambda result: None)


@pytest.mark.parametrize(
    "current",
    ["has(object.spec.other)", "!has(object.status) || !has(object.status.modelStatus)"],
)
async def test_a_kind_that_makes_subjects_may_be_read_in_another_way(
    api: RestClient, tmp_path: Path, current: str
):
    inputs = inputs_of(api, load_shipped_catalogue(packs=["kserve"]))
    changed = f"{{ parameters: {{ current: '{current}' }} }}"
    overlay = f"reasons:\n  inferenceserviceSpecInvalid: {changed}\n"
    assert inputs.why_restart(with_overlay(tmp_path, overlay, "kserve")) == ""


async def test_subjects_of_other_objects_need_a_restart(api: RestClient, tmp_path: Path):
    shipped = load_shipped_catalogue(packs=["kserve"])
    inputs = inputs_of(api, shipped)
    (rule, *others) = shipped.subject_definitions.all
    moved = replace(rule, kind=dataclasses.replace(rule.kind, alias="other", resource="others"))
    definitions = SubjectDefinitions((moved, *others))
    other = replace(shipped, subject_definitions=definitions)
    assert inputs.why_restart(other) == "other objects would make its subjects"


async def test_a_subject_whose_reasons_are_all_off_needs_no_restart(
    api: RestClient, tmp_path: Path
):
    shipped = load_shipped_catalogue(packs=["kserve"])
    inputs = inputs_of(api, shipped)
    off = [
        f"  {each.reason}: {{ enabled: false }}\n"
        for each in shipped.entries.values()
        if each.subject_kind == "LLMInferenceService" and not each.is_ready_reason
    ]
    off.append("  clusterLLMServiceControllerNotReady: { enabled: false }\n")  # which these need
    catalogue = with_overlay(tmp_path, "reasons:\n" + "".join(off), "kserve")
    assert inputs.why_restart(catalogue) == ""
    inputs.prepare_catalogue(catalogue)()
    assert "llminferenceservices.serving.kserve.io" not in inputs.store.snapshot().tables


async def test_a_kind_that_nothing_needs_any_more_is_not_shown(api: RestClient, tmp_path: Path):
    before, after = load_shipped_catalogue(), with_overlay(tmp_path, MODELS_OFF, "kaito")
    inputs = inputs_of(api, before)
    inputs.store.set_watch_state(INFERENCE_SETS, NotSynced("may not list", refused=True))
    unread = UnreadKinds(inputs.store, before, ())
    assert SETS in {each.kind for each in inputs.report().watches}
    assert SETS in unread.find(now=NOON)
    assert inputs.why_restart(after) == ""
    inputs.prepare_catalogue(after)()
    unread.change_catalogue(after)
    assert SETS not in {each.kind for each in inputs.report().watches}
    assert SETS not in unread.find(now=NOON)
    inputs.prepare_catalogue(before)()
    assert SETS in {each.kind for each in inputs.report().watches}
