"""
A real control plane for tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler
and kwok in the kubelet's place, as processes of this machine.
"""

from e2e.controlplane.client import ApiError, Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.options import Options
from e2e.controlplane.plane import ControlPlane
from e2e.controlplane.servers import StartFailed
from e2e.controlplane.waiting import WaitTimeout, until, until_quiet


__all__ = [
    "ApiError",
    "Client",
    "ControlPlane",
    "Json",
    "Options",
    "StartFailed",
    "WaitTimeout",
    "until",
    "until_quiet",
]
