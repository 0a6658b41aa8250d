"""A thousand InferenceSets without pods, all announced at once by a real container with a limit of memory."""

import contextlib
import re
from collections.abc import Iterator
from functools import partial

from e2e.controlplane import Json, until
from e2e.node.release import Release
from e2e.support.production_stack import workload


SETS = 1000
MOST = 0.8
"""The part of its limit of memory that a reporter may take."""

READ_WITHIN = 600
WITHOUT = {"Deployment", "Pod", "Service"}
"""Kinds whose controllers would start thousands of containers."""

NAMESPACES = "/api/v1/namespaces"
PAGE = """\
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:8080/metrics").read().decode())
"""
PEAK = """\
from pathlib import Path
of_version_2 = Path("/sys/fs/cgroup/memory.peak")
of_version_1 = Path("/sys/fs/cgroup/memory/memory.max_usage_in_bytes")
print((of_version_2 if of_version_2.exists() else of_version_1).read_text())
"""


def test_reporter_stays_under_its_limit_with_a_thousand_sets(quiet: Release) -> None:
    restarts, events = _restarts(quiet), quiet.events_from_now()
    with _sets(quiet):
        for pod in sorted(restarts):
            until(partial(_has_read_all, quiet, pod), within=READ_WITHIN, what="all are read")
        leader = quiet.reporters.leader()
        until(lambda: len(events.all()) >= SETS, within=READ_WITHIN, what="all are announced")
        for pod in sorted(restarts):
            peak = int(quiet.python(pod, PEAK))
            limit = _limit(quiet, pod)
            print(f"{pod}: at most {peak >> 20} of {limit >> 20} MiB")
            assert peak <= MOST * limit
        assert quiet.reporters.leader() == leader
    assert _restarts(quiet) == restarts


def _restarts(release: Release) -> dict[str, int]:
    return {
        pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]["restartCount"]
        for pod in release.reporters.pods()
    }


def _limit(release: Release, name: str) -> int:
    """Return the limit of a pod's memory in bytes."""
    (found,) = (each for each in release.reporters.pods() if each["metadata"]["name"] == name)
    limit: str = found["spec"]["containers"][0]["resources"]["limits"]["memory"]
    assert limit.endswith("Mi")
    return int(limit.removesuffix("Mi")) << 20


def _has_read_all(release: Release, pod: str) -> bool:
    """Return whether a reporter has read all InferenceSets, by its metrics."""
    page = release.python(pod, PAGE)
    found = re.search(r'reporter_objects\{kind="inferencesets\.kaito\.sh"\} (\S+)', page)
    return found is not None and float(found[1]) >= SETS


@contextlib.contextmanager
def _sets(release: Release) -> Iterator[None]:
    plane = release.cluster.plane
    try:
        workload.write_all(plane, _manifests())
        yield
    finally:
        for name in _teams(release):
            plane.client.delete(f"{NAMESPACES}/{name}")
        until(lambda: not _teams(release), within=READ_WITHIN, what="all teams are gone")


def _manifests() -> Iterator[Json]:
    cluster, _ = workload.example()
    once = [workload.object_key(each) for each in cluster if each["kind"] != "GatewayClass"]
    for each in workload.manifests(SETS):
        if each["kind"] not in WITHOUT and workload.object_key(each) not in once:
            yield each


def _teams(release: Release) -> list[str]:
    found = release.cluster.client.list(NAMESPACES)
    names = [each["metadata"]["name"] for each in found]
    return [name for name in names if name.startswith("team-")]
