"""The example of the documentation is what the program reads, and what the CRD has fields for."""

from pathlib import Path

import msgspec
import yaml

from reporter.kinds.productionstack import ProductionStackStatus, StatusScope
from tests.support.status_objects import CRD


EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "productionstackstatus.yaml"


def test_the_example_has_both_scopes_and_no_unknown_field():
    manifests = list(yaml.safe_load_all(EXAMPLE.read_text("utf-8")))
    decoded = [msgspec.convert(each, ProductionStackStatus) for each in manifests]
    assert [each.spec.scope for each in decoded] == [StatusScope.NAMESPACE, StatusScope.CLUSTER]
    assert decoded[0].spec.package.revision == "v7"
    (version,) = CRD["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    group, _, name = manifests[0]["apiVersion"].partition("/")
    assert (group, name) == (CRD["spec"]["group"], version["name"])
    for each in manifests:
        assert each["spec"].keys() <= spec.keys()
