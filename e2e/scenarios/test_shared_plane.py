"""
The control plane that tests share: what one adds is gone before the next, and what else it changes is named.
"""

import re
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, contents, crds
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from tests.support.status_objects import CRD, STATUSES


DEFAULT = "/api/v1/namespaces/default"


@pytest.fixture
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with small_plane.lent() as plane:
        yield plane


def test_nothing_of_a_user_is_left_for_the_next(small_plane: SharedPlane) -> None:
    with small_plane.lent() as plane:
        before = contents.read(plane.client)
        written = [*workload.manifests(1)]
        workload.write_all(plane, written)
        crds.install(plane.client, [CRD])
        (model,) = plane.client.list("/apis/kaito.sh/v1beta1/inferencesets")
        kept = {"metadata": {"finalizers": ["example.com/keep"]}}
        plane.client.patch(plane.client.path(model), kept)
        with ReporterProcess(plane):
            pass
        added = contents.read(plane.client).keys() - before.keys()
        assert f"{crds.PATH}/{STATUSES}" in added
        assert {_of_any_version(plane.client.path(each)) for each in written} < {
            _of_any_version(path) for path in added
        }
        first = plane.pids
    with small_plane.lent() as plane:
        assert plane.pids == first
        assert contents.read(plane.client) == before


def _of_any_version(path: str) -> str:
    return re.sub(r"/v\d\w*/", "/", path, count=1)


def test_what_a_user_has_changed_is_named(plane: ControlPlane) -> None:
    before = contents.read(plane.client)
    plane.client.patch(DEFAULT, {"metadata": {"labels": {"odd": "yes"}}})
    assert contents.differences(before, contents.read(plane.client)) == [f"{DEFAULT} has changed"]
    plane.client.patch(DEFAULT, {"metadata": {"labels": {"odd": None}}})
    without = {path: each for path, each in before.items() if path != DEFAULT}
    assert contents.differences(before, without) == [f"{DEFAULT} is gone"]
    assert contents.differences(without, before) == [f"{DEFAULT} was left"]


def test_a_process_of_a_user_is_named_while_it_runs(plane: ControlPlane) -> None:
    process = plane.run("sleeper", ["sleep", "600"])
    assert [each.name for each in plane.other_processes()] == ["sleeper"]
    process.kill()
    assert plane.other_processes() == []
