"""Smoke checks as a value of the chart: a CronJob for each model, which may do no more than it needs."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from e2e.chart import CHART
from e2e.chart.helm import Helm
from reporter.kinds.batch import Job
from reporter.probes.jobs import asks_model, read_settings
from tests.support.check_examples import FOLDER


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
VALUES = """\
sources: [jobs]
smokeChecks:
  - {namespace: team-a, inferenceSet: qwen}
  - {namespace: team-a, inferenceSet: phi, url: "https://models.example.com", model: phi-4}
  - {namespace: team-b, inferenceSet: qwen}
"""
KINDS = ("ConfigMap", "ServiceAccount", "Role", "RoleBinding", "CronJob")


def _rendered(helm: Helm, folder: Path) -> list[Json]:
    values = folder / "values.yaml"
    values.write_text(VALUES, "utf-8")
    return [
        each
        for each in helm.render(CHART, f"--values={values}")
        if each["metadata"].get("namespace") in {"team-a", "team-b"}
    ]


def _names(objects: list[Json], kind: str) -> list[tuple[str, str]]:
    found = (each["metadata"] for each in objects if each["kind"] == kind)
    return sorted((meta["namespace"], meta["name"]) for meta in found)


def test_nothing_is_rendered_unless_a_model_is_listed(helm: Helm) -> None:
    assert not [each for each in helm.render(CHART) if each["kind"] == "CronJob"]


def test_each_model_has_a_cronjob_and_each_namespace_one_account(
    helm: Helm, tmp_path: Path
) -> None:
    objects = _rendered(helm, tmp_path)
    name = "stack-status-reporter-smoke"
    assert _names(objects, "CronJob") == [
        ("team-a", "smoke-phi"),
        ("team-a", "smoke-qwen"),
        ("team-b", "smoke-qwen"),
    ]
    for kind in KINDS[:-1]:
        assert _names(objects, kind) == [("team-a", name), ("team-b", name)]
    assert {each["kind"] for each in objects} == set(KINDS)


def test_the_role_has_what_the_result_needs_and_no_more(helm: Helm, tmp_path: Path) -> None:
    roles = [each for each in _rendered(helm, tmp_path) if each["kind"] == "Role"]
    assert roles
    for role in roles:
        granted = {(*rule["resources"], *rule["verbs"]) for rule in role["rules"]}
        assert granted == {("jobs", "get"), ("jobs/status", "patch"), ("pods", "get")}


def test_the_container_that_asks_the_model_has_no_token(helm: Helm, tmp_path: Path) -> None:
    jobs = [each for each in _rendered(helm, tmp_path) if each["kind"] == "CronJob"]
    assert jobs
    for job in jobs:
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        asks, reports = pod["containers"]
        assert "token" not in {each["name"] for each in asks["volumeMounts"]}
        assert "token" in {each["name"] for each in reports["volumeMounts"]}


def test_the_reporter_reads_its_jobs_as_checks_that_ask_the_model(
    helm: Helm, tmp_path: Path
) -> None:
    (job,) = (
        each
        for each in _rendered(helm, tmp_path)
        if each["kind"] == "CronJob" and each["metadata"]["name"] == "smoke-phi"
    )
    template = job["spec"]["jobTemplate"]
    meta = {**template["metadata"], "name": "smoke-phi-1", "namespace": "team-a"}
    run = msgspec.convert({"metadata": meta}, Job)
    assert (run.check, run.inference_set, asks_model(run)) == ("smoke", "phi", True)
    assert read_settings(run).max_age.total_seconds() == 1800
    env = template["spec"]["template"]["spec"]["containers"][0]["env"]
    given = {each["name"]: each.get("value") for each in env}
    assert given["MODEL_URL"] == "https://models.example.com"
    assert given["MODEL"] == "phi-4"


def test_the_script_is_that_of_the_example(helm: Helm, tmp_path: Path) -> None:
    example = (FOLDER / "smoke.sh").read_text("utf-8")
    (found, _) = (each for each in _rendered(helm, tmp_path) if each["kind"] == "ConfigMap")
    assert found["data"]["smoke.sh"].strip() == example.strip()
