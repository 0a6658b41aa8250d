"""
Every flag there is: name, value, default, and what ``--help`` says of it.

Names and defaults of the first three groups and of the weight download are those of the Go
reporter, so that its chart's arguments work unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, unique
from typing import TypeAlias

from reporter.model.enums import DetailSource, Emission
from reporter.settings import parsers, zap
from reporter.settings.enums import LogFormat, ScrapeMode


VARIABLE_PREFIX = "STATUS_REPORTER_"


@unique
class FlagGroup(Enum):
    """
    The headings of ``--help``, in its order.
    """

    WATCHED = "What is watched"
    EVENTS = "What is said, and when"
    ELECTION = "Leader election"
    SERVING = "Serving"
    WEIGHTS = "Weight download and scraping"
    CLUSTER = "Cluster and catalogue"
    LOGGING = "Logging"


@dataclass(frozen=True, slots=True)
class Flag:
    """
    *read* raises ValueError with what the value must be.
    """

    name: str
    default: str
    parse: Callable[[str], object]
    help: str
    group: FlagGroup

    @property
    def is_boolean(self) -> bool:
        """
        Whether the bare flag means true.
        """
        return self.parse is parsers.parse_boolean

    @property
    def variable(self) -> str:
        return VARIABLE_PREFIX + self.name.upper().replace("-", "_")

    @property
    def settings_field(self) -> str:
        """
        Its name in Settings, where a span has no unit.
        """
        return self.name.removesuffix("-seconds").replace("-", "_")


FlagRows: TypeAlias = tuple[tuple[str, str, Callable[[str], object], str], ...]
"""
Name, default, reader and help.
"""

_optional_name, _namespace = parsers.parse_optional_object_name, parsers.parse_namespace

_WATCHED: FlagRows = (
    ("istio-namespace", "istio-system", _namespace, "Namespace of istiod."),
    (
        "istiod-deployment",
        "istiod",
        _optional_name,
        "Its Deployment; revisions istiod-* count too.",
    ),
    ("gateway-auth-namespace", "llm-gateway-auth", _namespace, "Namespace of gateway auth."),
    (
        "gateway-auth-deployment",
        "apikey-authz",
        _optional_name,
        "Its Deployment; empty: no check.",
    ),
    (
        "azure-authz-namespace",
        "llm-gateway-auth",
        parsers.parse_optional_namespace,
        "Namespace of Azure authorization; empty: that of gateway auth.",
    ),
    ("azure-authz-deployment", "", _optional_name, "Its Deployment; empty: no check."),
    ("bbr-namespace", "kaito-system", _namespace, "Namespace of body-based routing."),
    ("bbr-deployment", "body-based-router", _optional_name, "Its Deployment; empty: no check."),
    ("kaito-namespace", "kaito-system", _namespace, "Namespace of KAITO's controller."),
    ("kaito-deployment", "kaito-workspace", _optional_name, "Its Deployment; empty: no check."),
    (
        "node-provisioner-namespace",
        "",
        parsers.parse_optional_namespace,
        "Namespace of the GPU node provisioner; empty: no check.",
    ),
    ("node-provisioner-name", "", _optional_name, "Its Deployment; empty: no check."),
    ("keda-namespace", "keda", _namespace, "Namespace of KEDA."),
    ("keda-scaler-namespace", "keda", _namespace, "Namespace of keda-kaito-scaler."),
    (
        "keda-scaler-deployment",
        "keda-kaito-scaler",
        _optional_name,
        "Its Deployment; empty: no check.",
    ),
    (
        "sources",
        "",
        parsers.choice_set_parser(DetailSource),
        "More detail from more kinds, with rights of their own: keda,karpenter,istio.",
    ),
)
_EVENTS: FlagRows = (
    (
        "release-namespace",
        "kube-system",
        _namespace,
        "Namespace of the umbrella release: clusterReady is about it.",
    ),
    ("resync-seconds", "30", parsers.seconds_parser(least=1), "Judge everything anew this often."),
    (
        "startup-grace-seconds",
        "60",
        parsers.seconds_parser(least=0),
        "How long young or just missing objects may start in silence; 0: not at all.",
    ),
    (
        "settle-seconds",
        "30",
        parsers.seconds_parser(least=0),
        "How long a trouble must be gone before it counts as gone.",
    ),
    (
        "heartbeat-seconds",
        "300",
        parsers.seconds_parser(least=10),
        "Renew the Event of a lasting trouble this often, give or take a tenth.",
    ),
    (
        "emission",
        "primary",
        parsers.choice_parser(Emission),
        "Which troubles of a subject speak: primary (the highest-ranked one) or all.",
    ),
)
_ELECTION: FlagRows = (
    ("leader-elect", "true", parsers.parse_boolean, "Let one replica of several speak."),
    (
        "leader-election-id",
        "productionstack-status-reporter",
        parsers.parse_object_name,
        "Name of the Lease.",
    ),
    (
        "lease-duration-seconds",
        "15",
        parsers.seconds_parser(least=1),
        "How long followers wait for a leader that is silent.",
    ),
    (
        "renew-deadline-seconds",
        "10",
        parsers.parse_fractional_seconds,
        "After how long without a renewal a leader gives up.",
    ),
    ("retry-period-seconds", "2", parsers.parse_fractional_seconds, "Time between two tries."),
)
_SERVING: FlagRows = (
    ("metrics-bind-address", ":8080", parsers.parse_address, "Where /metrics is; 0: nowhere."),
    (
        "health-probe-bind-address",
        ":8081",
        parsers.parse_address,
        "Where /livez, /healthz, /readyz and /status are; 0: nowhere.",
    ),
    (
        "status-bind-address",
        "",
        parsers.parse_optional_address,
        "Where /status is, such as 127.0.0.1:8082; empty: with the probes; 0: nowhere.",
    ),
)
_WEIGHTS: FlagRows = (
    (
        "weight-download-window-seconds",
        "60",
        parsers.seconds_parser(least=1),
        "A download is slow when it was slow all this time.",
    ),
    (
        "weight-download-min-mbps",
        "20",
        parsers.parse_number,
        "Slow is below this, in MB (10^6) a second.",
    ),
    (
        "weight-download-metric",
        "kaito_model_download_speed_bytes_per_second",
        parsers.parse_metric_name,
        "The metric of model pods that tells its speed.",
    ),
    (
        "weight-download-metric-port",
        "5000",
        parsers.integer_parser(least=1, most=parsers.MAX_PORT),
        "The port at which they tell it.",
    ),
    (
        "scrape-mode",
        "auto",
        parsers.choice_parser(ScrapeMode),
        "How pods are read: direct (at their address), proxy (through the API server) or auto.",
    ),
    ("scrape-interval-seconds", "15", parsers.seconds_parser(least=1), "Read them this often."),
)
_CLUSTER: FlagRows = (
    (
        "kubeconfig",
        "",
        parsers.parse_optional_file,
        "File that names the cluster; empty: the pod's own, or the usual places.",
    ),
    (
        "catalogue-overlay",
        "",
        parsers.parse_optional_file,
        "File that changes reasons of the catalogue or adds some.",
    ),
)
_LOGGING: FlagRows = (
    ("log-format", "text", parsers.choice_parser(LogFormat), "text or json, one line per entry."),
    (
        "zap-log-level",
        "info",
        zap.parse_level,
        "debug, info, error or panic; a number greater than 0 is debug.",
    ),
    (
        "zap-encoder",
        "console",
        zap.parse_encoder,
        "console or json, where --log-format is not given.",
    ),
    (
        "zap-devel",
        "false",
        parsers.parse_boolean,
        "Text at level debug, where nothing else is given.",
    ),
    (
        "zap-stacktrace-level",
        "",
        zap.ignored_parser(zap.STACKTRACE_LEVELS),
        "Accepted for the chart's sake, without effect.",
    ),
    (
        "zap-time-encoding",
        "",
        zap.ignored_parser(zap.TIME_ENCODINGS),
        "Accepted for the chart's sake, without effect.",
    ),
)

FLAGS: tuple[Flag, ...] = tuple(
    Flag(*row, group)
    for group, rows in (
        (FlagGroup.WATCHED, _WATCHED),
        (FlagGroup.EVENTS, _EVENTS),
        (FlagGroup.ELECTION, _ELECTION),
        (FlagGroup.SERVING, _SERVING),
        (FlagGroup.WEIGHTS, _WEIGHTS),
        (FlagGroup.CLUSTER, _CLUSTER),
        (FlagGroup.LOGGING, _LOGGING),
    )
    for row in rows
)

FLAG_NAMES: frozenset[str] = frozenset(flag.name for flag in FLAGS)
"""
What parameters of the catalogue may name.
"""
