"""
The shipped catalogue, with the probes that exist.

Its reasons, ranks and suppressions are pinned by the rendered pages, which are compared with it.
"""

import re
from pathlib import Path

import pytest

from docs.generators.catalogue_tables import renew_tables
from docs.generators.reasons import COMMAND, PACKS
from reporter.catalogue.entries import Catalogue, Scope
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import shipped_packs
from reporter.catalogue.reason_reference import read_entries, render_reasons
from reporter.evaluation.registry import SPECS
from reporter.model.enums import EventType, Layer, Reason
from reporter.settings import FLAG_NAMES
from reporter.stories.format import expected_announcements
from tests.support.cases import read_cases


ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "catalogue"
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(FOLDER, specs=SPECS, flags=FLAG_NAMES)


@pytest.fixture(scope="module")
def announced() -> list[str]:
    """All that is announced in the cases."""
    return [text for case in read_cases().values() for _, text in expected_announcements(case)]


def test_the_missing_crd_is_the_highest_reason_of_all(catalogue):
    highest = catalogue.evaluated_entries(Layer.CLUSTER)[0]
    assert highest.reason == catalogue.missing_crd_reason == "clusterCRDMissing"


def test_the_missing_crd_of_inferencesets_suppresses_every_reason_of_their_layer(catalogue):
    about = {e.reason for e in catalogue.entries.values() if e.layer is Layer.MODELDEPLOYMENT}
    suppressed = {
        r for r in catalogue.entries if "inferencesets.kaito.sh" in catalogue.required_crds(r)
    }
    assert suppressed == about - {catalogue.ready_entry(Layer.MODELDEPLOYMENT).reason}


def test_every_crd_that_a_probe_requires_is_among_those_checked(catalogue):
    checked = {r.crd for r in catalogue["clusterCRDMissing"].parameters.required}
    required_by_probes = {crd for r in catalogue.entries for crd in catalogue.required_crds(r)}
    assert required_by_probes <= checked


def test_every_probe_has_a_reason_but_the_one_for_reasons_of_ones_own(catalogue):
    assert {e.probe for e in catalogue.entries.values() if e.probe} == SPECS.keys() - {"cel"}


def test_rows_of_the_cluster_reach_all_and_those_of_a_namespace_only_it(catalogue):
    for row in catalogue.suppressions:
        of_cluster = catalogue[row.source].layer is Layer.CLUSTER
        assert (row.scope is Scope.CLUSTER) == of_cluster


def test_what_takes_every_model_down_is_critical_and_nothing_else(catalogue):
    """Without a CRD its objects are gone; the others have nobody behind them only while they are out."""
    severities = {e.reason: (e.severity, e.severity_while_out) for e in catalogue.entries.values()}
    critical = {reason: each for reason, each in severities.items() if "critical" in each}
    assert critical == {
        "clusterCRDMissing": ("critical", ""),
        "clusterGatewayAuthNotReady": ("warning", "critical"),
        "clusterBBRNotReady": ("warning", "critical"),
    }
    assert {each for pair in severities.values() for each in pair} == {"critical", "warning", ""}


def test_every_remedy_is_a_sentence_that_begins_with_what_to_do(catalogue):
    for entry in catalogue.entries.values():
        for code, remedy in entry.remedies.items():
            assert re.fullmatch(r"[A-Z].*\.", remedy), f"{entry.reason} {code}: {remedy}"


def test_messages_leave_space_for_names_and_texts_of_others(catalogue):
    """The API server takes 1024 bytes, and names and texts of others need their share."""
    for entry in catalogue.entries.values():
        longest = max((len(r.encode()) for r in entry.remedies.values()), default=0)
        assert len(entry.message_template.encode()) + longest < 500, entry.reason


def test_the_tables_of_the_readme_are_those_of_the_files(catalogue):
    page = (FOLDER / "README.md").read_text("utf-8")
    assert page == renew_tables(page, FOLDER), "run python -m docs.generators.catalogue_tables"
    for reason in catalogue.entries:
        assert f"| `{reason}` |" in page


def test_the_reference_of_reasons_is_that_of_the_files(catalogue):
    page = (DOCS / "reasons.md").read_text("utf-8")
    assert page == render_reasons(FOLDER, PACKS), f"run {COMMAND}"
    assert set(PACKS) == set(shipped_packs(FOLDER))
    for reason in (*catalogue.entries, *(each.reason for each in read_entries(FOLDER, PACKS))):
        assert f"\n### {reason}\n" in page


@pytest.mark.parametrize("entry", read_entries(FOLDER), ids=lambda entry: entry.reason)
def test_every_reason_has_a_meaning_and_an_example_that_a_case_announces(entry, announced):
    assert re.fullmatch(r"[A-Za-z].*\.", entry.meaning)
    begin = f"{entry.type} {entry.reason} "
    assert any(text.startswith(begin) and entry.example in text for text in announced)


@pytest.mark.parametrize(
    "entry",
    [entry for entry in read_entries(FOLDER) if entry.type is EventType.WARNING],
    ids=lambda entry: entry.reason,
)
def test_every_runbook_has_three_to_six_steps_with_commands(entry):
    assert 3 <= len(entry.runbook) <= 6
    assert sum("`kubectl " in step for step in entry.runbook) >= 2
    assert all(step.endswith(".") for step in entry.runbook)


def test_the_overlay_of_the_readme_is_accepted(tmp_path):
    page = (FOLDER / "README.md").read_text("utf-8")
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(example[1])
    made = load_catalogue(FOLDER, overlay, specs=SPECS, flags=FLAG_NAMES)
    assert not made[Reason("clusterKedaNotReady")].enabled
    assert made[Reason("clusterDashboardNotReady")].is_evaluated


def test_the_default_catalogue_is_found_in_a_checkout():
    assert default_folder() == FOLDER


DEFAULT_FITS = {
    "nodes": {"NotReady"},
    "deployments": {"Unavailable"},
    "check-jobs": {"CheckFailed"},
    "gateway-data-plane": {"Failed", "Misnamed", "Unavailable"},
    "endpoint-picker": {"Failed", "Misnamed", "Unavailable"},
    "ext-authz": {"NamespaceNotFound", "ServiceNotFound"},
    "api-keys": {"NotReconciled"},
    "catch-all-filter": {"FilterNotFound"},
    "provisioning": {"Degraded", "NodeClaimFailed"},
    "model-pods": {"Degraded"},
    "node-pressure": {"Unnamed"},
    "weight-download": {"Slow"},
    "engine-stalled": {"Degraded", "Stalled"},
    "engine-kv-cache": {"Saturated"},
    "engine-queue": {"Growing"},
    "engine-preemptions": {"Preempting"},
    "engine-errors": {"Failing"},
    "store-room": {"Full"},
}
"""The codes by probe whose remedy is the default one."""


def test_every_code_has_a_remedy_of_its_own_unless_the_default_fits(catalogue):
    for entry in catalogue.entries.values():
        if not entry.is_ready_reason:
            given = {part for code in entry.remedies for part in code.split(".")}
            without = SPECS[entry.probe].cause_codes - given
            assert without == DEFAULT_FITS.get(entry.probe, set()), entry.reason


def test_no_remedy_of_a_part_mentions_an_outage(catalogue):
    for entry in catalogue.entries.values():
        remedy = entry.remedies.get("Degraded", "")
        assert not {"until", "nothing"} & set(remedy.split()), entry.reason
