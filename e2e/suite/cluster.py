"""
A cluster of which nothing is known but a kubeconfig.
"""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import pytest

from e2e.controlplane import Client, Json, assets
from e2e.suite import kubeconfig
from e2e.suite.reporters import ReporterPods
from e2e.support.production_stack import components
from tests.support.catalogue_fixture import DEFAULT_FLAGS


DEDICATED_LABEL = "status-reporter.e2e/own"
"""
The label of kube-system in clusters made for this suite: nobody else works there, and what KAITO
and Istio would say is said by the tests.
"""

IDLE = "import signal; signal.signal(signal.SIGTERM, lambda *_: exit()); signal.pause()"
_PLACES = (
    (components.ISTIOD, "istio-namespace", "istiod-deployment"),
    (components.APIKEY_AUTHZ, "gateway-auth-namespace", "gateway-auth-deployment"),
    (components.BODY_BASED_ROUTER, "bbr-namespace", "bbr-deployment"),
    (components.KAITO_WORKSPACE, "kaito-namespace", "kaito-deployment"),
    (components.NODE_PROVISIONER, "node-provisioner-namespace", "node-provisioner-name"),
    (components.KEDA_OPERATOR, "keda-namespace", ""),
    (components.KEDA_KAITO_SCALER, "keda-scaler-namespace", "keda-scaler-deployment"),
)
"""
What is checked first, with the flags of its namespace and its name.
"""


@dataclass(frozen=True)
class Timeouts:
    """
    Seconds. *settle*: before a recovery is told. *within*: in which what is due is said. *quiet*:
    after which nothing more can come, as a heartbeat would have come in it.
    """

    settle: float
    announce_timeout: float
    quiet_period: float

    @classmethod
    def from_flags(cls, flags: dict[str, str], quiet: float) -> Self:
        """
        For reporters with these *flags*. Raises pytest.UsageError when *quiet* would mean nothing.
        """
        grace = float(flags.get("startup-grace-seconds", "60"))
        settle = float(flags.get("settle-seconds", "30"))
        heartbeat = float(flags.get("heartbeat-seconds", "300"))
        if quiet < heartbeat * 1.1 + 1:
            raise pytest.UsageError(
                f"The reporters repeat themselves every {heartbeat:g} s, so {quiet:g} s of silence"
                " mean nothing: helm upgrade … --reuse-values --set heartbeatSeconds=60"
            )
        return cls(
            settle, announce_timeout=60 + 2 * heartbeat + 3 * (grace + settle), quiet_period=quiet
        )


@dataclass(frozen=True)
class ClusterUnderTest:
    kubeconfig: Path
    quiet_period: float
    announce_timeout: float | None = None

    @cached_property
    def client(self) -> Client:
        return kubeconfig.client(self.kubeconfig)

    @property
    def reporters(self) -> ReporterPods:
        return ReporterPods(self.client)

    @cached_property
    def timeouts(self) -> Timeouts:
        usual = Timeouts.from_flags(self.reporters.flags(), self.quiet_period)
        return (
            usual
            if self.announce_timeout is None
            else replace(usual, announce_timeout=self.announce_timeout)
        )

    @cached_property
    def is_dedicated(self) -> bool:
        """
        Whether it was made for this suite.
        """
        found = self.client.get("/api/v1/namespaces/kube-system")
        return DEDICATED_LABEL in found["metadata"].get("labels", {})

    @cached_property
    def has_no_kubelets(self) -> bool:
        """
        Whether its pods are objects alone, with no container behind them.
        """
        nodes = self.client.list("/api/v1/nodes")
        return all("kwok" in each["status"]["nodeInfo"]["kubeletVersion"] for each in nodes)

    def kubectl(self, *arguments: str) -> str:
        """
        What it printed. Raises CalledProcessError.
        """
        command = [kubectl(), f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def component(self, usual: components.StackComponent) -> components.StackComponent:
        """
        Where the reporters look for it; without a name if they do not.
        """
        flags = {"": usual.name, **DEFAULT_FLAGS, **self.reporters.flags()}
        namespace, name = next(flags for each, *flags in _PLACES if each.name == usual.name)
        return components.StackComponent(
            flags[namespace], flags[name], usual.labels, usual.replicas
        )

    def unhealthy_components(self) -> Iterable[str]:
        """
        What is not healthy of the stack, before anything is broken.
        """
        for component in (self.component(usual) for usual, *_ in _PLACES):
            where = f"Deployment {component.namespace}/{component.name}"
            if not component.name:
                continue
            if not self.client.exists(components.path(component)):
                yield f"{where} is not there"
            elif not components.is_ready(components.deployment(self.client, component)):
                yield f"{where} is not Ready"

    def as_idle_workload(self, manifest: Json) -> Json:
        """
        A Deployment or Pod of a program that does nothing, on any node: where containers run, it
        is the image that runs there already.
        """
        spec = manifest["spec"].get("template", manifest)["spec"]
        spec.pop("nodeName", None)
        if self.has_no_kubelets:
            return manifest
        for each in spec["containers"]:
            each |= {"image": self.reporters.image, "command": ["python3", "-c", IDLE]}
        return manifest


def kubectl() -> str:
    try:
        return assets.find().program("kubectl")
    except assets.AssetsMissing:
        found = shutil.which("kubectl")
    if found is None:
        raise pytest.UsageError("kubectl is needed, and is not there")
    return found
