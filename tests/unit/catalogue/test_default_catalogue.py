"""
The catalogue that is shipped, with the probes that there are.
"""

import json
import re
import time
from pathlib import Path

import pytest

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.publish.readme import renew_tables
from reporter.catalogue.publish.schema import SCHEMAS, render_schema
from reporter.model.entries import Catalogue, Scope
from reporter.model.enums import Layer, Reason
from reporter.settings import FLAG_NAMES
from reporter.stages.probes.specs import SPECS


FOLDER = Path(__file__).parents[3] / "catalogue"
CHAINS = {
    Layer.CLUSTER: (
        "clusterCRDMissing clusterIstioControlPlaneNotReady clusterGatewayAuthNotReady "
        "clusterBBRNotReady clusterKaitoControllerNotReady clusterNodeProvisionerNotReady "
        "clusterKedaNotReady clusterKedaKaitoScalerNotReady"
    ),
    Layer.MODELHARNESS: (
        "modelharnessGatewayClassMissing modelharnessGatewayProgrammingFailed "
        "modelharnessGatewayDataPlaneNotReady modelharnessExtAuthzProviderMissing "
        "modelharnessAPIKeyReconcileFailed modelharnessCatchAllFilterRejected "
        "modelharnessNetworkPolicyMisconfigured"
    ),
    Layer.MODELDEPLOYMENT: (
        "inferencesetScalingMisconfigured inferencesetInfraProvisioningFailed "
        "inferencesetModelPodsNotReady inferencesetRouteNotReady inferencesetEPPNotReady"
    ),
}
READY = {"clusterReady", "modelharnessReady", "inferencesetReady"}
ORTHOGONAL = {"inferencesetWeightDownloadSlow", "inferencesetNodeUnderPressure"}
ROWS = {
    ("clusterIstioControlPlaneNotReady", "modelharnessGatewayClassMissing", "cluster"),
    ("clusterIstioControlPlaneNotReady", "modelharnessGatewayProgrammingFailed", "cluster"),
    ("clusterGatewayAuthNotReady", "modelharnessExtAuthzProviderMissing", "cluster"),
    ("clusterGatewayAuthNotReady", "modelharnessAPIKeyReconcileFailed", "cluster"),
    ("clusterKaitoControllerNotReady", "inferencesetInfraProvisioningFailed", "cluster"),
    ("clusterKaitoControllerNotReady", "inferencesetModelPodsNotReady", "cluster"),
    ("clusterNodeProvisionerNotReady", "inferencesetInfraProvisioningFailed", "cluster"),
    ("modelharnessGatewayClassMissing", "inferencesetRouteNotReady", "namespace"),
    ("modelharnessGatewayProgrammingFailed", "inferencesetRouteNotReady", "namespace"),
    ("modelharnessGatewayDataPlaneNotReady", "inferencesetRouteNotReady", "namespace"),
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(FOLDER, specs=SPECS, flags=FLAG_NAMES)


@pytest.mark.parametrize("layer", list(Layer))
def test_the_chain_of_a_layer_is_the_promised_one(catalogue, layer):
    entries = [e for e in catalogue.entries.values() if e.layer is layer and e.rank is not None]
    assert [e.reason for e in sorted(entries, key=lambda e: e.rank)] == CHAINS[layer].split()


def test_there_are_twenty_five_reasons(catalogue):
    chains = {reason for chain in CHAINS.values() for reason in chain.split()}
    assert set(catalogue.entries) == chains | READY | ORTHOGONAL
    assert len(catalogue.entries) == 25


def test_the_rows_are_the_promised_ones(catalogue):
    rows = {(r.source, r.target, str(r.scope)) for r in catalogue.suppressions}
    assert rows == ROWS
    assert catalogue.missing_crd_reason == "clusterCRDMissing"


def test_a_missing_kind_of_inferencesets_silences_all_that_is_about_them(catalogue):
    about = {e.reason for e in catalogue.entries.values() if e.layer is Layer.MODELDEPLOYMENT}
    silent = {
        r for r in catalogue.entries if "inferencesets.kaito.sh" in catalogue.required_crds(r)
    }
    assert silent == about - READY


def test_whatever_a_row_of_missing_crds_can_name_is_required(catalogue):
    required = {r.crd for r in catalogue["clusterCRDMissing"].parameters.required}
    demanded = {crd for r in catalogue.entries for crd in catalogue.required_crds(r)}
    assert demanded <= required


def test_every_probe_has_a_reason(catalogue):
    assert {e.probe for e in catalogue.entries.values() if e.probe} == SPECS.keys()


def test_rows_of_the_cluster_reach_all_and_those_of_a_namespace_only_it(catalogue):
    for row in catalogue.suppressions:
        of_cluster = catalogue[row.source].layer is Layer.CLUSTER
        assert (row.scope is Scope.CLUSTER) == of_cluster


def test_every_remedy_is_a_sentence_that_begins_with_what_to_do(catalogue):
    for entry in catalogue.entries.values():
        for code, remedy in entry.remedies.items():
            assert re.fullmatch(r"[A-Z].*\.", remedy), f"{entry.reason} {code}: {remedy}"


def test_nothing_of_what_it_says_is_long(catalogue):
    """
    The API server takes 1024 bytes, and names and texts of others need their share.
    """
    for entry in catalogue.entries.values():
        longest = max((len(r.encode()) for r in entry.remedies.values()), default=0)
        assert len(entry.message_template.encode()) + longest < 500, entry.reason


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_that_of_the_types(name):
    published = (FOLDER / name).read_text("utf-8")
    assert published == render_schema(SCHEMAS[name]), (
        "run python -m reporter.catalogue.publish.schema"
    )
    assert json.loads(published)["$schema"].startswith("https://json-schema.org/")


def test_the_tables_of_the_readme_are_those_of_the_files():
    page = (FOLDER / "README.md").read_text("utf-8")
    assert page == renew_tables(page, FOLDER), "run python -m reporter.catalogue.publish.readme"
    for reason in READY | ORTHOGONAL | {r for c in CHAINS.values() for r in c.split()}:
        assert f"| `{reason}` |" in page


def test_the_overlay_of_the_readme_is_accepted(tmp_path):
    page = (FOLDER / "README.md").read_text("utf-8")
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(example[1])
    made = load_catalogue(FOLDER, overlay, specs=SPECS, flags=FLAG_NAMES)
    assert not made[Reason("clusterKedaNotReady")].enabled
    assert made[Reason("clusterDashboardNotReady")].is_evaluated


def test_it_is_found_in_a_checkout():
    assert default_folder() == FOLDER


def test_it_is_loaded_without_delay():
    started = time.perf_counter()
    load_catalogue(FOLDER, specs=SPECS, flags=FLAG_NAMES)
    assert time.perf_counter() - started < 0.45
