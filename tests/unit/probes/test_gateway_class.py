"""The verdicts about a Gateway that is missing, has no class, or is not accepted."""

import pytest

from reporter.kinds.gateway_api import GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed, NotSynced
from reporter.model.verdicts import Clear, InvolvedObject, Unknown
from tests.support.builders import LONG_AGO, NOON, an_observed_condition
from tests.support.harness_builders import (
    ACCEPTED,
    DEFAULT_CONDITIONS,
    GATEWAY,
    PROGRAMMED,
    TEAM,
    a_class,
    a_gateway,
    a_harness_store,
    a_route,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessGatewayClassMissing"
REFUSED = an_observed_condition(
    "Accepted", "False", "UnsupportedAddress", "Parent not accepted: address"
)


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([a_gateway(), a_class()], id="healthy"),
        pytest.param([a_gateway()], id="a builtin class needs no object"),
        pytest.param(
            [a_gateway(class_name="approuting-istio"), a_class("approuting-istio")],
            id="another class of Istio",
        ),
        pytest.param([a_gateway(GATEWAY, REFUSED, deleted=NOON)], id="being deleted"),
        pytest.param(
            [a_gateway(), a_gateway("mine", *DEFAULT_CONDITIONS, labels=None)],
            id="not the harness's",
        ),
        pytest.param([a_route(gateway="shared", of="infra")], id="served from another namespace"),
        pytest.param(
            [a_gateway("plain", labels=None), a_route(gateway="plain")], id="routes refer to it"
        ),
        pytest.param(
            [
                a_gateway("shared", labels=None),
                a_route(gateway="shared", of=TEAM, namespace="other"),
            ],
            id="routes of another namespace refer to it",
        ),
        pytest.param(
            [a_gateway(class_name="own"), a_class("own", REFUSED, deleted=NOON)],
            id="a class on its way out",
        ),
        pytest.param(
            [a_gateway(GATEWAY, an_observed_condition("Accepted", observed=0), generation=3)],
            id="a controller that tells no generation",
        ),
    ],
)
def test_a_gateway_with_its_class_is_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("objects", "deleted", "code", "kind", "text"),
    [
        pytest.param(
            [a_gateway(class_name="istio2"), a_class()],
            [],
            "ClassNotFound",
            TroubleKind.DECLARED,
            'Gateway team-a-gw names GatewayClass "istio2", which does not exist'
            ' (did you mean "istio"?)',
            id="typo",
        ),
        pytest.param(
            [a_gateway(class_name="envoy")],
            [],
            "ClassNotFound",
            TroubleKind.DECLARED,
            'Gateway team-a-gw names GatewayClass "envoy", which does not exist',
            id="unlike any other",
        ),
        pytest.param(
            [a_gateway(class_name="approuting-istio")],
            [a_class("approuting-istio")],
            "ClassNotFound",
            TroubleKind.LOST,
            'Gateway team-a-gw names GatewayClass "approuting-istio", which was deleted',
            id="class deleted",
        ),
        pytest.param(
            [
                a_gateway(GATEWAY, *DEFAULT_CONDITIONS, class_name="own"),
                a_class("own", an_observed_condition("Accepted", "False", "InvalidParameters")),
            ],
            [],
            "ClassNotAccepted",
            TroubleKind.FAILED,
            'Gateway team-a-gw has a GatewayClass "own" that is not accepted (InvalidParameters)',
            id="class refused",
        ),
        pytest.param(
            [
                a_gateway(class_name="own"),
                a_class("own", an_observed_condition("Accepted", "Unknown", "Waiting")),
            ],
            [],
            "ClassNotAccepted",
            TroubleKind.STARTING,
            'Gateway team-a-gw waits for its GatewayClass "own", which no controller has accepted',
            id="class waits",
        ),
        pytest.param(
            [a_gateway(GATEWAY, REFUSED)],
            [],
            "NotAccepted",
            TroubleKind.FAILED,
            "Gateway team-a-gw is not accepted (UnsupportedAddress)",
            id="refused",
        ),
        pytest.param(
            [a_gateway(GATEWAY, *DEFAULT_CONDITIONS)],
            [],
            "Pending",
            TroubleKind.STARTING,
            "Gateway team-a-gw is not accepted yet",
            id="nobody wrote",
        ),
        pytest.param(
            [a_gateway(GATEWAY, PROGRAMMED)],
            [],
            "Pending",
            TroubleKind.STARTING,
            "Gateway team-a-gw is not accepted yet",
            id="no such condition",
        ),
        pytest.param(
            [a_gateway(GATEWAY, an_observed_condition("Accepted", "False", "NotReconciled"))],
            [],
            "Pending",
            TroubleKind.STARTING,
            "Gateway team-a-gw is not accepted yet",
            id="what an old controller writes instead",
        ),
        pytest.param(
            [], [], "NotFound", TroubleKind.DECLARED, "Gateway team-a-gw does not exist", id="none"
        ),
        pytest.param(
            [a_route(gateway="entry")],
            [],
            "NotFound",
            TroubleKind.DECLARED,
            "Gateway entry does not exist",
            id="none of the name that routes tell",
        ),
        pytest.param(
            [],
            [a_gateway()],
            "Deleted",
            TroubleKind.LOST,
            "Gateway team-a-gw was deleted",
            id="deleted",
        ),
        pytest.param(
            [],
            [a_gateway("entry")],
            "Deleted",
            TroubleKind.LOST,
            "Gateway entry was deleted",
            id="deleted, of another name",
        ),
        pytest.param(
            [a_gateway("mine", labels=None)],
            [],
            "NotFound",
            TroubleKind.DECLARED,
            "Gateway team-a-gw does not exist",
            id="another Gateway is none of the harness's",
        ),
    ],
)
def test_a_gateway_without_its_class_or_controller_is_reported(objects, deleted, code, kind, text):
    verdict = verdict_of(REASON, *objects, deleted=deleted)
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.is_out) == (code, kind, True)
    assert rendered_troubles(verdict) == [text]
    assert trouble.cause.object.resource == GATEWAYS.group_resource


