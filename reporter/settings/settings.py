"""
The configuration of one process, and thereby the list of its flags.

Names and defaults of the flags are those of the Go reporter where it has them, so that the arguments
of its chart work unchanged.
"""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import partial
from pathlib import Path

from reporter import PROGRAM_NAME
from reporter.kinds.api_names import GROUP, NVSENTINEL_KINDS, NVSENTINEL_RESOURCE
from reporter.model.enums import DetailSource, Emission, ScrapeScope, SuppressionMode
from reporter.settings import enums, flags, parsers
from reporter.settings.hub import HubSettings
from reporter.settings.logging import LoggingSettings


_serving = partial(flags.flag, flags.FlagGroup.SERVING, taken_by=flags.RUN_AND_HUB)
_store = partial(flags.flag, flags.FlagGroup.STORE, taken_by=flags.RUN_ALONE)
_watched = partial(flags.flag, flags.FlagGroup.WATCHED, taken_by=flags.RUN_AND_EVALUATION)
_events = partial(flags.flag, flags.FlagGroup.EVENTS, taken_by=flags.RUN_AND_EVALUATION)
_status = partial(flags.flag, flags.FlagGroup.STATUS, taken_by=flags.RUN_ALONE)
_election = partial(flags.flag, flags.FlagGroup.ELECTION, taken_by=flags.RUN_AND_HUB)
_weights = partial(flags.flag, flags.FlagGroup.WEIGHTS, taken_by=flags.RUN_AND_EVALUATION)
_cluster = partial(flags.flag, flags.FlagGroup.CLUSTER)

MAX_STORED = 100_000


def _namespace(default: str, help_: str) -> str:
    """Declare the flag with the namespace of a component."""
    return _watched(default, parsers.parse_optional_namespace, help_)


def _deployment(default: str, help_: str) -> str:
    """Declare the flag with the Deployment of a component."""
    return _watched(default, parsers.parse_optional_object_name, help_)


