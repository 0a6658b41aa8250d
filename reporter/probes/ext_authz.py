"""
Probe for a Gateway's external authorization that is missing or names a backend that does not exist.

Envoy refuses every request whose authorization backend it cannot reach. Services are not watched, so
only backends that cannot exist are reported: in a namespace that does not exist, or in one where
gateway auth runs under another name. A missing gateway auth is reported by the cluster layer.

With the source ``istio`` the probe also compares AuthorizationPolicies with MeshConfig's providers.
"""

from collections.abc import Iterable, Sequence

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds import istio
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import API_KEYS, APIKey
from reporter.kinds.objects import namespace_key
from reporter.model.enums import DetailSource
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import authorization
from reporter.resources.check_result import CheckResult, Inconclusive, check_served
from reporter.resources.components import ComponentSpec, locate_component
from reporter.resources.conditions import absence_of, exclude_deleting, with_detail
from reporter.resources.gateways import is_owned_by_harness
from reporter.snapshot.snapshot import Snapshot


class ExtAuthzParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for external authorization.

    *filters*: the names of the EnvoyFilter; a harness with auth has one of them. *backends*: the
    components of gateway auth, whose Services have the names of their Deployments.
    """

    filters: tuple[str, ...]
    backends: tuple[ComponentSpec, ...] = ()


ISTIO_NAMESPACE_FLAG = "istio-namespace"
"""The flag with the namespace of istiod and its MeshConfig."""


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult]:
    """
    Return the troubles of the namespace's EnvoyFilters, and those of its AuthorizationPolicies.

    The policies count only with the source istio. While their watch is lost, they are inconclusive.
    """
    detail = authorization.find_provider_troubles(
        snapshot, request.subject.namespace, request.flags[ISTIO_NAMESPACE_FLAG]
    )
    unwatched = next(iter(request.unwatched.values()), "")
    return with_detail(_check_filters(snapshot, request), detail, unwatched=unwatched)


def _check_filters(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    namespace, parameters = request.subject.namespace, request.parameters
    not_served = check_served(snapshot, istio.ENVOY_FILTERS)
    if not_served is not None:
        return [not_served] if _api_key_names(snapshot, namespace) else []
    filters = snapshot.by_index(istio.ENVOY_FILTERS, istio.EnvoyFilter, namespace_key(namespace))
    expected = [each for each in filters if each.metadata.name in parameters.filters]
    if not expected and not any(each.spec.authorizes for each in filters):
        return [_missing_filter_trouble(snapshot, request)]
    # Of the components of gateway auth also those that do not exist.
    located = (locate_component(snapshot, each, request.flags) for each in parameters.backends)
    backends = [each for each in located if each is not None]
    return [
        authorization.auth_backend_trouble(snapshot, each, backends)
        for each in exclude_deleting(expected)
    ]


# ---------------------------------------------------------------- no filter


def _missing_filter_trouble(snapshot: Snapshot, request: ProbeRequest) -> CheckResult | None:
    """
    Return the trouble of a missing filter if the harness has auth, which its API key shows.

    The chart creates the key and the filter together. An AuthorizationPolicy with a provider is the
    other way to configure external authorization and needs no filter. So while policies cannot be read
    although they are to be, nobody knows.
    """
    namespace, parameters = request.subject.namespace, request.parameters
    not_listed = snapshot.why_not_synced(API_KEYS)
    if not_listed:
        return Inconclusive(not_listed)
    keys = _api_key_names(snapshot, namespace)
    if not keys:
        return None
    unread = authorization.why_policies_unread(snapshot, namespace, now=request.now)
    if unread:
        return Inconclusive(unread)
    if authorization.find_provider_policies(snapshot, namespace):
        return None
    refs = [istio.ENVOY_FILTERS.ref(namespace, name) for name in parameters.filters]
    ref = next((each for each in refs if absence_of(snapshot, each).was_deleted), refs[0])
    absence = absence_of(snapshot, ref)
    state = f"{absence.describe()}, so that nothing asks for API keys although APIKey {keys[0]} is there"
    return Trouble(
        cause=Cause(ref, "FilterNotFound"),
        kind=absence.trouble_kind,
        is_out=True,
        message_fields={"object": f"EnvoyFilter {ref.name}", "state": state},
    )


def _api_key_names(snapshot: Snapshot, namespace: str) -> Sequence[str]:
    if check_served(snapshot, API_KEYS):
        return []
    keys = snapshot.by_index(API_KEYS, APIKey, namespace_key(namespace))
    return [key.metadata.name for key in exclude_deleting(keys) if is_owned_by_harness(key)]


PROBE = Probe(
    ProbeSpec(
        name="ext-authz",
        parameters_type=ExtAuthzParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset(
            {
                "NamespaceNotFound",
                "ServiceNotFound",
                "FilterNotFound",
                authorization.PROVIDER_NOT_FOUND,
            }
        ),
        required_kinds=(istio.ENVOY_FILTERS, DEPLOYMENTS, NAMESPACES),
        consulted_kinds=(API_KEYS,),
        required_crds=crds_of(istio.ENVOY_FILTERS),
        kinds_by_source={
            DetailSource.ISTIO: (istio.AUTHORIZATION_POLICIES, istio.MESH_CONFIG_MAPS)
        },
    ),
    evaluate,
)
