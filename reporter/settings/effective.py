"""
Replace flag values that stand for others, and note what the operator should know about them.

The earlier reporter and its chart took values that switch a check off without a word. They are taken
here as well, each with a note.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from reporter.settings.arguments import FLAGS_BY_NAME
from reporter.settings.flags import Flag
from reporter.settings.parsers import METRIC_NAME, BindAddress
from reporter.settings.settings import FLAGS


STATUS_ADDRESS = BindAddress("127.0.0.1", 8082)
"""
The address of the status page inside a pod; `kubectl port-forward` and `kubectl exec` reach it.
"""

FREQUENT_HEARTBEAT = timedelta(seconds=60)
_COMPONENTS = {
    "istio-namespace": ("istiod-deployment", "istiod"),
    "gateway-auth-namespace": ("gateway-auth-deployment", "gateway auth"),
    "azure-authz-namespace": ("azure-authz-deployment", "Azure authorization"),
    "bbr-namespace": ("bbr-deployment", "the body-based router"),
    "kaito-namespace": ("kaito-deployment", "KAITO's controller"),
    "keda-namespace": ("", "KEDA"),
    "keda-scaler-namespace": ("keda-scaler-deployment", "keda-kaito-scaler"),
}
"""
The flag of each component's Deployment, and its name in a note, by the flag of its namespace.
"""


class ResolvedFlagValues:
    """The values of flags by field of Settings, and their texts by flag; both are changed in place."""

    def __init__(self, values: dict[str, Any], texts: dict[str, str]) -> None:
        self._values, self._texts = values, texts

    def fill_in(self) -> Iterator[str]:
        """
        Replace values that stand for others, as the earlier reporter took them; yield notes on them.
        """
        yield from self._fill_in_status_address()
        if not self._texts["azure-authz-namespace"]:
            self._set("azure-authz-namespace", self._texts["gateway-auth-namespace"])
        yield from self._switch_off_half_a_node_provisioner()
        yield from self._switch_off_components()
        yield from self._fill_in_defaults()
        yield from self._switch_off_downloads()
        yield from self._heartbeat_notes()

    def _set(self, flag: str, text: str) -> None:
        self._texts[flag] = self._values[flag.replace("-", "_")] = text

    def _fill_in_status_address(self) -> Iterator[str]:
        """
        Serve the status page where only this pod or machine connects, unless a flag says where.
        """
        if self._texts["status-bind-address"]:
            return
        health, metrics = (
            self._values[f"{each}_bind_address"] for each in ("health_probe", "metrics")
        )
        address: BindAddress | None = STATUS_ADDRESS
        if health is None or health.is_loopback:
            address = health
        elif STATUS_ADDRESS.port in {health.port, metrics.port if metrics else 0}:
            address = None
            yield f"/status is not served: port {STATUS_ADDRESS.port} is taken; set --status-bind-address"
        self._values["status_bind_address"] = address

    def _switch_off_half_a_node_provisioner(self) -> Iterator[str]:
        flags = ("node-provisioner-name", "node-provisioner-namespace")
        name, namespace = (self._texts[flag] for flag in flags)
        if bool(name) != bool(namespace):
            given, missing = flags if name else reversed(flags)
            self._set("node-provisioner-name", "")
            yield (
                f"--{given} is set and --{missing} is empty:"
                " the node provisioner is not checked; set both"
            )

    def _switch_off_components(self) -> Iterator[str]:
        """
        Switch off the components whose namespace or Deployment is empty.

        A cluster may have gateway auth, Azure authorization or both, so only the lack of both is
        noted.
        """
        no_note = {"azure-authz-namespace"}
        if self._texts["azure-authz-deployment"]:
            no_note.add("gateway-auth-namespace")
        for namespace, (deployment, component) in _COMPONENTS.items():
            name = self._texts[deployment] if deployment else component
            if name and not self._texts[namespace]:
                empty = namespace
            elif not name and namespace not in no_note:
                empty = deployment
            else:
                continue
            if deployment:
                self._set(deployment, "")
            yield f"--{empty} is empty: {component} is not checked"

    def _fill_in_defaults(self) -> Iterator[str]:
        """Replace the texts that stand for a default."""
        for flag in FLAGS:
            if self._texts[flag.name] == flag.means_default:
                self._set_default(flag)
                yield f"--{flag.name}={flag.means_default} means the default: {flag.default}"

    def _switch_off_downloads(self) -> Iterator[str]:
        """Switch the check off where no download could be slow in the earlier reporter."""
        metric = self._texts["weight-download-metric"]
        if not re.fullmatch(METRIC_NAME, metric):
            why = f"--weight-download-metric={metric} is not the name of a metric"
        elif not self._values["weight_download_window"]:
            why = "--weight-download-window-seconds=0"
            self._set_default(FLAGS_BY_NAME["weight-download-window-seconds"])
        elif not self._values["weight_download_min_mbps"]:
            why = "--weight-download-min-mbps=0"
        else:
            return
        self._texts["weight-download-min-mbps"] = "0"
        self._values["weight_download_min_mbps"] = 0.0
        yield f"{why}: weight downloads are not checked"

    def _set_default(self, flag: Flag) -> None:
        self._texts[flag.name] = flag.default
        self._values[flag.settings_field] = flag.parse(flag.default)

    def _heartbeat_notes(self) -> Iterator[str]:
        heartbeat = self._values["heartbeat"]
        if heartbeat < FREQUENT_HEARTBEAT:
            yield (
                f"--heartbeat-seconds={heartbeat.total_seconds():g} writes each Event more than"
                " once a minute; 60 or more spares the API server"
            )
