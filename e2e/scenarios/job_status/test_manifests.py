"""The manifests of the documentation, as the API server and the sidecar take them."""

from pathlib import Path

import pytest
import yaml

from e2e.controlplane import ControlPlane, Json, until
from e2e.support.job_sidecar import RULES, WAIT_TIMEOUT


pytestmark = pytest.mark.controlplane

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
FORMS = {"job-sidecar.yaml": "containers", "job-native-sidecar.yaml": "initContainers"}


def manifests(name: str) -> list[Json]:
    return list(yaml.safe_load_all((EXAMPLES / name).read_text("utf-8")))


def test_role_of_the_documentation_is_that_of_these_tests() -> None:
    (role,) = [each for each in manifests("job-sidecar-rbac.yaml") if each["kind"] == "Role"]
    assert role["rules"] == list(RULES)


@pytest.mark.parametrize("name", FORMS)
def test_job_of_the_documentation_gets_a_pod_with_the_variables(
    plane: ControlPlane, team: str, name: str
) -> None:
    for each in (*manifests("job-sidecar-rbac.yaml"), *manifests(name)):
        each["metadata"]["namespace"] = team
        plane.client.create(plane.client.collection(each), each)
    folder = f"/api/v1/namespaces/{team}/pods"
    pods = until(lambda: plane.client.list(folder), within=WAIT_TIMEOUT, what="a pod")
    spec, labels = pods[0]["spec"], pods[0]["metadata"]["labels"]
    assert labels["batch.kubernetes.io/job-name"] == "smoke-test"
    (sidecar,) = [each for each in spec[FORMS[name]] if each["name"] == "status-reporter"]
    assert "args" not in sidecar
    assert "command" not in sidecar
    assert {each["name"] for each in sidecar["env"]} >= {"JOB_NAME", "JOB_NAMESPACE", "POD_NAME"}
    named = {each["name"]: each.get("value") for each in sidecar["env"]}
    assert named["ADAPTER_CONTAINER_NAME"] in {each["name"] for each in spec["containers"]}
    is_native = name == "job-native-sidecar.yaml"
    assert sidecar.get("restartPolicy") == ("Always" if is_native else None)
