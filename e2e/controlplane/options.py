from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """
    The parts of a control plane. Without *controllers* Deployments have no pods and namespaces are
    never deleted; without *kwok* no pod ever runs.

    unread_crds: also the CRDs of kinds that the reporter never reads, as a cluster has them. They are
    most of the processor time of a start.
    without_crds: names (`httproutes.gateway.networking.k8s.io`) or groups (`cilium.io`).
    apiserver_flags: given to kube-apiserver unchanged, after our own, so that they win.
    etcd_flags: given to etcd likewise.
    controller_manager_flags: given to kube-controller-manager likewise.
    users: more users that authenticate by a token, with the group of each.
    ca_file: the CA of the certificate that *apiserver_flags* give the API server; without, it makes one
    itself.
    audit: write every request to the log that `ControlPlane.audit()` reads.
    """

    controllers: bool = True
    scheduler: bool = True
    kwok: bool = True
    unread_crds: bool = False
    without_crds: frozenset[str] = frozenset()
    apiserver_flags: tuple[str, ...] = ()
    etcd_flags: tuple[str, ...] = ()
    controller_manager_flags: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=dict)
    ca_file: Path | None = None
    audit: bool = False
