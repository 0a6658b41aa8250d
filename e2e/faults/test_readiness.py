"""
A reporter that reaches nobody, or a proxy instead of the API server, is not ready and names the cause.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import ProxyRule, StubAnswer
from e2e.faults.support.variants import variants
from e2e.support import events
from e2e.support.aggregated_discovery import served_versions
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support.ports import free_port


PAGE = "<!DOCTYPE html><html><body>Please sign in</body></html>"
HTML = {"Content-Type": "text/html"}
JSON = {"Content-Type": "application/json"}
NOT_CONVERTED = json.dumps(
    {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": "conversion webhook for kaito.sh/v1alpha1, Kind=InferenceSet failed: refused",
        "code": 500,
    }
)
"""The answer of an API server to a list of objects that it cannot convert."""

SETS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencesets.kaito.sh"
PASSES = 60
"""Seconds within which a first pass is finished although no kind was listed, on a busy machine."""

LATER = 40
"""The longest from one try of a kind to the next."""

ANSWERS = {
    "a proxy asks for credentials": (StubAnswer(407, "Sign in first"), "Sign in first"),
    "a page to sign in": (StubAnswer(200, PAGE, HTML), "not a response of an API server"),
    "a page that forbids": (StubAnswer(403, PAGE, HTML), "not a response of an API server"),
    "a proxy that forbids in its own words": (StubAnswer(403, "denied by policy"), "denied"),
    "a proxy that knows no such path": (StubAnswer(404, "404 page not found\n"), "404"),
}


@pytest.fixture
def reporter(proxy: FaultProxy, stack: ControlPlane) -> Iterator[ReporterProcess]:
    """A reporter that is not started yet, behind the proxy."""
    reporter = ReporterProcess(stack, *SHORT_FLAGS, proxy.flag())
    try:
        yield reporter
    finally:
        reporter.__exit__()


@pytest.mark.parametrize(
    "answered", variants(ANSWERS, "a page to sign in", "a proxy that knows no such path")
)
def test_reporter_behind_a_proxy_that_answers_itself_waits_for_the_api_server(
    proxy: FaultProxy,
    reporter: ReporterProcess,
    stack: ControlPlane,
    answered: tuple[StubAnswer, str],
) -> None:
    answer, why = answered
    with proxy.with_rule(ProxyRule(answer=answer)):
        reporter.start(ready=False, leading=False)
        _assert_waits(reporter, why)
        assert events.reporter_events(stack.client) == []
    reporter.until_ready(within=LATER + PROMPT_TIMEOUT)
    until(lambda: reporter.readiness() == "ok\n", within=PROMPT_TIMEOUT, what="all is known")


def test_reporter_whose_api_server_is_not_there_waits_for_it(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    kubeconfig = Path(proxy.flag().partition("=")[2])
    nowhere = kubeconfig.with_suffix(".nowhere")
    nowhere.write_text(kubeconfig.read_text().replace(f":{proxy.port}", f":{free_port()}"))
    reporter = ReporterProcess(stack, *SHORT_FLAGS, f"--kubeconfig={nowhere}")
    try:
        reporter.start(ready=False, leading=False)
        _assert_waits(reporter, "Connect")
    finally:
        reporter.__exit__()


def test_reporter_does_not_wait_for_a_kind_that_is_served_in_a_version_of_the_future(
    reporter: ReporterProcess, stack: ControlPlane
) -> None:
    before = stack.client.get(SETS)["spec"]["versions"]
    stored = next(each for each in before if each["storage"])
    future = {**stored, "name": "v9", "storage": False}
    versions = [*({**each, "served": False} for each in before), future]
    discovered = partial(served_versions, stack.client, "inferencesets", "kaito.sh")
    served = discovered()
    stack.client.patch(SETS, {"spec": {"versions": versions}})
    try:
        until(lambda: discovered() == {"v9"}, within=60, what="discovery shows v9 alone")
        reporter.start(ready=False, leading=False)
        reporter.until_ready(within=LATER + PROMPT_TIMEOUT)
        until(
            lambda: "served as v9 only" in reporter.readiness(),
            within=LATER + PROMPT_TIMEOUT,
            what="the version is named",
        )
    finally:
        stack.client.patch(SETS, {"spec": {"versions": before}})
        until(lambda: discovered() == served, within=60, what="discovery is as before")


def test_reporter_does_not_wait_for_a_kind_whose_conversion_webhook_is_broken(
    proxy: FaultProxy, reporter: ReporterProcess, stack: ControlPlane
) -> None:
    with proxy.with_rule(
        ProxyRule(r"/inferencesets(\?|$)", answer=StubAnswer(500, NOT_CONVERTED, JSON))
    ):
        reporter.start(ready=False, leading=False)
        reporter.until_ready(within=LATER + PROMPT_TIMEOUT)
        until(
            lambda: "not read: inferencesets.kaito.sh: conversion" in reporter.readiness(),
            within=LATER + PROMPT_TIMEOUT,
            what="the kind and why are named",
        )
        until(
            lambda: reporter.metric(
                "reason_state", state="unknown", layer="modeldeployment", workload_namespace=""
            ),
            within=PROMPT_TIMEOUT,
            what="its reasons are Unknown",
        )
        unread = reporter.status()["unread"]["inferencesets.kaito.sh"]
        assert "inferencesetScalingMisconfigured" in unread["unknown"]
    until(lambda: reporter.readiness() == "ok\n", within=LATER + PROMPT_TIMEOUT, what="all known")


def _assert_waits(reporter: ReporterProcess, why: str) -> None:
    """Assert that even after a pass the reporter waits, names every kind, and knows no layer."""

    def has_passed_and_tried() -> bool:
        try:
            return bool(reporter.status()["lastPass"]) and why in reporter.readiness()
        except OSError:
            return False

    until(has_passed_and_tried, within=PASSES, what=f"a pass is finished, and refused with {why}")
    first, *causes = reporter.readiness().splitlines()
    assert first == "not every kind was listed yet"
    kinds = set(reporter.status()["kinds"])
    named = {
        kind.partition(".")[0] for line in causes for kind in line.partition(":")[0].split(", ")
    }
    assert named == kinds
    assert any(why in line for line in causes), causes
    layers = ("modelharness", "modeldeployment")
    assert all(
        reporter.metric("reason_state", state="unknown", layer=each, workload_namespace="")
        for each in layers
    )