def test_every_gateway_is_reported_in_the_order_of_names():
    verdict = verdict_of(REASON, a_gateway("b", REFUSED), a_gateway("a", *DEFAULT_CONDITIONS))
    assert [t.cause.object.name for t in verdict.troubles] == ["a", "b"]


def test_a_default_time_is_none_so_it_waits_since_it_was_made():
    assert (
        only_trouble(verdict_of(REASON, a_gateway(GATEWAY, *DEFAULT_CONDITIONS))).since == LONG_AGO
    )


def test_a_refusal_counts_from_its_own_time():
    refused = an_observed_condition("Accepted", "False", "UnsupportedAddress", since=NOON)
    trouble = only_trouble(verdict_of(REASON, a_gateway(GATEWAY, refused)))
    assert (trouble.since, trouble.object_created_at) == (NOON, LONG_AGO)


def test_the_controllers_message_is_passed_on_as_foreign():
    assert (
        only_trouble(verdict_of(REASON, a_gateway(GATEWAY, REFUSED))).foreign_text
        == REFUSED.message
    )


def test_a_wrong_gateway_class_is_about_the_namespace():
    verdict = verdict_of(REASON, a_gateway(GATEWAY, REFUSED))
    assert verdict.involved_object == InvolvedObject("v1", "Namespace", TEAM, f"uid-{TEAM}")


@pytest.mark.parametrize(
    "gateway",
    [
        a_gateway(GATEWAY, ACCEPTED, generation=2),
        a_gateway(GATEWAY, REFUSED, generation=2),
    ],
)
def test_a_status_of_a_gateway_or_its_class_older_than_the_spec_is_unknown(gateway):
    verdict = verdict_of(REASON, gateway)
    assert isinstance(verdict, Unknown)
    assert verdict.why == "condition Accepted of Gateway team-a/team-a-gw is older than its spec"


def test_a_class_that_does_not_exist_needs_no_status():
    verdict = verdict_of(REASON, a_gateway(GATEWAY, ACCEPTED, generation=2, class_name="envoy"))
    assert only_trouble(verdict).cause.code == "ClassNotFound"


@pytest.mark.parametrize(
    ("kind", "objects"),
    [
        (GATEWAYS, [a_gateway()]),
        (HTTP_ROUTES, []),
        (GATEWAY_CLASSES, [a_gateway(class_name="own")]),
    ],
)
def test_what_was_never_listed_proves_nothing(kind, objects):
    store = a_harness_store(*objects)
    store.set_watch_state(
        kind, NotSynced("may not list it") if kind is not GATEWAYS else NotServed()
    )
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_a_builtin_class_needs_no_look_at_classes():
    store = a_harness_store(a_gateway())
    store.set_watch_state(GATEWAY_CLASSES, NotSynced("may not list it"))
    assert isinstance(verdict_of(REASON, store=store), Clear)


@pytest.mark.parametrize(
    ("kind", "namespace", "name"),
    [(GATEWAYS, TEAM, GATEWAY), (GATEWAY_CLASSES, "", "own"), (GATEWAYS, TEAM, "other")],
)
def test_a_gateway_class_that_cannot_be_decoded_is_unknown(kind, namespace, name):
    gateways = [] if name == "other" else [a_gateway(GATEWAY, class_name="own")]
    store = a_harness_store(*gateways)
    store.mark_undecodable(kind, namespace, name)
    verdict = verdict_of(REASON, store=store)
    assert isinstance(verdict, Unknown)
    assert name in verdict.why


def test_a_refusal_of_the_gateway_counts_although_its_class_is_not_known():
    gateway = a_gateway(GATEWAY, REFUSED, class_name="own")
    old = a_class("own", an_observed_condition("Accepted", observed=1), generation=2)
    assert only_trouble(verdict_of(REASON, gateway, old)).cause.code == "NotAccepted"
    store = a_harness_store(gateway)
    store.mark_undecodable(GATEWAY_CLASSES, "", "own")
    assert only_trouble(verdict_of(REASON, store=store)).cause.code == "NotAccepted"
