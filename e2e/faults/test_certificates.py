"""
The API server's certificate and its authority change while the reporter runs.

Both are read from files that Kubernetes keeps up to date in a pod. The files are checked once a
minute; an open connection is not checked again.
"""

import json
import shutil
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, Options, reporter_rights, until
from e2e.faults.support.cuttable_connection import CuttableConnection, cuttable_connection
from e2e.faults.support.fault_check import RECOVERY, FaultCheck
from e2e.support import events
from e2e.support.production_stack import components as example
from e2e.support.production_stack import restore
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


LOOKED_AT = 60
"""Seconds between two looks at the file of the authority."""

CERTIFICATE, KEY = "apiserver.crt", "apiserver.key"
NOTICED = 90
"""Three times the seconds in which an API server notices other files."""


@pytest.mark.slow
def test_authority_may_change_before_and_after_the_certificate(
    new_control_plane: Callable[[Options], ControlPlane], stack: ControlPlane
) -> None:
    """
    First only the server changes, which is a mistake, and the file follows late. Then it changes
    back with both authorities in the file, which is the recommended order.
    """
    plane = new_control_plane(Options(unread_crds=True))
    authority = plane.folder / "ca.crt"
    shutil.copy(plane.client.ca_file, authority)
    old, new = _pair(plane, plane.folder / "old"), _pair(stack, plane.folder / "new")
    example.install(plane.client)
    with restore.healthy_stack(plane), cuttable_connection(plane) as way:
        kubeconfig = way.kubeconfig(_with_authority(plane, authority))
        flags = (*SHORT_FLAGS, "--emission=all", f"--kubeconfig={kubeconfig}")
        with ReporterProcess(plane, *flags) as reporter:
            check = _changed(FaultCheck(plane, reporter), way, new)
            check.change_stack(unseen=True)
            check.wait_until_age(20)
            authority.write_bytes(_authority(old) + _authority(new))
            _assert_announced(check, within=LOOKED_AT + RECOVERY)
            check.assert_logged("certificate verify failed")
            check = _changed(FaultCheck(plane, reporter), way, old)
            check.change_stack()
            _assert_announced(check, within=RECOVERY)
            assert "certificate" not in "\n".join(check.log)


def _changed(check: FaultCheck, way: CuttableConnection, pair: Path) -> FaultCheck:
    """Begin an episode, change the certificate and reset every connection."""
    events.clear(check.plane.client)
    check.prepare()
    _serve(check.plane, pair)
    way.reset_connections()
    return check


def _assert_announced(check: FaultCheck, *, within: float) -> None:
    check.fault_ended()
    check.wait_recovered(within=within)
    check.assert_expected_events()
    check.assert_cheap()


def _authority(pair: Path) -> bytes:
    """
    Return the certificate file. It ends with the authority, because the authority is self-signed.
    """
    return (pair / CERTIFICATE).read_bytes()


def _pair(plane: ControlPlane, folder: Path) -> Path:
    """
    Copy the certificate and key of the API server. Every control plane has its own pair, and all
    are valid for this machine.
    """
    folder.mkdir()
    for name in (CERTIFICATE, KEY):
        shutil.copy(plane.client.ca_file.parent / name, folder / name)
    return folder


def _serve(plane: ControlPlane, pair: Path) -> None:
    """
    Change the certificate. Returns when the running API server presents it; our client accepts
    it then.
    """
    for name in (CERTIFICATE, KEY):
        shutil.copy(pair / name, plane.client.ca_file.parent / name)
    first = (pair / CERTIFICATE).read_text().partition("-----END")[0]

    def served() -> bool:
        shown = ssl.get_server_certificate(("127.0.0.1", plane.client.port))
        return shown.partition("-----END")[0].split() == first.split()

    until(served, within=NOTICED, what="the API server shows its other certificate")
    plane.client = plane.client_of(plane.client.token)


def _with_authority(plane: ControlPlane, authority: Path) -> Path:
    """Write the reporter's kubeconfig with the authority in a file of its own."""
    reporter_rights.install(plane.client, NAMESPACE)
    path = plane.service_account_kubeconfig(NAMESPACE, reporter_rights.NAME)
    content = json.loads(path.read_text())
    for cluster in content["clusters"]:
        del cluster["cluster"]["certificate-authority-data"]
        cluster["cluster"]["certificate-authority"] = str(authority)
    path = path.with_suffix(".authority.kubeconfig")
    path.write_text(json.dumps(content))
    return path
