"""With statusAuthorization the status is read by those whom RBAC of the real API server allows."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.chart import CHART
from e2e.chart.helm import IMAGE, Helm, Json
from e2e.chart.installed import (
    NAMESPACE,
    SLOW,
    as_installed,
    until_owned,
    until_permissions_reviewed,
)
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import ControlPlane, until
from e2e.support.reporter_process import ReporterProcess
from tests.support.command_line import run_command_line


WHERE = f"--namespace={NAMESPACE}"
RBAC = "rbac.authorization.k8s.io"
ROLES = f"/apis/{RBAC}/v1/clusterroles"
READER = "stack-status-reporter-status-reader"
"""The ClusterRole of the chart that allows every path."""

UNREVIEWED = 503
"""The answer while the API server gives none."""


@pytest.fixture
def reporter(plane: ControlPlane, installer: Helm) -> Iterator[ReporterProcess]:
    """
    Yield a reporter with the flags and the ServiceAccount of a chart that authorizes readers.
    """
    on = "--set=statusAuthorization=kubernetes"
    installer("install", "stack", str(CHART), WHERE, IMAGE, on)
    with as_installed(plane) as reporter:
        yield reporter
        until_owned(plane)
    installer("uninstall", "stack", WHERE, "--wait")
    until_nothing_is_left(plane, NAMESPACE)


@pytest.fixture
def readers(plane: ControlPlane) -> Iterator["Readers"]:
    readers = Readers(plane)
    yield readers
    readers.remove()


class Readers:
    """ServiceAccounts that read the status, each with a token."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self._made = plane, list[Json]()

    def add(self, name: str, role: str = "", paths: tuple[str, ...] = ()) -> str:
        """
        Return the token of a new ServiceAccount, bound to *role*, or to a new one for *paths*.
        """
        self._apply("v1", "ServiceAccount", name, NAMESPACE)
        if paths:
            role, rule = name, {"nonResourceURLs": list(paths), "verbs": ["get"]}
            self._apply(f"{RBAC}/v1", "ClusterRole", name, rules=[rule])
        if role:
            self.bind(name, role)
        return self._plane.service_account_token(NAMESPACE, name)

    def bind(self, name: str, role: str) -> None:
        self._apply(
            f"{RBAC}/v1",
            "ClusterRoleBinding",
            name,
            roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            subjects=[{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
        )

    def remove(self) -> None:
        for each in reversed(self._made):
            self._plane.client.delete(self._plane.client.path(each))

    def _apply(
        self, version: str, kind: str, name: str, namespace: str = "", **content: Any
    ) -> None:
        meta = {"name": name, **({"namespace": namespace} if namespace else {})}
        manifest = {"apiVersion": version, "kind": kind, "metadata": meta, **content}
        self._plane.client.apply(manifest)
        if manifest not in self._made:
            self._made.append(manifest)


def read(reporter: ReporterProcess, path: str, token: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", reporter.health_port, timeout=SLOW)
    try:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def until_read(reporter: ReporterProcess, path: str, token: str, status: int) -> None:
    until(
        lambda: read(reporter, path, token)[0] == status,
        within=2 * SLOW,
        what=f"{path} answers {status}",
    )


def decided(reporter: ReporterProcess, path: str, token: str = "") -> int:
    """Return the status once the API server has answered the review; a slow one is a 503."""

    def reviewed() -> int | None:
        status, _ = read(reporter, path, token)
        return None if status == UNREVIEWED else status

    return until(reviewed, within=2 * SLOW, what=f"the right to {path} is reviewed")


def test_each_reader_sees_what_rbac_allows(
    plane: ControlPlane, reporter: ReporterProcess, readers: Readers
) -> None:
    admin, nobody = readers.add("admin", READER), readers.add("nobody")
    until_read(reporter, "/status/v1", admin, 200)
    own, others = ("/status/v1/namespaces/team-a", "/status/v1/namespaces/team-b")
    tenant = readers.add("tenant", paths=(own, f"{own}/*"))
    until_read(reporter, own, tenant, 404)

    for path in ("/", "/page/main.js", "/status", "/status/v1", own, others):
        shown = 404 if path in {own, others} else 200  # the stack has no such namespace
        assert decided(reporter, path) == 401
        assert decided(reporter, path, "forged") == 401
        assert decided(reporter, path, nobody) == 403
        assert decided(reporter, path, admin) == shown
        assert decided(reporter, path, tenant) == (shown if path == own else 403)
    assert read(reporter, "/readyz")[0] == 200
    until_permissions_reviewed(reporter)


def test_what_rbac_takes_away_ends_and_without_reviews_nothing_is_shown(
    plane: ControlPlane, reporter: ReporterProcess, readers: Readers
) -> None:
    admin = readers.add("admin", READER)
    until_read(reporter, "/status", admin, 200)
    plane.client.delete(f"/apis/{RBAC}/v1/clusterrolebindings/admin")
    until_read(reporter, "/status", admin, 403)
    readers.bind("admin", READER)
    until_read(reporter, "/status", admin, 200)

    role = plane.client.get(f"{ROLES}/productionstack-status-reporter")
    rules = [each for each in role["rules"] if "tokenreviews" not in each["resources"]]
    assert len(rules) < len(role["rules"])
    plane.client.put(f"{ROLES}/productionstack-status-reporter", role | {"rules": rules})
    until_read(reporter, "/status", admin, UNREVIEWED)
    until(
        lambda: reporter.lines("create", "tokenreviews.authentication.k8s.io"),
        within=2 * SLOW,
        what="the missing permission is logged",
    )
    assert reporter.lines("the status is shown to nobody")
    assert not reporter.lines(admin)


def test_the_command_sends_the_token_of_the_kubeconfig(
    plane: ControlPlane, reporter: ReporterProcess, readers: Readers
) -> None:
    def status(kubeconfig: str) -> subprocess.CompletedProcess[str]:
        words = ("status", "-o", "json", f"--from={url}")
        return run_command_line(*words, KUBECONFIG=kubeconfig)

    url = f"http://127.0.0.1:{reporter.health_port}"
    admin = readers.add("admin", READER)
    until_read(reporter, "/status/v1", admin, 200)
    asked = status(str(plane.kubeconfig("of-admin", admin)))
    assert (asked.returncode, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["mode"] == "watching"
    nobody = readers.add("nobody")
    assert decided(reporter, "/status/v1", nobody) == 403
    refused = status(str(plane.kubeconfig("of-nobody", nobody)))
    assert refused.returncode == 1
    assert "may not get /status/v1" in refused.stderr
