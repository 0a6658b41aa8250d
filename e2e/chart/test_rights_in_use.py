"""
Each rule of the chart is needed: without it the check at start names it and the reasons it affects.
"""

from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from e2e.chart import CHART
from e2e.chart.helm import Helm, Json
from e2e.chart.rendering.objects import READER
from e2e.controlplane import ControlPlane, until
from e2e.controlplane.rules import LEASES, lease, needed_by
from reporter.controller.permissions import PermissionNeeds
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kube.access_review import (
    Permission,
    PermissionStatus,
    format_missing_permissions,
    review_permissions,
)
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.model.enums import DetailSource
from reporter.settings import ScrapeMode


RELEASE, NAMESPACE = "rights", "rights"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{RELEASE}-status-reporter"
SOURCES = ",".join(DetailSource)
"""
All sources, and below status objects, the store, mirrored Events and reviews of readers, so that every rule of the
chart is rendered.
"""


@pytest.fixture
def roles(installer: Helm, control_plane: ControlPlane) -> Iterator[list[Json]]:
    """
    Yield the installed roles of the chart; delete them afterwards, for the releases of other tests.
    """
    client = control_plane.client
    rendered = installer.render(
        CHART,
        f"--set=sources={{{SOURCES}}},statusObjects.enabled=true,store.backend=healthevents,mirrorEvents=true",
        "--set=statusAuthorization=kubernetes",
        release=RELEASE,
        namespace=NAMESPACE,
    )
    kinds = {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    manifests = (space, *(each for each in rendered if each["kind"] in kinds))
    for manifest in manifests:
        client.apply(manifest)
    yield [
        each
        for each in rendered
        if each["kind"] in {"ClusterRole", "Role"}
        and not each["metadata"]["name"].endswith(READER)
    ]
    for manifest in reversed(manifests):
        client.delete(client.path(manifest))


@pytest_asyncio.fixture
async def api(roles: list[Json], control_plane: ControlPlane) -> AsyncIterator[RestClient]:
    account = f"{RELEASE}-status-reporter"
    path = control_plane.service_account_kubeconfig(NAMESPACE, account)
    api = await connect(str(path), environ={})
    yield api
    await api.close()


async def test_each_missing_rule_is_named_with_the_reasons_it_makes_unknown(
    control_plane: ControlPlane, roles: list[Json], api: RestClient
) -> None:
    needs = PermissionNeeds(
        lease=lease(NAMESPACE, "productionstack-status-reporter"),
        sources=list(DetailSource),
        mode=ScrapeMode.AUTO,
        status_objects=True,
        mirror_events=True,
        store=replace(HEALTH_EVENTS, namespace=NAMESPACE),
        reviews=True,
    )
    asked = needed_by(needs)
    _allowed(control_plane, asked, True)
    assert format_missing_permissions(await review_permissions(api, asked), asked) == ""
    every = [(role, rule) for role in roles for rule in role["rules"]]
    for role in roles:
        for number, rule in enumerate(role["rules"]):
            left = role["rules"][:number] + role["rules"][number + 1 :]
            others = [each for each in every if each[1] is not rule]
            lost = {right for right in asked if _grants(role, rule, right)}
            lost -= {right for right in lost if any(_grants(*each, right) for each in others)}
            assert lost, f"{rule} grants nothing that is asked for"
            control_plane.client.put(control_plane.client.path(role), role | {"rules": left})
            _allowed(control_plane, lost, False)
            grants = await review_permissions(api, asked)
            assert {right for right, grant in grants if grant is PermissionStatus.MISSING} == lost
            text = " ".join(format_missing_permissions(grants, asked).split())
            assert all(part in text for right in lost for part in right.resource.split("/"))
            assert all(reason.split(" ")[0] in text for right in lost for reason in asked[right])
            control_plane.client.put(control_plane.client.path(role), role)
            _allowed(control_plane, lost, True)


def _grants(role: Json, rule: Json, right: Permission) -> bool:
    """
    Report whether a rule grants a permission. One in the whole cluster grants it in each namespace.
    """
    return (
        role["metadata"].get("namespace", "") in {"", right.namespace}
        and right.verb in rule["verbs"]
        and right.group in rule["apiGroups"]
        and right.resource in rule["resources"]
        and right.name in rule.get("resourceNames", [""])
        and (right.resource != LEASES or bool(right.name) == ("resourceNames" in rule))
    )


def _allowed(plane: ControlPlane, rights: Collection[Permission], expected: bool) -> None:
    """Wait until the API server's authorizer has read a changed role."""
    until(
        lambda: all(_is_allowed(plane, right) is expected for right in rights),
        within=60,
        what=f"allowed: {expected}",
    )


def _is_allowed(plane: ControlPlane, right: Permission) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": right.namespace,
        "name": right.name,
    }
    body = {"spec": {"user": ACCOUNT, "resourceAttributes": attributes}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(plane.client.create(path, body)["status"]["allowed"])
