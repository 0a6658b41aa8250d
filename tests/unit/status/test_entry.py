"""The text about a reason, and about a chain of them."""

from datetime import timedelta

from msgspec.structs import replace

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Reason
from reporter.settings import FLAG_NAMES
from reporter.status.entry_table import EntryText
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


KAITO, PODS = "clusterKaitoControllerNotReady", "inferencesetModelPodsNotReady"
GRACE = timedelta(seconds=60)
ENTRY = replace(DEFAULT_CATALOGUE[Reason(KAITO)], meaning="It is out.", runbook=("Look.",))
CATALOGUE = replace(DEFAULT_CATALOGUE, entries={**DEFAULT_CATALOGUE.entries, ENTRY.reason: ENTRY})
TEXTS = EntryText(CATALOGUE, grace=GRACE)


def rendered(reason: str) -> str:
    return "\n".join(TEXTS.render(Reason(reason)))


def test_a_reason_is_explained_with_all_its_facts():
    text = rendered(KAITO)
    for expected in (
        "Layer:         cluster: about the control plane of the stack",
        "Owner:         platform: must act",
        "Holds:         declared 0s, failed 15s, lost 30s, starting 60s",
        "Meaning:\n  It is out.",
        "  ScaledToZero: Scale it back up",
        "What to do:\n  1. Look.",
        f"  {PODS} (everywhere): KAITO's controller creates",
    ):
        assert expected in text


def test_a_reason_of_another_pack_names_the_subjects_of_that_pack():
    catalogue = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES, packs=["kserve"])
    texts = EntryText(catalogue, grace=GRACE)
    layers = {
        line
        for reason in catalogue.entries
        for line in texts.render(reason)
        if line.startswith("Layer:")
    }
    assert "Layer:         modeldeployment: about one LLMInferenceService" in layers


def test_an_explained_reason_names_what_suppresses_it_missing_crds_too():
    text = rendered(PODS)
    assert f"  {KAITO} (everywhere): " in text.partition("Suppressed by:")[2]
    assert "  clusterCRDMissing, of " in text


def test_every_reason_can_be_explained_in_a_hundred_columns():
    for reason in DEFAULT_CATALOGUE.entries:
        lines = list(TEXTS.render(reason))
        assert lines[0] == f"Reason:        {reason}"
        assert max(map(len, lines)) <= 100


def test_a_chain_names_why_each_step_follows():
    (row,) = (
        row for row in DEFAULT_CATALOGUE.suppressions if (row.source, row.target) == (KAITO, PODS)
    )
    symptom, step, *why = TEXTS.render_chain((PODS, KAITO))
    assert symptom == f"{PODS} (the symptom)"
    assert step == f"  ↳ because of {KAITO} (the root)"
    assert " ".join(line.strip() for line in why) == row.why


def test_a_step_that_this_catalogue_does_not_have_is_shown_as_such():
    chain = "\n".join(TEXTS.render_chain((KAITO, "clusterSomethingNewer")))
    assert "because of clusterSomethingNewer (the root)" in chain
    assert "This catalogue has no such row" in chain
