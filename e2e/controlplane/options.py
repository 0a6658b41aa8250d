from dataclasses import dataclass


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
    audit: write every request to the log that `ControlPlane.audit()` reads.
    """

    controllers: bool = True
    scheduler: bool = True
    kwok: bool = True
    unread_crds: bool = False
    without_crds: frozenset[str] = frozenset()
    apiserver_flags: tuple[str, ...] = ()
    etcd_flags: tuple[str, ...] = ()
    audit: bool = False
