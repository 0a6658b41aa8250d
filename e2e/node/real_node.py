"""A node of a cluster: containerd, kubelet and kube-proxy in namespaces of their own."""

import contextlib

from e2e.controlplane import ControlPlane, Json, StartFailed, nodes, until
from e2e.controlplane.processes import Process
from e2e.node import configuration, images, namespaces
from e2e.node.configuration import SOCKET
from e2e.node.namespaces import CommandFailed, Namespaces
from e2e.node.place import Place


PROXY_USER = "system:kube-proxy"
READY_WITHIN = 180


def user_of(place: Place) -> str:
    """Return the user that a kubelet is for the API server."""
    return f"system:node:{place.name}"


class RealNode:
    def __init__(self, plane: ControlPlane, place: Place, server: str) -> None:
        """*server*: the address at which the node finds the API server."""
        self.place, self.name = place, place.name
        self.folder = plane.folder / place.name
        self._plane, self._server = plane, server
        self._processes: dict[str, Process] = {}

    def start(self) -> None:
        """Start containerd with all images, then kubelet and kube-proxy. They end with the control plane."""
        self.folder.mkdir()
        namespaces.make_cgroup(self._cgroup)
        self.namespaces = Namespaces(self._plane, self.place)
        self._run("containerd", configuration.containerd(self.folder, self.place))
        until(self._containerd_answers, within=60, what="containerd answers")
        for archive in images.archives():
            self.ctr("images", "import", str(archive))
        self.start_kubelet()
        kubeconfig = self._kubeconfig(PROXY_USER)
        self._run("kube-proxy", configuration.kube_proxy(self.folder, self.place, kubeconfig))

    def kill(self) -> None:
        """End the machine: all its processes at once, and its network."""
        self.namespaces.kill()

    def start_kubelet(self, *, reserved_memory: str = "100Mi") -> None:
        """Start kubelet, which evicts pods while the machine has less than *reserved_memory* left."""
        kubeconfig = self._kubeconfig(user_of(self.place))
        command = configuration.kubelet(
            self.folder, self.place, kubeconfig, self._cgroup, reserved_memory=reserved_memory
        )
        self._run("kubelet", command)

    def stop_kubelet(self) -> None:
        """Kill kubelet. Its containers run on."""
        self._processes["kubelet"].kill()

    def kubelet_log(self) -> str:
        return self._processes["kubelet"].log.read_text()

    def ctr(self, *arguments: str) -> str:
        """Run the client of containerd, which knows containers without kubelet."""
        command = ("ctr", f"--address={SOCKET}", "--namespace=k8s.io", *arguments)
        return self.namespaces.run(*command)

    def kill_container(self, pod: Json) -> None:
        """Kill the first container of a pod, as the kernel does."""
        container = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
        self.ctr("task", "kill", "--signal=SIGKILL", container)

    def until_ready(self) -> None:
        until(self._is_ready, within=READY_WITHIN, what=f"Node {self.name} is Ready")

    def logs(self) -> str:
        return "\n".join(each.tail() for each in self._processes.values())

    @property
    def _cgroup(self) -> str:
        return namespaces.cgroup_name(self._plane.folder, self.name)

    def _run(self, name: str, command: list[str]) -> None:
        self._processes[name] = self.namespaces.start(f"{self.name}-{name}", command)

    def _kubeconfig(self, user: str) -> str:
        """Return the path of a kubeconfig that works in the namespaces of the node."""
        text = self._plane.kubeconfig(user).read_text()
        path = self.folder / f"{user.replace(':', '-')}.kubeconfig"
        path.write_text(text.replace("//127.0.0.1:", f"//{self._server}:"))
        return str(path)

    def _containerd_answers(self) -> bool:
        with contextlib.suppress(CommandFailed):
            return bool(self.ctr("version"))
        return False

    def _is_ready(self) -> bool:
        for name, process in self._processes.items():
            if not process.running():
                raise StartFailed(f"{name} ended with exit code {process.exit_code()}")
        client = self._plane.client
        return client.exists(f"/api/v1/nodes/{self.name}") and nodes.ready(client, self.name)
