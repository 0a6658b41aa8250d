"""The verdicts about the external authorization filter and its backend."""

import pytest

from reporter.kinds.istio import ENVOY_FILTERS
from reporter.kinds.kaito import API_KEYS
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed, NotSynced
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import NOON, a_deployment, a_namespace
from tests.support.harness_builders import (
    AUTHZ,
    TEAM,
    a_filter,
    a_harness_store,
    an_api_key,
    an_authz_filter,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessExtAuthzProviderMissing"
AUTH = "llm-gateway-auth"
HOME = a_namespace(AUTH)
COMPONENT = "app.kubernetes.io/component"


def backend(name="apikey-authz", namespace=AUTH, **changes):
    labels = changes.pop("labels", {COMPONENT: "apikey-authz"})
    return a_deployment(name, namespace, labels=labels, **changes)


def asking(service, namespace=AUTH, name="apikey-ext-authz", **changes):
    cluster = f"outbound|9001||{service}.{namespace}.svc.cluster.local"
    return an_authz_filter(name, cluster, **changes)


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="auth is off"),
        pytest.param([HOME, backend(), an_authz_filter(), an_api_key()], id="healthy"),
        pytest.param([HOME, backend(replicas=0), an_authz_filter()], id="gateway auth at zero"),
        pytest.param([HOME, an_authz_filter()], id="gateway auth away is reported elsewhere"),
        pytest.param(
            [HOME, backend("authz"), asking("apikey-authz")], id="Service named by a label"
        ),
        pytest.param(
            [HOME, a_namespace("own"), backend(), asking("anything", "own")],
            id="a backend of one's own",
        ),
        pytest.param([HOME, backend(), asking("typo", deleted=NOON)], id="being deleted"),
        pytest.param(
            [HOME, backend(), an_authz_filter("apikey-ext-authz", "outbound|80||example.org")],
            id="no Service of the cluster",
        ),
        pytest.param(
            [HOME, backend(), backend("azure-authz"), an_authz_filter("ext-authz", AUTHZ)],
            id="the filter in front of Entra ID",
        ),
        pytest.param(
            [an_api_key(), a_filter("own", clusters=(AUTHZ,))], id="another filter asks for keys"
        ),
        pytest.param([an_api_key(labels=None)], id="a key that someone else made"),
        pytest.param([an_api_key(deleted=NOON)], id="a key on its way out"),
        pytest.param([a_filter(name="bbr-ext-proc")], id="no key, no filter"),
    ],
)
def test_external_authorization_that_works_is_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize(
    ("objects", "deleted", "code", "kind", "text"),
    [
        pytest.param(
            [HOME, backend(), asking("apikey-authz", "llm-gateway-aut")],
            [],
            "NamespaceNotFound",
            TroubleKind.DECLARED,
            "asks Service llm-gateway-aut/apikey-authz, whose namespace does not exist"
            ' (did you mean "llm-gateway-auth"?)',
            id="typo in the namespace",
        ),
        pytest.param(
            [an_authz_filter()],
            [],
            "NamespaceNotFound",
            TroubleKind.DECLARED,
            "asks Service llm-gateway-auth/apikey-authz, whose namespace does not exist",
            id="gateway auth was never installed",
        ),
        pytest.param(
            [an_authz_filter()],
            [HOME],
            "NamespaceNotFound",
            TroubleKind.LOST,
            "asks Service llm-gateway-auth/apikey-authz, whose namespace was deleted",
            id="namespace deleted",
        ),
        pytest.param(
            [HOME, backend(replicas=0), asking("apikey-authz-typo")],
            [],
            "ServiceNotFound",
            TroubleKind.DECLARED,
            "asks Service llm-gateway-auth/apikey-authz-typo,"
            " but gateway auth is llm-gateway-auth/apikey-authz",
            id="typo in the name, gateway auth at zero",
        ),
        pytest.param(
            [HOME, a_namespace("auth"), backend(), asking("apikey-authz", "auth")],
            [],
            "ServiceNotFound",
            TroubleKind.DECLARED,
            "asks Service auth/apikey-authz, but gateway auth is llm-gateway-auth/apikey-authz",
            id="in another namespace",
        ),
        pytest.param(
            [an_api_key()],
            [],
            "FilterNotFound",
            TroubleKind.DECLARED,
            "does not exist, so that nothing asks for API keys although APIKey default is there",
            id="no filter",
        ),
        pytest.param(
            [an_api_key(), a_filter("bbr-ext-proc")],
            [an_authz_filter()],
            "FilterNotFound",
            TroubleKind.LOST,
            "was deleted, so that nothing asks for API keys although APIKey default is there",
            id="filter deleted",
        ),
    ],
)
def test_external_authorization_that_is_wrong_or_gone_is_reported(
    objects, deleted, code, kind, text
):
    verdict = verdict_of(REASON, *objects, deleted=deleted)
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.is_out) == (code, kind, True)
    assert rendered_troubles(verdict) == [f"EnvoyFilter apikey-ext-authz {text}"]


def test_of_two_backends_the_wrong_one_is_reported():
    azure = "outbound|9001||azure-auth.llm-gateway-auth.svc.cluster.local"
    verdict = verdict_of(REASON, HOME, backend(), an_authz_filter("ext-authz", AUTHZ, azure))
    assert rendered_troubles(verdict) == [
        (
            "EnvoyFilter ext-authz asks Service llm-gateway-auth/azure-auth,"
            " but gateway auth is llm-gateway-auth/apikey-authz"
        )
    ]


def test_gateway_auth_is_found_where_it_really_is():
    objects = a_namespace("auth"), backend(namespace="auth"), asking("apikey-authz", "auth")
    assert isinstance(verdict_of(REASON, *objects), Clear)


def test_without_a_known_backend_only_namespaces_are_evaluated():
    objects = HOME, backend(), asking("apikey-authz-typo")
    assert isinstance(verdict_of(REASON, *objects, gateway_auth_deployment=""), Clear)


@pytest.mark.parametrize(("keys", "verdict"), [([], Clear), ([an_api_key()], Unknown)])
def test_without_the_crd_of_filters_nothing_is_known_while_auth_is_on(keys, verdict):
    store = a_harness_store(*keys)
    store.set_watch_state(ENVOY_FILTERS, NotServed())
    assert isinstance(verdict_of(REASON, store=store), verdict)


@pytest.mark.parametrize(
    ("watch_state", "verdict"), [(NotServed(), Clear), (NotSynced("may not list it"), Unknown)]
)
def test_without_api_keys_auth_is_off_and_unseen_it_is_unknown(watch_state, verdict):
    store = a_harness_store()
    store.set_watch_state(API_KEYS, watch_state)
    assert isinstance(verdict_of(REASON, store=store), verdict)


def test_an_authorization_filter_that_cannot_be_decoded_is_unknown():
    store = a_harness_store(an_api_key())
    store.mark_undecodable(ENVOY_FILTERS, TEAM, "apikey-ext-authz")
    assert isinstance(verdict_of(REASON, store=store), Unknown)
