"""The flags of the HTTP servers."""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

from dataclasses import dataclass
from functools import partial

from reporter.settings import parsers
from reporter.settings.enums import RollUpScope, StatusAuthorization
from reporter.settings.flags import RUN_ALONE, RUN_AND_HUB, FlagGroup, flag


_serving = partial(flag, FlagGroup.SERVING)


@dataclass(frozen=True, kw_only=True)  # a class cannot have two bases with slots
class ServingSettings:
    """
    The settings of the HTTP servers: their addresses, the readers of /status, and its metrics.
    """

    metrics_bind_address: parsers.BindAddress | None = _serving(
        ":8080", parsers.parse_address, "Address of /metrics; 0: not served.", taken_by=RUN_AND_HUB
    )
    health_probe_bind_address: parsers.BindAddress | None = _serving(
        ":8081",
        parsers.parse_address,
        "Address of /livez, /healthz and /readyz; 0: not served.",
        taken_by=RUN_AND_HUB,
    )
    status_bind_address: parsers.BindAddress | None = _serving(
        "",
        parsers.parse_optional_address,
        "Address of /status; empty: inside the pod alone; 0: not served.",
        taken_by=RUN_AND_HUB,
    )
    status_authorization: StatusAuthorization = _serving(
        "none",
        parsers.choice_parser(StatusAuthorization),
        "Who reads /status: everyone (none), or by token and RBAC (kubernetes).",
        taken_by=RUN_AND_HUB,
    )
    rollup_metrics: RollUpScope = _serving(
        "cluster",
        parsers.choice_parser(RollUpScope),
        "Series of the status: off, cluster (19, 3 a model), namespace (15 each).",
        taken_by=RUN_ALONE,
    )
