"""The chart grants what the packs of a release read, and mounts those of its own."""

import itertools
import json

import pytest
import yaml

from e2e.chart import CHART
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.rendering.objects import arguments_of, granted_by
from e2e.controlplane.rules import lease, needed
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import shipped_packs
from reporter.controller.permissions import PermissionNeeds


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

PACKS = shipped_packs(default_folder())
LEASE = lease("kaito-system", "productionstack-status-reporter")
OWN = {
    "models": {
        "files": {
            "pack.yaml": {"subjects": [{"layer": "modeldeployment", "kind": "Model"}]},
            "more.yaml": "reasons: []\n",
        },
        "rules": [{"apiGroups": ["example.com"], "resources": ["models"]}],
    }
}


@pytest.mark.parametrize(
    "packs", [each for n in (1, 2) for each in itertools.combinations(PACKS, n)]
)
def test_chart_grants_exactly_what_the_packs_read(helm: Helm, packs: tuple[str, ...]) -> None:
    objects = helm.render(CHART, f"--set=packs={{{','.join(packs)}}}", "--set=scrape.mode=direct")
    assert granted_by(objects) == needed(PermissionNeeds(lease=LEASE), packs)
    flag = [each for each in arguments_of(objects) if each.startswith("--packs=")]
    assert flag == ([] if packs == ("kaito",) else [f"--packs={','.join(packs)}"])


def test_a_release_that_keeps_the_values_of_an_earlier_chart_has_the_default(helm: Helm) -> None:
    assert helm.render(CHART, "--set=packs=null,ownPacks=null") == helm.render(CHART)


def test_pods_are_proxied_for_the_pack_that_reads_their_pages_alone(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=packs={kserve}", "--set=scrape.mode=proxy")
    assert all(each.resource != "pods/proxy" for each in granted_by(objects))


def test_a_pack_of_ones_own_is_mounted_and_gets_its_rules(helm: Helm) -> None:
    objects = helm.render(
        CHART, "--set=packs={kaito,models}", f"--set-json=ownPacks={json.dumps(OWN)}"
    )
    [packs] = [each for each in arguments_of(objects) if each.startswith("--packs=")]
    assert packs == "--packs=kaito,/etc/status-reporter-packs/models"
    [deployment] = [each for each in objects if each["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    [_silences, mount] = pod["containers"][0]["volumeMounts"]
    [_silences, volume] = pod["volumes"]
    assert (mount["mountPath"], mount["name"]) == (
        "/etc/status-reporter-packs/models",
        volume["name"],
    )
    [config] = [
        each
        for each in objects
        if each["kind"] == "ConfigMap" and each["metadata"]["name"] == volume["configMap"]["name"]
    ]
    assert yaml.safe_load(config["data"]["pack.yaml"]) == OWN["models"]["files"]["pack.yaml"]
    assert config["data"]["more.yaml"] == "reasons: []\n"
    [role] = [
        each
        for each in objects
        if each["kind"] == "ClusterRole" and "models" in json.dumps(each["rules"])
    ]
    granted = [{**OWN["models"]["rules"][0], "verbs": ["list", "watch"]}]
    assert granted[0] in role["rules"]


def test_a_change_of_a_pack_restarts_the_pods(helm: Helm) -> None:
    changed = json.dumps(OWN).replace("Model", "Modell")
    annotations = [
        each["spec"]["template"]["metadata"]["annotations"]
        for values in (json.dumps(OWN), changed)
        for each in helm.render(CHART, "--set=packs={models}", f"--set-json=ownPacks={values}")
        if each["kind"] == "Deployment"
    ]
    assert len({each["checksum/packs"] for each in annotations}) == 2


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("--set=packs={kserv}", "packs: there is no pack kserv; shipped are gateway-api, kaito"),
        (
            '--set-json=ownPacks={"kaito": {"files": {"a.yaml": "x"}}}',
            "ownPacks.kaito: a pack of this name is shipped",
        ),
        ('--set-json=ownPacks={"a": {"files": {"a": "x"}}}', "pattern"),
        ("--set-json=packs=[]", "minItems"),
    ],
)
def test_packs_that_cannot_be_are_refused(helm: Helm, values: str, why: str) -> None:
    with pytest.raises(HelmFailed) as refused:
        helm.render(CHART, values)
    assert why in str(refused.value)
