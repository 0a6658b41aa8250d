"""The flags of a reporter that writes objects, given to a command that only looks."""

from pathlib import Path

import pytest

from devcluster.server import DevCluster
from tests.integration.status.asking import ask, ask_about, running, server
from tests.integration.status.test_history_command import a_day
from tests.support.node_events import a_node_crd
from tests.support.status_objects import CRD as STATUSES_CRD


__all__ = ["server"]

BACKENDS = pytest.mark.parametrize("backend", ["healthevents", "nvsentinel"])
WRITERS = pytest.mark.parametrize(
    "flag", ["STORE=healthevents", "STORE=nvsentinel", "STATUS_OBJECTS=true"]
)
PARTS = ("/healthevents", "/healtheventresources", "/productionstackstatuses")


def reads_of_written_objects(server: DevCluster) -> list[str]:
    return [path for _, path in server.requests if any(each in path for each in PARTS)]


def variable(flag: str) -> dict[str, str]:
    """Return the environment variable that sets a flag."""
    name, _, value = flag.partition("=")
    return {f"STATUS_REPORTER_{name}": value}


@WRITERS
async def test_a_watch_of_the_cluster_reads_none_of_its_objects(
    server: DevCluster, tmp_path: Path, flag: str
):
    a_day(server)
    for crd in (a_node_crd(), STATUSES_CRD):
        server.cluster.upsert(crd)
    argv = ("status", "--watch", "--from=cluster")
    config = str(server.write_kubeconfig(tmp_path / "asking.kubeconfig"))
    async with running(*argv, KUBECONFIG=config, **variable(flag)) as watching:
        _, cluster, _ = await watching.prints(3)
    assert cluster.split()[:2] == ["cluster", "Ready"]
    assert reads_of_written_objects(server) == []


@WRITERS
async def test_one_look_reads_none_of_its_objects(server: DevCluster, tmp_path: Path, flag: str):
    a_day(server)
    answer = await ask_about(server, tmp_path, "status", "--from=cluster", **variable(flag))
    assert answer.code == 0, answer.err
    assert "Ready" in answer.out
    assert reads_of_written_objects(server) == []


@BACKENDS
async def test_the_history_is_read_all_the_same(server: DevCluster, tmp_path: Path, backend: str):
    a_day(server)
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    environ = variable(f"STORE={backend}")
    answer = await ask("status", "--history", f"--kubeconfig={config}", **environ)
    assert answer.code == 0, answer.err
    assert "clusterBBRNotReady" in answer.out
