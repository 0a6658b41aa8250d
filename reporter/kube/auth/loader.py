"""Choose where the credentials come from, by flag, environment and machine."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from reporter.kube.auth.home import home_directory
from reporter.kube.auth.oidc import OidcTokens
from reporter.kube.auth.rest_config import (
    SERVICE_ACCOUNT_DIR,
    LoadConfig,
    bearer_header,
    choose_kubeconfig,
    load_in_cluster_config,
    load_kubeconfig,
)
from reporter.kube.wire.errors import ConfigurationError


def choose_loader(
    kubeconfig: str | None,
    environ: Mapping[str, str],
    *,
    context: str = "",
    service_account_dir: Path = SERVICE_ACCOUNT_DIR,
) -> tuple[LoadConfig, bool]:
    """
    Return what loads the credentials, and whether they are those of this pod.

    *context*: of the kubeconfig; empty: its current one. Raises ConfigurationError.
    """
    paths = choose_kubeconfig(kubeconfig, environ, home_directory())
    if paths is not None:
        load = partial(load_kubeconfig, paths, environ, context_name=context, oidc=OidcTokens())
        return load, False
    if context:
        raise ConfigurationError(
            f"--context={context}: in a pod there is no kubeconfig; set --kubeconfig or KUBECONFIG"
        )
    return partial(load_in_cluster_config, environ, folder=service_account_dir), True


async def load_bearer(
    kubeconfig: str | None, environ: Mapping[str, str], *, context: str = ""
) -> str:
    """
    Return the header of the credentials' bearer token; empty if they are no token, as certificates.

    Raises ConfigurationError.
    """
    load, _ = choose_loader(kubeconfig, environ, context=context)
    authorization = (await load()).authorization
    return authorization if authorization.startswith(bearer_header("")) else ""
