"""
Rules that the reporter's ServiceAccount has beside its own for a while, as a chart's `extraRules`.
"""

import contextlib
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from e2e.controlplane import Client, reporter_rights
from e2e.support.reporter_process import NAMESPACE
from reporter.kube.access_review import Permission


RBAC = "/apis/rbac.authorization.k8s.io/v1"
VERBS = ("list", "watch")


@contextlib.contextmanager
def granted(client: Client, name: str, rules: Sequence[dict[str, Any]]) -> Iterator[None]:
    """
    Grant `list` and `watch` by a ClusterRole of this name once the API server has read it, and revoke
    them at the end.
    """
    account = {"kind": "ServiceAccount", "name": reporter_rights.NAME, "namespace": NAMESPACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    meta = {"metadata": {"name": name}}
    reading = [{**rule, "verbs": [*VERBS]} for rule in rules]
    client.create(f"{RBAC}/clusterroles", {**meta, "rules": reading})
    binding = {**meta, "roleRef": role, "subjects": [account]}
    client.create(f"{RBAC}/clusterrolebindings", binding)
    try:
        for right in _permissions(rules):
            reporter_rights.until_allowed(client, NAMESPACE, right)
        yield
    finally:
        client.delete(f"{RBAC}/clusterrolebindings/{name}")
        client.delete(f"{RBAC}/clusterroles/{name}")


def _permissions(rules: Sequence[dict[str, Any]]) -> Iterator[Permission]:
    for rule in rules:
        for group, resource, verb in product(rule["apiGroups"], rule["resources"], VERBS):
            yield Permission(verb, group, resource)
