"""The command lines of the servers."""

import json
from pathlib import Path

from e2e.controlplane import pins
from e2e.controlplane.assets import Assets
from e2e.controlplane.credentials import Credentials
from e2e.controlplane.manifests import Json
from e2e.controlplane.options import Options


_AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


def etcd(assets: Assets, folder: Path, options: Options, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        assets.program("etcd"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        *options.etcd_flags,
    ]


def kube_apiserver(
    assets: Assets, credentials: Credentials, options: Options, port: int, etcd_port: int
) -> list[str]:
    """
    Return the command of kube-apiserver. Without the grace period its shutdown waits a minute for
    watches.
    """
    return [
        assets.program("kube-apiserver"),
        "--shutdown-watch-termination-grace-period=1s",
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={credentials.certificates}",
        f"--token-auth-file={credentials.token_file}",
        "--authorization-mode=Node,RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--api-audiences=https://kubernetes.default.svc",
        f"--service-account-key-file={credentials.service_account_key}",
        f"--service-account-signing-key-file={credentials.service_account_key}",
        *_without_controllers(options),
        *_audit(credentials.folder, options),
        *options.apiserver_flags,
    ]


def kube_controller_manager(
    assets: Assets, credentials: Credentials, options: Options, config: Path
) -> list[str]:
    return [
        assets.program("kube-controller-manager"),
        *_client_flags(config),
        f"--service-account-private-key-file={credentials.service_account_key}",
        f"--root-ca-file={credentials.ca_file}",
        "--use-service-account-credentials=true",
        # It makes an account and a token for each controller first: five seconds at the 20 requests
        # per second that it allows itself.
        "--kube-api-qps=200",
        "--kube-api-burst=300",
        # kwok is paused while the API server is down, and a busy machine gives it no turn: its nodes
        # stay Ready, or every pod on them is trouble that no test has made. The longest outage of a
        # test lasts 10 minutes.
        "--node-monitor-grace-period=1h",
        *options.controller_manager_flags,
    ]


def kube_scheduler(assets: Assets, config: Path) -> list[str]:
    return [assets.program("kube-scheduler"), *_client_flags(config)]


def kwok(assets: Assets, folder: Path, config: Path) -> list[str]:
    """
    Return the command of kwok: its own stages, limited to pods without a fault, and ours for the
    others.
    """
    stages = folder / "stages.yaml"
    own = [json.dumps(_sparing_faults(each)) for each in assets.kwok_stages()]
    stages.write_text("\n---\n".join([*own, (pins.DATA / "kwok-stages.yaml").read_text()]))
    return [
        assets.program("kwok"),
        f"--kubeconfig={config}",
        "--manage-all-nodes",
        "--node-lease-duration-seconds=40",
        f"--config={stages}",
    ]


def _sparing_faults(stage: Json) -> Json:
    """
    Exclude what a test holds from a stage, and pods with an address: the API server refuses a second
    one.
    """
    if stage["spec"]["resourceRef"]["kind"] == "Node":
        held = {"key": '.metadata.annotations["fault.e2e/hold"]', "operator": "DoesNotExist"}
        stage["spec"]["selector"].setdefault("matchExpressions", []).append(held)
    if stage["metadata"]["name"] == "pod-ready":
        stage["spec"]["selector"]["matchExpressions"].extend(
            {"key": key, "operator": "DoesNotExist"}
            for key in (
                '.metadata.annotations["fault.e2e/waiting"]',
                '.metadata.annotations["fault.e2e/hold"]',
                ".status.podIP",
            )
        )
    return stage


def _client_flags(config: Path) -> list[str]:
    return [
        f"--kubeconfig={config}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--leader-elect=false",
        "--secure-port=0",
    ]


def _without_controllers(options: Options) -> list[str]:
    """
    Disable the plugin that requires a ServiceAccount of every pod: without controllers none is
    created.
    """
    return [] if options.controllers else ["--disable-admission-plugins=ServiceAccount"]


def _audit(folder: Path, options: Options) -> list[str]:
    if not options.audit:
        return []
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(_AUDIT_POLICY))
    return [
        f"--audit-policy-file={policy}",
        f"--audit-log-path={folder / 'audit.log'}",
        "--audit-log-mode=blocking",
    ]
