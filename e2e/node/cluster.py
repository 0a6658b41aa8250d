"""A cluster with real nodes, for as long as tests need it."""

import contextlib
import tempfile
from pathlib import Path
from typing import Self

from e2e.controlplane import ControlPlane, Options, StartFailed
from e2e.node import dns, namespaces, place
from e2e.node.place import Place
from e2e.node.real_node import PROXY_USER, RealNode, user_of
from tests.support.stubs.certificates import CURRENT_FORM, Form, an_authority, issued


NAMES = (
    *("IP:127.0.0.1", "IP:10.96.0.1"),
    *(f"DNS:{name}" for name in ("kubernetes", "kubernetes.default", "kubernetes.default.svc")),
)
"""Names by which tests and pods connect to the API server."""


class NodeCluster:
    """*form*: that of the cluster's CA. *nodes*: how many. Several have room on a machine."""

    def __init__(self, form: Form = CURRENT_FORM, *, nodes: int = 1) -> None:
        self._form, self._count = form, nodes
        self.nodes: list[RealNode] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with self._stack:
            self._start()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def folder(self) -> Path:
        """The folder with the logs of all processes. The end of the cluster removes it."""
        return self.plane.folder

    @property
    def node(self) -> RealNode:
        """The first node. The API server has its address from this one, so none works without it."""
        return self.nodes[0]

    def _start(self) -> None:
        places = [self._stack.enter_context(place.claimed()) for _ in range(self._count)]
        certificates = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.plane = ControlPlane(_options(certificates, self._form, places))
        # The folder is removed with the control plane, and its cgroups after it.
        self._stack.callback(namespaces.sweep_cgroups)
        self._stack.enter_context(self.plane)
        self.client = self.plane.client
        namespaces.sweep_cgroups()
        self.nodes = [RealNode(self.plane, each, places[0].machine_address) for each in places]
        try:
            for each in self.nodes:
                each.start()
            for each in self.nodes:
                each.until_ready()
            dns.install(self.client, nodes=self._count)
        except Exception as err:
            logs = "\n".join(each.logs() for each in self.nodes)
            raise StartFailed(f"{err}\n{logs}") from err


def _options(folder: Path, form: Form, places: list[Place]) -> Options:
    authority, address = an_authority(folder, "authority", form), places[0].machine_address
    certificate, key = issued(folder, authority, form, names=(f"IP:{address}", *NAMES))
    return Options(
        kwok=False,
        ca_file=authority[0],
        users={PROXY_USER: "", **{user_of(each): "system:nodes" for each in places}},
        apiserver_flags=(
            "--bind-address=0.0.0.0",
            f"--advertise-address={address}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            "--allow-privileged",
            "--enable-admission-plugins=NodeRestriction",
            "--kubelet-preferred-address-types=InternalIP",
            # A token ends when it says so, not a year later.
            "--service-account-extend-token-expiration=false",
            # Pods leave a node that is lost after this many seconds instead of five minutes.
            "--default-not-ready-toleration-seconds=60",
            "--default-unreachable-toleration-seconds=60",
        ),
        # The default: kwok alone needs longer.
        controller_manager_flags=("--node-monitor-grace-period=50s",),
    )
