"""
The example of docs/check-jobs.md: its scripts ask a model, and its Job reports what they wrote.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from e2e.controlplane import Json
from e2e.controlplane.client import STRATEGIC
from e2e.suite import model as models
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import events_from_now
from e2e.suite.model import MODEL, SuiteModel
from tests.support.check_examples import SCRIPTS, manifests, read_result, run_script
from tests.support.stubs.chat_server import chat_server


REASON = "inferencesetCheckFailed"


@pytest.fixture(scope="module")
def model(own_cluster: ClusterUnderTest) -> Iterator[SuiteModel]:
    if "jobs" not in own_cluster.reporters.flags().get("sources", "").split(","):
        pytest.skip("NOT RUN: the reporters of this cluster have no --sources=jobs")
    with models.installed(own_cluster, "checks") as model:
        for manifest in manifests():
            _install(model, manifest)
        yield model


@pytest.mark.announces(REASON)
@pytest.mark.parametrize("script", SCRIPTS)
def test_example_announces_a_model_that_does_not_answer_until_it_does(
    model: SuiteModel, script: str, tmp_path: Path
) -> None:
    events = events_from_now(model.cluster, model.namespace)
    job = f"smoke-{Path(script).suffix[1:]}"
    with chat_server(status=503, body=b"no healthy upstream") as gateway:
        run_script(script, tmp_path, gateway.url)
        _run_job(model, f"{job}-1", read_result(tmp_path))
        warning = events.wait_for(REASON)
        assert (warning.type, warning.involved) == ("Warning", ("Namespace", model.namespace))
        assert warning.message.startswith(
            f"InferenceSet {model.namespace}/{MODEL}: check smoke of Job {job}-1 failed (NoAnswer):"
            " the Gateway answered 503: no healthy upstream. User: Read what the check did with"
            f" kubectl logs -n {model.namespace} job/{job}-1 "
        )
        gateway.status, gateway.body = 200, None
        run_script(script, tmp_path, gateway.url)
        # The order of two Jobs is that of their creation, which has whole seconds.
        time.sleep(1.1)
        _run_job(model, f"{job}-2", read_result(tmp_path))
    (last,) = events.wait_quiet()
    assert last.uid == warning.uid


def _install(model: SuiteModel, manifest: Json) -> None:
    """Create an object of the example in the namespace of the model; its CronJob runs nothing."""
    manifest["metadata"]["namespace"] = model.namespace
    for subject in manifest.get("subjects", []):
        subject["namespace"] = model.namespace
    if manifest["kind"] == "CronJob":
        manifest["spec"]["suspend"] = True
    client = model.cluster.client
    client.create(client.collection(manifest), manifest)


def _run_job(model: SuiteModel, name: str, result: Json) -> None:
    """Create a Job of the CronJob, and write the result as the container beside the check does."""
    (cron_job,) = [each for each in manifests() if each["kind"] == "CronJob"]
    template = cron_job["spec"]["jobTemplate"]
    metadata = {**template["metadata"], "name": name, "namespace": model.namespace}
    job = {"apiVersion": "batch/v1", "kind": "Job", **template, "metadata": metadata}
    client = model.cluster.client
    client.create(client.collection(job), job)
    condition = {
        "type": "Available",
        "status": "True" if result["status"] == "success" else "False",
        "reason": result["reason"],
        "message": result["message"],
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    status = {"status": {"conditions": [condition]}}
    client.patch(f"{client.path(job)}/status", status, STRATEGIC)
