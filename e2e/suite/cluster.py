"""The cluster under test, known only by a kubeconfig."""

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
The label of kube-system in clusters made for this suite. KAITO and Istio do not run there; tests
write their status.
"""

IDLE = "import signal; signal.signal(signal.SIGTERM, lambda *_: exit()); signal.pause()"


@dataclass(frozen=True)
class Timeouts:
    """
    The timeouts of a test, in seconds.

    A recovery is announced after *settle*, any Event comes within *announce_timeout*, and after a
    *quiet_period* without an Event no heartbeat is active.
    """

    settle: float
    announce_timeout: float
    quiet_period: float

    @classmethod
    def from_flags(cls, flags: dict[str, str], quiet: float) -> Self:
        """
        Return the timeouts for reporters with *flags*.

        Raise pytest.UsageError if *quiet* is shorter than their heartbeat.
        """
        grace = float(flags.get("startup-grace-seconds", "60"))
        settle = float(flags.get("settle-seconds", "30"))
        heartbeat = float(flags.get("heartbeat-seconds", "300"))
        if quiet < heartbeat * 1.1 + 1:
            raise pytest.UsageError(
                f"The reporters repeat Events every {heartbeat:g} s, so a quiet period of {quiet:g} s"
                " proves nothing: helm upgrade … --reuse-values --set 'extraArgs={--heartbeat-seconds=60}'"
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
        timeouts = Timeouts.from_flags(self.reporters.flags(), self.quiet_period)
        return (
            timeouts
            if self.announce_timeout is None
            else replace(timeouts, announce_timeout=self.announce_timeout)
        )

    @cached_property
    def is_dedicated(self) -> bool:
        """Return whether the cluster was made for this suite."""
        namespace = self.client.get("/api/v1/namespaces/kube-system")
        return DEDICATED_LABEL in namespace["metadata"].get("labels", {})

    @cached_property
    def has_no_kubelets(self) -> bool:
        """Return whether pods are mere objects without containers."""
        nodes = self.client.list("/api/v1/nodes")
        return all("kwok" in node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes)

    def kubectl(self, *arguments: str) -> str:
        """Return the output of kubectl. Raise CalledProcessError if it fails."""
        command = [kubectl(), f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def component(self, default: components.StackComponent) -> components.StackComponent:
        """
        Return a component with the namespace and name that the reporters use; empty names if none.
        """
        flags = {"": default.name, **DEFAULT_FLAGS, **self.reporters.flags()}
        found = next(
            each
            for each in components.evaluated_components().values()
            if each.component.name == default.name
        )
        return components.StackComponent(
            flags[found.namespace_flag], flags[found.name_flag], default.labels, default.replicas
        )

    def unhealthy_components(self) -> Iterable[str]:
        """Yield what is unhealthy in the stack before the tests."""
        for default in components.evaluated_components().values():
            component = self.component(default.component)
            text = f"Deployment {component.namespace}/{component.name}"
            if not component.name:
                continue
            if not self.client.exists(components.path(component)):
                yield f"{text} does not exist"
            elif not components.is_ready(components.deployment(self.client, component)):
                yield f"{text} is not Ready"

    def as_idle_workload(self, manifest: Json) -> Json:
        """
        Let the containers of a Deployment or Pod do nothing, on any node.

        Where containers run they use the reporters' image, as the cluster can pull that one.
        """
        spec = manifest["spec"].get("template", manifest)["spec"]
        spec.pop("nodeName", None)
        if self.has_no_kubelets:
            return manifest
        for container in spec["containers"]:
            container |= {"image": self.reporters.image, "command": ["python3", "-c", IDLE]}
        return manifest


def kubectl() -> str:
    try:
        return assets.find().program("kubectl")
    except assets.AssetsMissing:
        found = shutil.which("kubectl")
    if found is None:
        raise pytest.UsageError("kubectl is not installed, but the tests need it")
    return found
