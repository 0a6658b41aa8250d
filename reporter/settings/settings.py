"""
The configuration of one process.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from reporter.model.enums import DetailSource, Emission
from reporter.settings.enums import LogFormat, ScrapeMode
from reporter.settings.parsers import BindAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    What each field means, ``--help`` says under the flag of its name.

    *log_level* is one of the logging module's. *instance*: name of the pod, or of the host where
    there is none. *lease_namespace*: where the Lease is. *deployment*: name of the Deployment that
    runs the pod, there too; empty where there is none. *flags*: the text of every flag in effect,
    *given*: names of those that were set. *notes*: what an operator should set right.
    """

    istio_namespace: str
    istiod_deployment: str
    gateway_auth_namespace: str
    gateway_auth_deployment: str
    azure_authz_namespace: str
    azure_authz_deployment: str
    bbr_namespace: str
    bbr_deployment: str
    kaito_namespace: str
    kaito_deployment: str
    node_provisioner_namespace: str
    node_provisioner_name: str
    keda_namespace: str
    keda_scaler_namespace: str
    keda_scaler_deployment: str
    sources: frozenset[DetailSource]

    release_namespace: str
    resync: timedelta
    startup_grace: timedelta
    settle: timedelta
    heartbeat: timedelta
    emission: Emission

    leader_elect: bool
    leader_election_id: str
    lease_duration: timedelta
    renew_deadline: timedelta
    retry_period: timedelta

    metrics_bind_address: BindAddress | None
    health_probe_bind_address: BindAddress | None
    status_bind_address: BindAddress | None

    weight_download_window: timedelta
    weight_download_min_mbps: float
    weight_download_metric: str
    weight_download_metric_port: int
    scrape_mode: ScrapeMode
    scrape_interval: timedelta

    kubeconfig: Path | None
    catalogue_overlay: Path | None

    log_format: LogFormat
    log_level: int

    instance: str
    lease_namespace: str
    deployment_name: str
    flag_texts: Mapping[str, str]
    given_flags: frozenset[str]
    notes: tuple[str, ...] = ()

    def flag_text(self, name: str) -> str:
        """
        The text of any flag in effect. Raises KeyError for one that there is not.
        """
        return self.flag_texts[name]
