"""Make a client of the API server that a kubeconfig or the pod's own credentials lead to."""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from reporter.kube.client import RestClient
from reporter.kube.connections import Connections
from reporter.kube.credentials import DEFAULT_REFRESH_POLICY, Credentials, RefreshPolicy
from reporter.kube.rest_config import SERVICE_ACCOUNT_DIR, choose_loader
from reporter.kube.transport import Transport
from reporter.process.clock import Clock


async def connect(  # noqa: PLR0913
    kubeconfig: str | None = None,
    *,
    context: str = "",
    impersonated: str = "",
    request_timeout: timedelta | None = None,
    clock: Clock | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account_dir: Path = SERVICE_ACCOUNT_DIR,
    refresh_policy: RefreshPolicy = DEFAULT_REFRESH_POLICY,
) -> RestClient:
    """
    Load the credentials and make a client; no request is sent yet.

    *context*: of the kubeconfig; empty: its current one. *impersonated*: the user to act as.
    *request_timeout*: of requests that end by themselves. *clock*: is corrected by the answers.
    *service_account_dir*: the mounted credentials of the pod. Raises ConfigurationError.
    """
    load, in_cluster = choose_loader(
        kubeconfig, environ, context=context, service_account_dir=service_account_dir
    )
    config = await load()
    credentials = Credentials(load, config, refresh_policy)
    connections = Connections(config, check_interval=refresh_policy.token_reload_interval)
    transport = Transport(credentials, connections, clock, impersonated=impersonated)
    return RestClient(
        transport, in_cluster=in_cluster, target=config.target, request_timeout=request_timeout
    )
