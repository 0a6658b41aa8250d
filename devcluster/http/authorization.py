"""Authentication and authorization: everything is allowed except what a test denies."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from devcluster.http.resource_path import ResourcePath
from devcluster.schema.api_errors import (
    ApiError,
    Json,
    bad_request,
    invalid,
    invalid_value,
    unauthorized,
)
from devcluster.schema.kinds import ServedKind


DEFAULT_USER = "kubernetes-admin"
VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Attributes:
    """
    The attributes of a request that authorization sees; *namespace* is empty for the whole cluster.
    """

    verb: str
    group: str
    resource: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Denial:
    """A rule that forbids the requests it matches; `*` stands for any value."""

    verb: str = "*"
    group: str = "*"
    resource: str = "*"
    namespace: str = "*"
    user: str = "*"

    def matches(self, user: str, attributes: Attributes) -> bool:
        pairs = (
            (self.user, user),
            (self.verb, attributes.verb),
            (self.group, attributes.group),
            (self.resource, attributes.resource),
            (self.namespace, attributes.namespace),
        )
        return all(rule in ("*", value) for rule, value in pairs)


@dataclass(slots=True)
class Authorizer:
    tokens: dict[str, str] = field(default_factory=dict)
    """Users by bearer token; while it is empty, no request needs a token."""
    denials: list[Denial] = field(default_factory=list)

    def authenticate(self, authorization: str) -> str:
        """Return the user of an Authorization header. Raise a 401 if the token is unknown."""
        if not self.tokens:
            return DEFAULT_USER
        if not authorization:
            return "system:anonymous"
        user = self.tokens.get(authorization.removeprefix("Bearer ").strip())
        if user is None:
            raise unauthorized()
        return user

    def is_allowed(self, user: str, attributes: Attributes) -> bool:
        if user == "system:anonymous":
            return False
        if attributes.group == "authorization.k8s.io":
            return True  # every authenticated user may review their own access
        return not any(denial.matches(user, attributes) for denial in self.denials)

    def authorize(self, user: str, route: ResourcePath) -> None:
        attributes = Attributes(
            route.verb, route.group, route.resource_and_subresource, route.namespace
        )
        if not self.is_allowed(user, attributes):
            raise _forbidden_error(user, route)


def _forbidden_error(user: str, route: ResourcePath) -> ApiError:
    qualified = f"{route.resource}.{route.group}" if route.group else route.resource
    named = f'{qualified} "{route.name}"' if route.name else qualified
    place = f'in the namespace "{route.namespace}"' if route.namespace else "at the cluster scope"
    text = (
        f'{named} is forbidden: User "{user}" cannot {route.verb} resource '
        f'"{route.resource_and_subresource}" in API group "{route.group}" {place}'
    )
    details = {
        **({"name": route.name} if route.name else {}),
        **({"group": route.group} if route.group else {}),
        "kind": route.resource,
    }
    return ApiError(403, "Forbidden", text, details)


def review_access(access: Authorizer, user: str, body: Json) -> Json:
    """Build the response to a SelfSubjectAccessReview."""
    spec = body.get("spec", {})
    wanted = spec.get("resourceAttributes")
    if wanted is None and "nonResourceAttributes" not in spec:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        cause = invalid_value("spec.resourceAttributes", None, text)
        raise invalid("", "authorization.k8s.io", "", [cause])
    allowed = wanted is None or access.is_allowed(user, _parse_attributes(wanted))
    return {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": allowed},
    }


def review_rules(access: Authorizer, kinds: Iterable[ServedKind], user: str, body: Json) -> Json:
    """Build the response to a SelfSubjectRulesReview, with a rule for each resource."""
    namespace = body.get("spec", {}).get("namespace", "")
    if not namespace:
        raise bad_request("no namespace on request")
    resources = {
        (kind.group, "/".join((kind.resource, *subresource)))
        for kind in kinds
        for subresource in ((), *((each,) for each in (*kind.subresources, "proxy")))
    }
    rules = [
        {"verbs": verbs, "apiGroups": [group], "resources": [resource]}
        for where in ("", namespace)
        for group, resource in sorted(resources)
        if (
            verbs := [
                v for v in VERBS if access.is_allowed(user, Attributes(v, group, resource, where))
            ]
        )
    ]
    status = {"resourceRules": rules, "nonResourceRules": [], "incomplete": False}
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": status,
    }


def _parse_attributes(wanted: Json) -> Attributes:
    resource = wanted.get("resource", "")
    if wanted.get("subresource"):
        resource = f"{resource}/{wanted['subresource']}"
    return Attributes(
        wanted.get("verb", ""), wanted.get("group", ""), resource, wanted.get("namespace", "")
    )