def parse_store_resource(text: str) -> str:
    """
    Return the name of a CRD of NVSentinel's. The program's own kind is refused: it is another backend.
    """
    resource, _, group = parsers.parse_object_name(text).partition(".")
    if resource not in NVSENTINEL_KINDS or "." not in group or group == GROUP:
        raise ValueError(
            f"must be {' or '.join(NVSENTINEL_KINDS)}, a dot and the API group of NVSentinel"
        )
    return text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Settings(HubSettings, LoggingSettings):
    """
    The values of all flags, and what is read from the environment besides.

    *log_level*: a level of the logging module. *instance*: the pod's name, or the host's outside of
    a pod. *lease_namespace*: where the Lease is. *deployment_name*: the Deployment there that runs
    the pod; empty if unknown. *flag_texts*: the text in effect of each flag. *given_flags*: the names
    of those that were set. *notes*: advice for the operator.
    """

    metrics_bind_address: parsers.BindAddress | None = _serving(
        ":8080",
        parsers.parse_address,
        "Address of /metrics; 0: not served.",
    )
    health_probe_bind_address: parsers.BindAddress | None = _serving(
        ":8081",
        parsers.parse_address,
        "Address of /livez, /healthz and /readyz; 0: not served.",
    )
    status_bind_address: parsers.BindAddress | None = _serving(
        "",
        parsers.parse_optional_address,
        "Address of /status; empty: inside the pod alone; 0: not served.",
    )
    status_authorization: enums.StatusAuthorization = _serving(
        "none",
        parsers.choice_parser(enums.StatusAuthorization),
        "Who reads /status: everyone (none), or by token and RBAC (kubernetes).",
    )
    rollup_metrics: enums.RollUpScope = _serving(
        "cluster",
        parsers.choice_parser(enums.RollUpScope),
        "Series of the status: off, cluster (19, 3 a model), namespace (15 each).",
        taken_by=flags.RUN_ALONE,
    )

    store: enums.StoreBackend = _store(
        "none",
        parsers.choice_parser(enums.StoreBackend),
        "Keep episodes as objects: none, healthevents, nvsentinel (experimental).",
    )
    store_resource: str = _store(
        NVSENTINEL_RESOURCE,
        parse_store_resource,
        "Resource that --store=nvsentinel writes, as its CRD is named.",
    )
    store_max: int = _store(
        "1000",
        parsers.integer_parser(least=1, most=MAX_STORED),
        "HealthEvents at most; those that are over make room for others.",
    )
    store_max_per_node: int = _store(
        "50",
        parsers.integer_parser(least=1, most=MAX_STORED),
        "HealthEvents at most that are bound to one node.",
    )
    store_retention: timedelta = _store(
        "86400",
        parsers.seconds_parser(least=60),
        "Delete a HealthEvent this long after the end of its episode.",
    )

    dry_run: bool = _events(
        "false",
        parsers.parse_boolean,
        "Print Events, and write nothing; no election is joined.",
    )
    emission: Emission = _events(
        "primary",
        parsers.choice_parser(Emission),
        "Announce the highest-ranked finding of a subject (primary), or all.",
    )
    suppression: SuppressionMode = _events(
        "on",
        parsers.choice_parser(SuppressionMode),
        "Suppress what follows from an upstream that is out (on), or nothing (off).",
    )
    silence_file: Path | None = _events(
        "",
        parsers.parse_optional_path,
        "File of silences, read again when it changes; it need not exist yet.",
    )
    mirror_events: bool = _events(
        "false",
        parsers.parse_boolean,
        "Write Events about InferenceSets and Gateways beside these. Needs RBAC.",
    )

    istio_namespace: str = _namespace("istio-system", "Namespace of istiod; empty: not checked.")
    istiod_deployment: str = _deployment(
        "istiod", "Deployment of istiod; revisions (istiod-*) are checked too."
    )
    gateway_auth_namespace: str = _namespace(
        "llm-gateway-auth", "Namespace of gateway auth; empty: not checked."
    )
    gateway_auth_deployment: str = _deployment(
        "apikey-authz", "Deployment of gateway auth; empty: not checked."
    )
    azure_authz_namespace: str = _namespace(
        "llm-gateway-auth", "Namespace of Azure authorization; empty: that of gateway auth."
    )
    azure_authz_deployment: str = _deployment(
        "", "Deployment of Azure authorization; empty: not checked."
    )
    bbr_namespace: str = _namespace(
        "kaito-system", "Namespace of the body-based router; empty: not checked."
    )
    bbr_deployment: str = _deployment(
        "body-based-router", "Deployment of the body-based router; empty: not checked."
    )
    kaito_namespace: str = _namespace(
        "kaito-system", "Namespace of KAITO's controller; empty: not checked."
    )
    kaito_deployment: str = _deployment(
        "kaito-workspace", "Deployment of KAITO's controller; empty: not checked."
    )
    node_provisioner_namespace: str = _namespace(
        "", "Namespace of the GPU node provisioner; empty: not checked."
    )
    node_provisioner_name: str = _deployment(
        "", "Deployment of the GPU node provisioner; empty: not checked."
    )
    keda_namespace: str = _namespace("keda", "Namespace of KEDA; empty: not checked.")
    keda_scaler_namespace: str = _namespace(
        "keda", "Namespace of keda-kaito-scaler; empty: not checked."
    )
    keda_scaler_deployment: str = _deployment(
        "keda-kaito-scaler", "Deployment of keda-kaito-scaler; empty: not checked."
    )
    components_file: Path | None = _watched(
        "",
        parsers.parse_optional_file,
        "File of lines such as kaito: NAMESPACE/DEPLOYMENT; a given flag wins.",
    )
    sources: frozenset[DetailSource] = _watched(
        "",
        parsers.choice_set_parser(DetailSource),
        "Read more: keda,karpenter,istio for detail, jobs for checks. Needs RBAC.",
    )

    release_namespace: str = _events(
        "kube-system",
        parsers.parse_namespace,
        "Namespace of the umbrella release; clusterReady refers to it.",
    )
    resync: timedelta = _events(
        "30", parsers.seconds_parser(least=1), "Evaluate everything again after this time."
    )
    second_look: bool = _events(
        "true",
        parsers.parse_boolean,
        "Read again what blocks a subject, as a watch may miss a change.",
    )
    startup_grace: timedelta = _events(
        "60",
        parsers.seconds_parser(least=0),
        "Hold what is new, missing or only starting at least so long; 0: no grace.",
    )
    settle: timedelta = _events(
        "30", parsers.seconds_parser(least=0), "A finding ends after it was clear for this long."
    )
    heartbeat: timedelta = _events(
        "300",
        parsers.seconds_parser(least=10),
        "Update the Event of a lasting finding this often, plus or minus 10 %.",
    )

    status_objects: bool = _status(
        "false",
        parsers.parse_boolean,
        "Write the status of ProductionStackStatus objects. Needs CRD and RBAC.",
    )
    package_label: str = _status(
        "",
        parsers.parse_optional_label,
        "Label of namespaces with their package's name; empty: their chart's.",
    )
    revision_label: str = _status(
        "",
        parsers.parse_optional_label,
        "Label of namespaces with their package's revision; empty: their chart's.",
    )

    leader_elect: bool = _election(
        "true",
        parsers.parse_boolean,
        "Elect one replica that writes Events.",
    )
    leader_election_id: str = _election(
        PROGRAM_NAME, parsers.parse_object_name, "Name of the Lease."
    )
    lease_duration: timedelta = _election(
        "15",
        parsers.seconds_parser(least=1),
        "Followers take over a Lease not renewed for this long.",
    )
    renew_deadline: timedelta = _election(
        "10",
        parsers.parse_fractional_seconds,
        "A leader that cannot renew gives up after this time.",
    )
    retry_period: timedelta = _election(
        "2",
        parsers.parse_fractional_seconds,
        "Time between two attempts to get or renew the Lease.",
    )

    weight_download_window: timedelta = _weights(
        "60",
        parsers.seconds_parser(least=0),
        "A download is slow if it was slow for this long; 0: not checked.",
    )
    weight_download_min_mbps: float = _weights(
        "20",
        parsers.parse_speed,
        "Slow means below this speed in MB (10^6 bytes) per second; 0: not checked.",
    )
    weight_download_metric: str = _weights(
        "kaito_model_download_speed_bytes_per_second",
        parsers.parse_any_text,
        "Metric of model pods with the download speed.",
        means_default="",
    )
    weight_download_metric_port: int = _weights(
        "5000",
        parsers.integer_parser(least=0, most=parsers.MAX_PORT),
        "Port of model pods that serves the metric.",
        means_default="0",
    )
    scrape: ScrapeScope = _weights(
        "all",
        parsers.choice_parser(ScrapeScope),
        "Read metrics of no pods (off), of those not Ready (loading), or of all.",
    )
    scrape_mode: enums.ScrapeMode = _weights(
        "auto",
        parsers.choice_parser(enums.ScrapeMode),
        "Scrape pods directly (direct), through the API server (proxy), or auto.",
    )
    scrape_interval: timedelta = _weights(
        "15", parsers.seconds_parser(least=1), "Time between two scrapes of a pod."
    )

    kubeconfig: Path | None = _cluster(
        "",
        parsers.parse_optional_file,
        "Kubeconfig file; empty: KUBECONFIG, in-cluster, then ~/.kube/config.",
        taken_by=flags.ALL_COMMANDS,
    )
    packs: tuple[str, ...] = _cluster(
        "kaito",
        parsers.parse_packs,
        "Packs: names, or folders with a /.",
        taken_by=flags.RUN_AND_EVALUATION,
    )
    catalogue_overlay: Path | None = _cluster(
        "",
        parsers.parse_optional_file,
        "File that changes or adds reasons of the catalogue; a change is loaded.",
        taken_by=flags.RUN_AND_EVALUATION,
    )

    log_level: int
    instance: str
    lease_namespace: str
    deployment_name: str
    flag_texts: Mapping[str, str]
    given_flags: frozenset[str]
    notes: tuple[str, ...] = ()


FLAGS: tuple[flags.Flag, ...] = tuple(
    found for each in fields(Settings) if (found := flags.flag_of_field(each)) is not None
)

FLAG_NAMES: frozenset[str] = frozenset(each.name for each in FLAGS)
"""The names that parameters of the catalogue may use."""
