"""``status --history`` as a process, on the objects of an API server."""

import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.process.clock import Clock
from tests.integration.status.asking import ask, server
from tests.support.health_events import CRD, NAMESPACE, a_spec, as_text


__all__ = ["server"]

HOUR = timedelta(hours=1)


def keep(server: DevCluster, name: str, reason: str, *, began: timedelta, ended=None) -> None:
    now = Clock().now().replace(microsecond=0)
    spec = a_spec(reason, generated_timestamp=now - began)
    status: dict = {"phase": "Active"}
    if ended is not None:
        time = as_text(now - ended)
        status = {"phase": "Resolved", "resolution": "Cleared", "resolvedTime": time}
    labels = {"app.kubernetes.io/managed-by": "productionstack-status-reporter"}
    server.cluster.upsert(
        {
            "apiVersion": "reporter.productionstack.kaito.sh/v1alpha1",
            "kind": "HealthEvent",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
            "spec": msgspec.to_builtins(spec),
            "status": status,
        }
    )


@pytest.fixture
def kubeconfig(server: DevCluster, tmp_path: Path) -> str:
    return f"--kubeconfig={server.write_kubeconfig(tmp_path / 'kubeconfig')}"


def a_day(server: DevCluster) -> None:
    server.cluster.upsert(CRD)
    keep(server, "first", "clusterBBRNotReady", began=5 * HOUR, ended=4 * HOUR)
    keep(server, "second", "clusterBBRNotReady", began=2 * HOUR)
    keep(server, "long-ago", "clusterKedaNotReady", began=60 * HOUR, ended=50 * HOUR)


async def test_reasons_of_the_last_day_are_a_row_each(server: DevCluster, kubeconfig: str):
    a_day(server)
    answer = await ask("status", "--history", kubeconfig)
    assert answer.code == 0, answer.err
    head, *rows = answer.out.splitlines()
    assert head.split() == ["REASON", "SUBJECT", "NODE", "PHASE", "EPISODES", "LASTED", "BEGAN"]
    (row,) = rows
    assert row.split()[:5] == ["clusterBBRNotReady", "cluster", "-", "Active", "2"]
    assert row.split()[5:] == ["180m", "120m", "ago"] or "3h" in row


@pytest.mark.parametrize("form", ["table", "wide"])
async def test_headers_can_be_left_out(server: DevCluster, kubeconfig: str, form: str):
    a_day(server)
    answer = await ask("status", "--history", "--no-headers", f"--output={form}", kubeconfig)
    assert answer.code == 0, answer.err
    assert {line.split()[0] for line in answer.out.splitlines()} == {"clusterBBRNotReady"}


async def test_each_episode_is_a_row_with_its_message_in_wide(server: DevCluster, kubeconfig: str):
    a_day(server)
    answer = await ask("status", "--history", "--since=72h", "-o", "wide", kubeconfig)
    _, *rows = answer.out.splitlines()
    assert [row.split()[0] for row in rows] == [
        "clusterBBRNotReady",
        "clusterBBRNotReady",
        "clusterKedaNotReady",
    ]
    assert all(row.endswith("Thing thing is broken. Platform: look at it.") for row in rows)
    assert "Cleared" in rows[1]


async def test_json_has_every_episode_with_its_times(server: DevCluster, kubeconfig: str):
    a_day(server)
    answer = await ask("status", "--history", "cluster", "-o", "json", kubeconfig)
    last, first = json.loads(answer.out)
    assert (last["name"], last["phase"]) == ("second", "Active")
    assert "ended" not in last
    assert (first["lastedSeconds"], first["resolution"]) == (3600, "Cleared")


async def test_nothing_kept_is_said_and_is_no_error(server: DevCluster, kubeconfig: str):
    a_day(server)
    answer = await ask("status", "--history", "team-a", kubeconfig)
    assert (answer.code, answer.out) == (0, "")
    assert "no episode is kept of that time" in answer.err


async def test_cluster_without_the_kind_is_told_what_to_do(server: DevCluster, kubeconfig: str):
    answer = await ask("status", "--history", kubeconfig)
    assert answer.code == 1
    assert "--store=healthevents" in answer.err


async def test_namespace_of_the_release_is_read_where_others_may_not_be(
    server: DevCluster, kubeconfig: str
):
    a_day(server)
    server.faults.add(status_response(403, "Forbidden", "no"), path=r"/v1alpha1/healthevents")
    answer = await ask("status", "--history", f"--release-namespace={NAMESPACE}", kubeconfig)
    assert "clusterBBRNotReady" in answer.out
    assert f"the history is that of namespace {NAMESPACE}" in answer.err


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--watch", "does not go with --history"),
        ("--output=name", "does not go with --history"),
        ("--since=yesterday", "must be a duration"),
        ("--from=file:dump.yaml", "does not go with --history"),
        ("--from=reporter", "does not go with --history"),
        ("--at=2026-01-31T12:00:00Z", "applies to dumps alone"),
    ],
)
async def test_flag_that_does_not_fit_is_refused(flag: str, why: str):
    answer = await ask("status", "--history", flag)
    assert answer.code == 2
    assert why in answer.err
