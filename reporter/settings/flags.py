"""
Every flag there is: name, value, default, and what ``--help`` says of it.

Names and defaults of the first three groups and of the weight download are those of the Go
reporter, so that its chart's arguments work unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, unique
from typing import TypeAlias

from reporter.model.words import Emission, Source
from reporter.settings import values, zap
from reporter.settings.choices import LogFormat, ScrapeMode


PREFIX = "STATUS_REPORTER_"


@unique
class Group(Enum):
    """
    The headings of ``--help``, in its order.
    """

    WATCHED = "What is watched"
    SAID = "What is said, and when"
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
    read: Callable[[str], object]
    help: str
    group: Group

    @property
    def boolean(self) -> bool:
        """
        Whether the bare flag means true.
        """
        return self.read is values.boolean

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper().replace("-", "_")

    @property
    def attribute(self) -> str:
        """
        Its name in Settings, where a span has no unit.
        """
        return self.name.removesuffix("-seconds").replace("-", "_")


Rows: TypeAlias = tuple[tuple[str, str, Callable[[str], object], str], ...]
"""
Name, default, reader and help.
"""

_name, _names = values.optional_object_name, values.namespace

_WATCHED: Rows = (
    ("istio-namespace", "istio-system", _names, "Namespace of istiod."),
    ("istiod-deployment", "istiod", _name, "Its Deployment; revisions istiod-* count too."),
    ("gateway-auth-namespace", "llm-gateway-auth", _names, "Namespace of gateway auth."),
    ("gateway-auth-deployment", "apikey-authz", _name, "Its Deployment; empty: no check."),
    (
        "azure-authz-namespace",
        "llm-gateway-auth",
        values.optional_namespace,
        "Namespace of Azure authorization; empty: that of gateway auth.",
    ),
    ("azure-authz-deployment", "", _name, "Its Deployment; empty: no check."),
    ("bbr-namespace", "kaito-system", _names, "Namespace of body-based routing."),
    ("bbr-deployment", "body-based-router", _name, "Its Deployment; empty: no check."),
    ("kaito-namespace", "kaito-system", _names, "Namespace of KAITO's controller."),
    ("kaito-deployment", "kaito-workspace", _name, "Its Deployment; empty: no check."),
    (
        "node-provisioner-namespace",
        "",
        values.optional_namespace,
        "Namespace of the GPU node provisioner; empty: no check.",
    ),
    ("node-provisioner-name", "", _name, "Its Deployment; empty: no check."),
    ("keda-namespace", "keda", _names, "Namespace of KEDA."),
    ("keda-scaler-namespace", "keda", _names, "Namespace of keda-kaito-scaler."),
    ("keda-scaler-deployment", "keda-kaito-scaler", _name, "Its Deployment; empty: no check."),
    (
        "sources",
        "",
        values.choices(Source),
        "More detail from more kinds, with rights of their own: keda,karpenter,istio.",
    ),
)
_SAID: Rows = (
    (
        "release-namespace",
        "kube-system",
        _names,
        "Namespace of the umbrella release: clusterReady is about it.",
    ),
    ("resync-seconds", "30", values.seconds(least=1), "Judge everything anew this often."),
    (
        "startup-grace-seconds",
        "60",
        values.seconds(least=0),
        "How long young or just missing objects may start in silence; 0: not at all.",
    ),
    (
        "settle-seconds",
        "30",
        values.seconds(least=0),
        "How long a trouble must be gone before it counts as gone.",
    ),
    (
        "heartbeat-seconds",
        "300",
        values.seconds(least=10),
        "Renew the Event of a lasting trouble this often, give or take a tenth.",
    ),
    (
        "emission",
        "primary",
        values.choice(Emission),
        "Which troubles of a subject speak: primary (the highest-ranked one) or all.",
    ),
)
_ELECTION: Rows = (
    ("leader-elect", "true", values.boolean, "Let one replica of several speak."),
    (
        "leader-election-id",
        "productionstack-status-reporter",
        values.object_name,
        "Name of the Lease.",
    ),
    (
        "lease-duration-seconds",
        "15",
        values.seconds(least=1),
        "How long followers wait for a leader that is silent.",
    ),
    (
        "renew-deadline-seconds",
        "10",
        values.fraction_of_seconds,
        "After how long without a renewal a leader gives up.",
    ),
    ("retry-period-seconds", "2", values.fraction_of_seconds, "Time between two tries."),
)
_SERVING: Rows = (
    ("metrics-bind-address", ":8080", values.address, "Where /metrics is; 0: nowhere."),
    (
        "health-probe-bind-address",
        ":8081",
        values.address,
        "Where /livez, /healthz, /readyz and /status are; 0: nowhere.",
    ),
    (
        "status-bind-address",
        "",
        values.optional_address,
        "Where /status is, such as 127.0.0.1:8082; empty: with the probes; 0: nowhere.",
    ),
)
_WEIGHTS: Rows = (
    (
        "weight-download-window-seconds",
        "60",
        values.seconds(least=1),
        "A download is slow when it was slow all this time.",
    ),
    (
        "weight-download-min-mbps",
        "20",
        values.number,
        "Slow is below this, in MB (10^6) a second.",
    ),
    (
        "weight-download-metric",
        "kaito_model_download_speed_bytes_per_second",
        values.metric,
        "The metric of model pods that tells its speed.",
    ),
    (
        "weight-download-metric-port",
        "5000",
        values.whole(least=1, most=values.PORTS),
        "The port at which they tell it.",
    ),
    (
        "scrape-mode",
        "auto",
        values.choice(ScrapeMode),
        "How pods are read: direct (at their address), proxy (through the API server) or auto.",
    ),
    ("scrape-interval-seconds", "15", values.seconds(least=1), "Read them this often."),
)
_CLUSTER: Rows = (
    (
        "kubeconfig",
        "",
        values.optional_file,
        "File that names the cluster; empty: the pod's own, or the usual places.",
    ),
    (
        "catalogue-overlay",
        "",
        values.optional_file,
        "File that changes reasons of the catalogue or adds some.",
    ),
)
_LOGGING: Rows = (
    ("log-format", "text", values.choice(LogFormat), "text or json, one line per entry."),
    (
        "zap-log-level",
        "info",
        zap.level,
        "debug, info, error or panic; a number greater than 0 is debug.",
    ),
    ("zap-encoder", "console", zap.encoder, "console or json, where --log-format is not given."),
    ("zap-devel", "false", values.boolean, "Text at level debug, where nothing else is given."),
    (
        "zap-stacktrace-level",
        "",
        zap.ignored(zap.STACKTRACES),
        "Accepted for the chart's sake, without effect.",
    ),
    (
        "zap-time-encoding",
        "",
        zap.ignored(zap.TIMES),
        "Accepted for the chart's sake, without effect.",
    ),
)

FLAGS: tuple[Flag, ...] = tuple(
    Flag(*row, group)
    for group, rows in (
        (Group.WATCHED, _WATCHED),
        (Group.SAID, _SAID),
        (Group.ELECTION, _ELECTION),
        (Group.SERVING, _SERVING),
        (Group.WEIGHTS, _WEIGHTS),
        (Group.CLUSTER, _CLUSTER),
        (Group.LOGGING, _LOGGING),
    )
    for row in rows
)

NAMES: frozenset[str] = frozenset(flag.name for flag in FLAGS)
"""
What parameters of the catalogue may name.
"""
