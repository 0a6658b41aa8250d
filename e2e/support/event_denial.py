"""An API server that refuses new Events, as with a quota."""

import contextlib
from collections.abc import Iterator
from http import HTTPStatus

from e2e.controlplane import ApiError, Client, Json, until


POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
NAME = "no-more-events"
RULE: Json = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["events"],
}


@contextlib.contextmanager
def denied_events(
    client: Client, text: str, reason: str = "", *, denial: str = "Forbidden"
) -> Iterator[None]:
    """
    Refuse new Events with this message. *reason*: refuse only Events of this reason.

    *denial*: the reason of the refusal; Invalid is the default of policies, Forbidden that of quotas.
    """
    those = "false" if not reason else f"!has(object.reason) || object.reason != {reason!r}"
    policy = {
        "metadata": {"name": NAME},
        "spec": {
            "matchConstraints": {"resourceRules": [RULE]},
            "validations": [{"expression": those, "message": text, "reason": denial}],
        },
    }
    spec = {"policyName": NAME, "validationActions": ["Deny"]}
    client.create(POLICIES, policy)
    client.create(BINDINGS, {"metadata": {"name": NAME}, "spec": spec})
    until(lambda: _is_refused(client, reason), within=30, what="Events are refused")
    try:
        yield
    finally:
        client.delete(f"{BINDINGS}/{NAME}")
        client.delete(f"{POLICIES}/{NAME}")
        until(lambda: not _is_refused(client, reason), within=30, what="Events are taken")


def _is_refused(client: Client, reason: str) -> bool:
    involved = {"kind": "Pod", "name": "none", "namespace": "default"}
    event = {
        "metadata": {"generateName": "trial-"},
        "involvedObject": involved,
        "reason": reason or "Trial",
    }
    try:
        client.create("/api/v1/namespaces/default/events?dryRun=All", event)
    except ApiError as err:
        return err.status in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}
    return False
