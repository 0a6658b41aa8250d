"""The configuration of containerd, CNI, kubelet and kube-proxy."""

import json
from pathlib import Path

from e2e.controlplane import Json, assets
from e2e.node import dns, images, requirements
from e2e.node.place import Place


_CONTAINERD = """\
version = 2
root = "{folder}/containerd"
state = "/run/containerd-of-node"
[grpc]
address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
# Without CAP_SYS_RESOURCE, as in many virtual machines, a lower oom_score_adj is refused.
restrict_oom_score_adj = true
# A profile would stay in the machine's kernel, and that of runc on Ubuntu lets no pod be ended.
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{plugins}"
conf_dir = "{folder}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
"""
SOCKET = "/run/containerd-of-node.sock"


def containerd(folder: Path, place: Place) -> list[str]:
    """Write the configuration of containerd and CNI, and return the command."""
    path = folder / "containerd.toml"
    plugins = requirements.plugin_folder()
    given = {"folder": folder, "socket": SOCKET, "pause": images.WORKLOAD, "plugins": plugins}
    path.write_text(_CONTAINERD.format(**given))
    (folder / "cni").mkdir()
    (folder / "cni" / "10-bridge.conflist").write_text(json.dumps(_network(place)))
    return [requirements.program("containerd"), f"--config={path}"]


def _network(place: Place) -> Json:
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": place.pods}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": addresses}
    # A pod that asks a Service it is itself behind gets its own answer.
    bridge["hairpinMode"] = True
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, ports]}


def kubelet(
    folder: Path, place: Place, kubeconfig: str, cgroup: str, *, reserved_memory: str
) -> list[str]:
    """
    Write the configuration of kubelet, and return the command. *cgroup*: that of all pods.

    Pods are evicted while the machine has less than *reserved_memory* left.
    """
    path = folder / "kubelet.json"
    path.write_text(json.dumps(_kubelet_configuration(folder, cgroup, reserved_memory)))
    return [
        assets.program("kubelet"),
        f"--config={path}",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={place.name}",
        f"--node-ip={place.address}",
        f"--root-dir={folder / 'kubelet'}",
        "--v=2",
    ]


def _kubelet_configuration(folder: Path, cgroup: str, reserved_memory: str) -> Json:
    resolver = folder / "resolv.conf"
    resolver.write_text("")
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "clusterDNS": [dns.ADDRESS],
        "clusterDomain": dns.DOMAIN,
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "enforceNodeAllocatable": [],
        "evictionHard": {
            "memory.available": reserved_memory,
            "nodefs.available": "1%",
            "imagefs.available": "1%",
        },
        "evictionPressureTransitionPeriod": "20s",
        "failCgroupV1": False,
        "failSwapOn": False,
        "healthzPort": 0,
        "imageMinimumGCAge": "24h",
        "resolvConf": str(resolver),
    }


def kube_proxy(folder: Path, place: Place, kubeconfig: str) -> list[str]:
    """Write the configuration of kube-proxy, and return the command."""
    path = folder / "kube-proxy.json"
    content = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig},
        "clusterCIDR": place.pods,
        # Tables of a network namespace cannot be resized from within.
        "conntrack": {"maxPerCore": 0},
        "hostnameOverride": place.name,
        # A pod behind the same bridge would answer from its own address, unless the kernel filters bridges.
        "iptables": {"masqueradeAll": True},
        "mode": "iptables",
    }
    path.write_text(json.dumps(content))
    return [assets.program("kube-proxy"), f"--config={path}"]
