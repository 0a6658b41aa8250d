"""
The token of the reporter, in a file as the kubelet keeps it: replaced, revoked, missing for a while.
"""

import json
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.controlplane import ApiError, ControlPlane, reporter_rights, until
from e2e.faults.support.fault_check import STAMP
from e2e.support import events
from e2e.support.elections import RENEW_DEADLINE, STEADY_LEASE
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD
from e2e.support.reporter_process import LEASE, NAMESPACE, ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


BBR, ISTIO, READY = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady", "clusterReady"
REMEMBERED = 10
"""Seconds for which the API server goes on to accept a token that it has just seen."""

FLAGS = (*SHORT_FLAGS, *STEADY_LEASE)
QUIET = 6
"""Seconds in which a reporter without a good token writes nothing."""

LONGEST_PAUSE = 33
"""Seconds between two tries of a watch."""

SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
ACCOUNT = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{reporter_rights.NAME}"


@dataclass
class Volume:
    """
    A folder in which a token is replaced in one step, by a link to a linked folder, as kubelet
    does.
    """

    plane: ControlPlane
    folder: Path

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    def fill(self, token: str) -> None:
        data = self.folder / f"..{secrets.token_hex(4)}"
        data.mkdir()
        (data / "token").write_text(token)
        link = self.folder / "..data_tmp"
        link.symlink_to(data.name)
        link.replace(self.folder / "..data")
        if not self.token_file.is_symlink():
            self.token_file.symlink_to("..data/token")

    def empty(self) -> None:
        (self.folder / "..data").unlink()

    def flag(self) -> str:
        original = self.plane.service_account_kubeconfig(NAMESPACE, reporter_rights.NAME)
        content = json.loads(original.read_text())
        content["users"][0]["user"] = {"tokenFile": str(self.token_file)}
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(content))
        return f"--kubeconfig={path}"


@dataclass(frozen=True)
class Token:
    """
    A token that ends when its Secret is deleted. The server gives no token less than ten minutes.
    """

    plane: ControlPlane
    name: str
    text: str

    @classmethod
    def issued(cls, plane: ControlPlane) -> "Token":
        name = f"token-{secrets.token_hex(4)}"
        secret = plane.client.create(SECRETS, {"metadata": {"name": name}})
        bound = {
            "kind": "Secret",
            "apiVersion": "v1",
            "name": name,
            "uid": secret["metadata"]["uid"],
        }
        asked = {"spec": {"boundObjectRef": bound}}
        answer = plane.client.create(f"{ACCOUNT}/token", asked)
        return cls(plane, name, answer["status"]["token"])

    def revoke(self) -> None:
        """Delete the Secret. Returns when the server refuses the token."""
        self.plane.client.delete(f"{SECRETS}/{self.name}")
        until(self._refused, within=REMEMBERED + PROMPT_TIMEOUT, what="the token is refused")

    def _refused(self) -> bool:
        try:
            self.plane.client_of(self.text).get(LEASE)
        except ApiError as err:
            return err.status == 401
        return False


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        reporter_rights.install(plane.client, NAMESPACE)
        yield plane


@pytest.fixture
def volume(plane: ControlPlane, tmp_path: Path) -> Volume:
    return Volume(plane, tmp_path)


def test_token_that_was_replaced_before_it_ended_is_never_missed(
    plane: ControlPlane, volume: Volume
) -> None:
    old = Token.issued(plane)
    volume.fill(old.text)
    with ReporterProcess(plane, *FLAGS, volume.flag()) as reporter:
        volume.fill(Token.issued(plane).text)
        old.revoke()
        _announce_and_heal(plane)
        assert reporter.lines("no longer leading") == []
        # As a number of its own: 401 may also be a part of a second, a port or an identity.
        lines = [STAMP.sub("", line) for line in reporter.lines("401")]
        assert [line for line in lines if re.search(r"\b401\b", line)] == []


def test_token_file_that_is_missing_while_its_token_is_good_changes_nothing(
    plane: ControlPlane, volume: Volume
) -> None:
    volume.fill(Token.issued(plane).text)
    with ReporterProcess(plane, *FLAGS, volume.flag()) as reporter:
        volume.empty()
        before = len(reporter.lines())
        _announce_and_heal(plane)
        assert reporter.lines("no longer leading") == []
        assert not [line for line in reporter.lines()[before:] if "token" in line]


def test_an_expired_token_stops_announcements_until_there_is_a_new_one(
    plane: ControlPlane, volume: Volume
) -> None:
    token = Token.issued(plane)
    volume.fill(token.text)
    with ReporterProcess(plane, *FLAGS, volume.flag()) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        volume.empty()
        token.revoke()
        until(
            lambda: reporter.metric("leader") == 0,
            within=RENEW_DEADLINE + PROMPT_TIMEOUT,
            what="it no longer leads",
        )
        lines = len(reporter.lines())
        components.scale(plane.client, ISTIOD, 0)
        time.sleep(QUIET)
        assert events.reasons(plane.client) == [BBR]
        assert len(reporter.lines()) - lines < 10

        begun = time.monotonic()
        volume.fill(Token.issued(plane).text)
        events.wait_for(plane.client, ISTIO, within=LONGEST_PAUSE + PROMPT_TIMEOUT)
        print(f"with a new token it announces after {time.monotonic() - begun:.2f} s")
        assert events.reporter_events(plane.client, BBR)[0].uid == first.uid
        components.scale(plane.client, ISTIOD, ISTIOD.replicas)
        _heal(plane)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert sorted(events.reasons(plane.client)) == sorted([BBR, ISTIO, READY])


# ---------------------------------------------------------------- used above


def _announce_and_heal(plane: ControlPlane) -> None:
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
    _heal(plane)
    events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
    assert events.reasons(plane.client) == [BBR, READY]


def _heal(plane: ControlPlane) -> None:
    components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
    components.until_ready(plane.client, BODY_BASED_ROUTER)
