"""
A cluster with real nodes on this machine: kubelet, containerd, runc, CNI and kube-proxy on the control plane of
the other tests.
"""

from e2e.node.cluster import NodeCluster


__all__ = ["NodeCluster"]
