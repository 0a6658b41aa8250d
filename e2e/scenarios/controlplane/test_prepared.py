"""A control plane starts from what an earlier one has stored, and is none the worse for it."""

import gzip
import os
import ssl
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Json, Options, assets, crds, prepared, reporter_rights
from e2e.controlplane.prepared import State
from e2e.support.production_stack.components import namespace_manifest
from reporter.kinds.default_kinds import DEFAULT_KINDS
from tests.support.ports import refusing_port


BARE = Options(scheduler=False, kwok=False)
SYSTEM = "/api/v1/namespaces/kube-system"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view"
ROOT_CERTIFICATE = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"
UNREAD = "somethings.example.com"


@pytest.mark.controlplane
def test_damaged_state_is_made_anew_and_the_next_control_plane_starts_from_it(
    tmp_path: Path,
) -> None:
    found = assets.find()
    wanted = crds.wanted(found.crds(), BARE)
    state = prepared.state(tmp_path, found, BARE, wanted)
    assert state is not None
    state.path.write_bytes(b"damaged")
    with ControlPlane(BARE, states=tmp_path) as first:
        before = {path: first.client.get(path)["metadata"]["uid"] for path in (SYSTEM, ROLE)}
    assert list(tmp_path.iterdir()) == [state.path]
    with ControlPlane(BARE, states=tmp_path) as second:
        client = second.client
        assert client.get(ROLE)["metadata"]["uid"] == before[ROLE]
        assert client.get(SYSTEM)["metadata"]["uid"] != before[SYSTEM]
        assert {crds.name(each) for each in client.list(crds.PATH)} == set(map(crds.name, wanted))
        assert all(crds.served(client, each) for each in wanted)
        certificate = client.get(ROOT_CERTIFICATE)["data"]["ca.crt"]
        assert _der(certificate) == _der(client.ca_file.read_text())
        _reads_what_it_is_granted(second)


def test_state_depends_on_programs_crds_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).touch()

    def path(options: Options, definitions: list[Json]) -> Path:
        wanted = crds.wanted(definitions, options)
        state = prepared.state(tmp_path, assets.Assets(tmp_path), options, wanted)
        assert state is not None
        return state.path

    both = [_crd(UNREAD), _crd(_READ)]
    changed = [_crd(UNREAD), _crd(_READ, scope="Cluster")]
    before = path(Options(), both)
    assert path(Options(controllers=False, scheduler=False, kwok=False), both) == before
    others = [
        path(Options(), changed),
        path(Options(unread_crds=True), both),
        path(Options(without_crds=frozenset({_READ})), both),
    ]
    (tmp_path / "etcd").write_text("another version")
    others.append(path(Options(), both))
    assert len({before, *others}) == 5


@pytest.mark.parametrize(
    "options", [Options(apiserver_flags=("--event-ttl=1m",)), Options(etcd_flags=("--x",))]
)
def test_control_plane_with_flags_of_its_own_has_no_state(
    tmp_path: Path, options: Options
) -> None:
    assert prepared.state(tmp_path, assets.Assets(tmp_path), options, []) is None


@pytest.mark.parametrize("part", [slice(0), slice(-9), slice(9, None)], ids=str)
def test_nothing_is_written_from_a_state_that_is_not_whole(tmp_path: Path, part: slice) -> None:
    state = State(tmp_path / "state")
    with refusing_port() as port:
        assert not state.write_to(port)
        state.path.write_bytes(gzip.compress(b'{"a2V5": "dmFsdWU="}')[part])
        assert not state.write_to(port)


def test_states_that_were_used_last_are_kept(tmp_path: Path) -> None:
    for used, name in enumerate(["oldest", "unfinished", "old", "new"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (used, used))
    prepared.prune(tmp_path, kept=2)
    assert {each.name for each in tmp_path.iterdir()} == {"old", "new"}


_READ = next(f"{each.resource}.{each.group}" for each in DEFAULT_KINDS if "." in each.group)


def _crd(name: str, scope: str = "Namespaced") -> Json:
    group = name.partition(".")[2]
    return {"metadata": {"name": name}, "spec": {"group": group, "scope": scope}}


def _der(certificate: str) -> bytes:
    return ssl.PEM_cert_to_DER_cert(certificate)


def _reads_what_it_is_granted(plane: ControlPlane) -> None:
    namespace = "granted"
    plane.client.create("/api/v1/namespaces", namespace_manifest(namespace))
    reporter_rights.install(plane.client, namespace)
    token = plane.service_account_token(namespace, reporter_rights.NAME)
    reporter = plane.client_of(token)
    assert reporter.list("/apis/apps/v1/deployments") is not None
    review = {"spec": {"resourceAttributes": {"verb": "list", "resource": "secrets"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert reporter.create(path, review)["status"]["allowed"] is False
