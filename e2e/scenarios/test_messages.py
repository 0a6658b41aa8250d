"""The message of an Event: foreign texts are sanitized, and everything fits into 1024 bytes."""

import dataclasses
import re
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, faults
from e2e.support import events
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, KAITO_WORKSPACE
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS, short_holds_flag


BBR, KAITO = "clusterBBRNotReady", "clusterKaitoControllerNotReady"
LIMIT = 1024
REWRITTEN = 90
"""Seconds: an Event whose content changes is rewritten once a minute at most."""

TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"
NOISE = (
    f"pull denied: Authorization: Bearer {TOKEN}\n"
    "\x1b[31mGET https://registry.example.com/v2/e2e/manifests/1?sig=Zm9vYmFyc2VjcmV0%3D&se=2026"
    "\x1b[0m\tfailed, see http://aka.example/errors or password=hunter2hunter2; "
)


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


@pytest.fixture
def message(plane: ControlPlane) -> str:
    """
    The message about a pod whose kubelet reports 5,000 bytes of two-byte and control characters.
    """
    text = NOISE + "é" * ((5000 - len(NOISE)) // 2)
    assert len(text.encode()) == 5000 - (5000 - len(NOISE)) % 2
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)) as reporter:
        pod = components.pods(plane.client, BODY_BASED_ROUTER)[0]
        faults.set_pod_fault(
            plane.client, pod, dataclasses.replace(faults.IMAGE_PULL, message=text)
        )
        warning = events.wait_for(plane.client, BBR, within=REWRITTEN, containing="pull denied")
        for seen in (reporter.log(), str(reporter.status()), reporter.metrics()):
            assert TOKEN not in seen
            assert "hunter2" not in seen
        assert pod["metadata"]["name"] in warning.message
        return warning.message


def test_long_text_of_others_is_shortened_to_what_the_server_takes(message: str) -> None:
    assert LIMIT - 4 <= len(message.encode()) <= LIMIT
    assert "é…. Platform: " in message
    assert message.startswith(
        "Deployment kaito-system/body-based-router is degraded: 1/2 replicas ready; "
    )


def test_text_of_others_is_cleaned(message: str) -> None:
    assert "pull denied" in message
    for secret in (TOKEN, "eyJ", "Zm9vYmFyc2VjcmV0", "hunter2"):
        assert secret not in message
    assert "://" not in message
    assert re.search(r"[\x00-\x1f\x7f-\x9f]", message) is None


def test_own_words_are_never_cut_for_the_text_of_others(plane: ControlPlane) -> None:
    """
    The pod, the remedy and the suffix stay in the message, however long the kubelet's text is.
    """
    long = dataclasses.replace(faults.IMAGE_PULL, message="x" * 4000)
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)):
        targets = (BODY_BASED_ROUTER, KAITO_WORKSPACE)
        broken = [components.pods(plane.client, each)[0] for each in targets]
        for pod in broken:
            faults.set_pod_fault(plane.client, pod, long)
        suffix = f" (also: {KAITO})"
        warning = events.wait_for(plane.client, BBR, within=REWRITTEN, containing=suffix)
    assert warning.message.endswith(suffix)
    assert len(warning.message.encode()) <= LIMIT
    assert broken[0]["metadata"]["name"] in warning.message
    assert "Platform: Correct the image's name" in warning.message
