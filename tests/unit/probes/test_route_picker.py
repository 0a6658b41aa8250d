"""The verdicts about the endpoint picker that an InferencePool names, and its Service."""

import pytest

from reporter.kinds.core import SERVICES, Service
from reporter.kinds.gateway_api import EndpointPickerReference
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotSynced
from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.builders import NOON, an_observed_condition
from tests.support.model_builders import (
    POOL,
    a_model,
    a_model_store,
    a_pool,
    an_entry,
    an_entry_of_istio,
)
from tests.support.model_verdicts import rendered_message, verdict_in_a_pass, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetRouteNotReady"
NO_PICKER = an_observed_condition(
    "ResolvedRefs",
    "False",
    "InvalidExtensionRef",
    f"Referenced ExtensionRef not found {POOL}-epp",
    NOON,
)
NO_PORT = an_observed_condition(
    "ResolvedRefs", "False", "InvalidExtensionRef", "port not found", NOON
)
NO_NAME = an_observed_condition(
    "ResolvedRefs", "False", "InvalidExtensionRef", "ExtensionRef not defined", NOON
)
NO_KIND = an_observed_condition(
    "ResolvedRefs",
    "False",
    "InvalidExtensionRef",
    "Unsupported ExtensionRef kind ServiceImport",
    NOON,
)

TROUBLE = {
    "no Service for the picker, which Istio has not noticed": (
        a_model(without=[Service]),
        "PickerNotFound",
        TroubleKind.DECLARED,
        (
            "InferencePool qwen-inferencepool has as its endpoint picker Service"
            " qwen-inferencepool-epp, which does not exist"
        ),
    ),
    "no Service for the picker, as Istio says": (
        a_model(a_pool(POOL, an_entry_of_istio(NO_PICKER)), without=[Service]),
        "PickerNotFound",
        TroubleKind.DECLARED,
        (
            "InferencePool qwen-inferencepool has as its endpoint picker Service"
            " qwen-inferencepool-epp, which does not exist"
        ),
    ),
    "another controller finds the Service and not its port": (
        a_model(a_pool(POOL, an_entry_of_istio(NO_PORT))),
        "PickerInvalid",
        TroubleKind.FAILED,
        (
            "InferencePool qwen-inferencepool has as its endpoint picker Service"
            " qwen-inferencepool-epp, which does not resolve (InvalidExtensionRef): port not found"
        ),
    ),
    "a pool that must name a picker": (
        a_model(
            a_pool(
                POOL,
                an_entry(
                    an_observed_condition("ResolvedRefs", "False", "EndpointPickerRefMissing")
                ),
                picker=None,
            )
        ),
        "PickerInvalid",
        TroubleKind.FAILED,
        "InferencePool qwen-inferencepool names no endpoint picker (EndpointPickerRefMissing)",
    ),
    "a picker without a name": (
        a_model(a_pool(POOL, an_entry_of_istio(NO_NAME), picker=EndpointPickerReference(""))),
        "PickerInvalid",
        TroubleKind.FAILED,
        (
            "InferencePool qwen-inferencepool names no endpoint picker (InvalidExtensionRef):"
            " ExtensionRef not defined"
        ),
    ),
    "a picker of a kind that Istio does not support": (
        a_model(
            a_pool(
                POOL,
                an_entry_of_istio(NO_KIND),
                picker=EndpointPickerReference("epp", kind="ServiceImport"),
            )
        ),
        "PickerInvalid",
        TroubleKind.FAILED,
        (
            "InferencePool qwen-inferencepool has as its endpoint picker ServiceImport epp,"
            " which does not resolve (InvalidExtensionRef): Unsupported ExtensionRef kind ServiceImport"
        ),
    ),
}


@pytest.mark.parametrize(("objects", "code", "kind", "text"), TROUBLE.values(), ids=TROUBLE.keys())
def test_a_picker_that_cannot_be_asked_is_reported(objects, code, kind, text):
    verdict = verdict_of(REASON, *objects)
    assert rendered_message(verdict) == f"{text}."
    assert (only_trouble(verdict).cause.code, only_trouble(verdict).kind) == (code, kind)


def test_a_service_that_came_after_its_pool_is_there_though_istio_does_not_look_again():
    late = a_model(a_pool(POOL, an_entry_of_istio(NO_PICKER)))
    assert isinstance(verdict_of(REASON, *late), Clear)


def test_services_that_cannot_be_read_leave_the_picker_open_and_hide_no_other_trouble():
    drifted = a_pool(selects={"app": "old"})
    for objects, expected in ((a_model(), Unknown), (a_model(drifted), Active)):
        store = a_model_store(*objects)
        store.set_watch_state(SERVICES, NotSynced("may not list it"))
        assert isinstance(verdict_in_a_pass(store, REASON), expected)
