"""A cluster with one real node, for as long as tests need it."""

import contextlib
import tempfile
from pathlib import Path
from typing import Self

from e2e.controlplane import ControlPlane, Json, Options, StartFailed, nodes, until
from e2e.controlplane.processes import Process
from e2e.node import configuration, images, namespaces, place
from e2e.node.configuration import NAME, SOCKET
from e2e.node.namespaces import CommandFailed, Namespaces
from e2e.node.place import Place
from tests.support.stubs.certificates import CURRENT_FORM, Form, an_authority, issued


NODE_USER, PROXY_USER = f"system:node:{NAME}", "system:kube-proxy"
NAMES = (
    *("IP:127.0.0.1", "IP:10.96.0.1"),
    *(f"DNS:{name}" for name in ("kubernetes", "kubernetes.default", "kubernetes.default.svc")),
)
"""Names by which tests and pods connect to the API server."""

READY_WITHIN = 180


class NodeCluster:
    """*form*: that of the cluster's CA. Several have room on a machine."""

    def __init__(self, form: Form = CURRENT_FORM) -> None:
        self._form = form
        self._processes: dict[str, Process] = {}
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
    def namespaces(self) -> Namespaces:
        return self._namespaces

    def ctr(self, *arguments: str) -> str:
        """Run the client of containerd, which knows containers without kubelet."""
        command = ("ctr", f"--address={SOCKET}", "--namespace=k8s.io", *arguments)
        return self._namespaces.run(*command)

    def start_kubelet(self, *, reserved_memory: str = "100Mi") -> None:
        """Start kubelet, which evicts pods while the machine has less than *reserved_memory* left."""
        kubeconfig = self._kubeconfig(NODE_USER)
        self._run(
            "kubelet",
            configuration.kubelet(
                self.folder, self.place, kubeconfig, reserved_memory=reserved_memory
            ),
        )

    def stop_kubelet(self) -> None:
        """Kill kubelet. Its containers run on."""
        self._processes["kubelet"].kill()

    def kill_container(self, pod: Json) -> None:
        """Kill the first container of a pod, as the kernel does."""
        container = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
        self.ctr("task", "kill", "--signal=SIGKILL", container)

    def until_ready(self) -> None:
        until(self._is_ready, within=READY_WITHIN, what=f"Node {NAME} is Ready")

    def logs(self) -> str:
        return "\n".join(each.tail() for each in self._processes.values())

    def _start(self) -> None:
        self.place = self._stack.enter_context(place.claimed())
        certificates = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.plane = ControlPlane(_options(certificates, self._form, self.place))
        # The folder is removed with the control plane, and its cgroup after it.
        self._stack.callback(namespaces.sweep_cgroups)
        self._stack.enter_context(self.plane)
        self.client = self.plane.client
        try:
            self._start_node()
        except Exception as err:
            raise StartFailed(f"{err}\n{self.logs()}") from err

    def _start_node(self) -> None:
        namespaces.sweep_cgroups()
        namespaces.make_cgroup(self.folder.name)
        self._namespaces = Namespaces(self.plane, self.place)
        self._run("containerd", configuration.containerd(self.folder, self.place))
        until(self._containerd_answers, within=60, what="containerd answers")
        for archive in (images.workload(), images.reporter()):
            self.ctr("images", "import", str(archive))
        self.start_kubelet()
        kubeconfig = self._kubeconfig(PROXY_USER)
        self._run("kube-proxy", configuration.kube_proxy(self.folder, self.place, kubeconfig))
        self.until_ready()

    def _run(self, name: str, command: list[str]) -> None:
        self._processes[name] = self._namespaces.start(name, command)

    def _kubeconfig(self, user: str) -> Path:
        """Return a kubeconfig that works in the namespaces of the node."""
        path = self.plane.kubeconfig(user)
        path.write_text(
            path.read_text().replace("//127.0.0.1:", f"//{self.place.machine_address}:")
        )
        return path

    def _containerd_answers(self) -> bool:
        with contextlib.suppress(CommandFailed):
            return bool(self.ctr("version"))
        return False

    def _is_ready(self) -> bool:
        for name, process in self._processes.items():
            if not process.running():
                raise StartFailed(f"{name} ended with exit code {process.exit_code()}")
        path = f"/api/v1/nodes/{NAME}"
        return self.client.exists(path) and nodes.ready(self.client, NAME)


def _options(folder: Path, form: Form, own: Place) -> Options:
    authority = an_authority(folder, "authority", form)
    certificate, key = issued(folder, authority, form, names=(f"IP:{own.machine_address}", *NAMES))
    return Options(
        kwok=False,
        ca_file=authority[0],
        users={NODE_USER: "system:nodes", PROXY_USER: ""},
        apiserver_flags=(
            "--bind-address=0.0.0.0",
            f"--advertise-address={own.machine_address}",
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
