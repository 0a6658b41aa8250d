"""
The flags of a reporter that keeps episodes, given to a command that only looks.
"""

from pathlib import Path

import pytest

from reporter.embedded.server import EmbeddedServer
from tests.integration.status.asking import ask, ask_about, running, server
from tests.integration.status.test_history_command import a_day
from tests.support.node_events import a_node_crd


__all__ = ["server"]

BACKENDS = pytest.mark.parametrize("backend", ["healthevents", "nvsentinel"])
PARTS = ("/healthevents", "/healtheventresources", "selfsubjectaccessreviews")


def parts_of_the_store(server: EmbeddedServer) -> list[str]:
    return [path for _, path in server.requests if any(each in path for each in PARTS)]


@BACKENDS
async def test_a_watch_of_the_cluster_reads_none_of_its_objects(
    server: EmbeddedServer, tmp_path: Path, backend: str
):
    a_day(server)
    server.cluster.upsert(a_node_crd())
    argv = ("status", "--watch", "--from=cluster", f"--store={backend}")
    config = str(server.write_kubeconfig(tmp_path / "asking.kubeconfig"))
    async with running(*argv, KUBECONFIG=config) as watching:
        await watching.prints(3)
    assert parts_of_the_store(server) == []


@BACKENDS
async def test_one_look_reads_none_of_its_objects(
    server: EmbeddedServer, tmp_path: Path, backend: str
):
    a_day(server)
    environ = {"STATUS_REPORTER_STORE": backend}
    answer = await ask_about(server, tmp_path, "status", "--from=cluster", **environ)
    assert answer.code == 0, answer.err
    assert parts_of_the_store(server) == []


@BACKENDS
async def test_the_history_is_read_all_the_same(
    server: EmbeddedServer, tmp_path: Path, backend: str
):
    a_day(server)
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    answer = await ask("status", "--history", f"--store={backend}", f"--kubeconfig={config}")
    assert answer.code == 0, answer.err
    assert "clusterBBRNotReady" in answer.out
