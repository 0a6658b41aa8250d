"""Load the server and the credentials from a kubeconfig or from the pod's service account."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from kubernetes.aio.client import Configuration
from kubernetes.aio.config import ConfigException, load_kube_config_from_dict
from kubernetes.aio.config.incluster_config import InClusterConfigLoader

from reporter.kube.auth.exec_plugin import ExecCredentialStatus, parse_exec_config, run_exec_plugin
from reporter.kube.auth.http_proxy import proxy_for, validate_proxy
from reporter.kube.auth.inline_tls import InlineTls, read_inline_tls, without_inline_tls
from reporter.kube.auth.kubeconfig import KubeconfigContext, load_current_context
from reporter.kube.auth.token_file import read_token
from reporter.kube.wire.errors import ConfigurationError
from reporter.kube.wire.plain_text import clean
from reporter.settings.loading import IN_CLUSTER_VARIABLE


SERVICE_ACCOUNT_DIR = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_PLUGIN_TIMEOUT = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class RestConfig:
    """
    The API server and our credentials, as client-go's rest.Config.

    *configuration* is the client library's; *authorization* the value of the header, empty for
    none. *context*: the name in the kubeconfig; empty in a pod. *token_file* is reread regularly;
    *expires* is when a plugin must run again. *inline_tls*: what is not in files.
    """

    configuration: Any = field(repr=False)
    authorization: str = field(default="", repr=False)
    context: str = ""
    token_file: Path | None = None
    expires: datetime | None = None
    inline_tls: InlineTls = field(default_factory=InlineTls)

    @property
    def target(self) -> str:
        """
        Return the server and the context, for people. A URL may hold a password before its host.
        """
        scheme, _, rest = self.configuration.host.partition("://")
        server = clean(f"{scheme}://{rest.rpartition('@')[2]}")
        return f"context {clean(self.context)} ({server})" if self.context else server

    @property
    def connection_key(self) -> tuple[Any, ...]:
        """Everything that a connection depends on; a change needs a new one."""
        c = self.configuration
        server = (c.host, c.verify_ssl, c.tls_server_name, c.proxy)
        return (*self.tls_files, self.inline_tls, *server)

    @property
    def tls_files(self) -> tuple[str | None, str | None, str | None]:
        c = self.configuration
        return (c.ssl_ca_cert, c.cert_file, c.key_file)


LoadConfig: TypeAlias = Callable[[], Awaitable[RestConfig]]


def choose_kubeconfig(
    kubeconfig: str | None, environ: Mapping[str, str], home: Path | None
) -> str | None:
    """
    Return the kubeconfig to use, None for the pod's service account.

    The order is the flag, KUBECONFIG, the service account, ~/.kube/config. Raises
    ConfigurationError if there is none of them.
    """
    named = kubeconfig or environ.get("KUBECONFIG")
    if named:
        return named
    if environ.get(IN_CLUSTER_VARIABLE):
        return None
    usual = home / ".kube" / "config" if home is not None else None
    if usual is not None and usual.exists():
        return str(usual)
    raise ConfigurationError(
        "no cluster: not in a pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig; "
        "set --kubeconfig or KUBECONFIG"
    )


async def load_in_cluster_config(
    environ: Mapping[str, str], *, folder: Path = SERVICE_ACCOUNT_DIR
) -> RestConfig:
    token_file, authority = folder / "token", folder / "ca.crt"
    configuration = _new_configuration()
    try:
        loader = InClusterConfigLoader(str(token_file), str(authority), environ=environ)
        loader.load_and_set(configuration)
    except (ConfigException, OSError) as err:
        raise ConfigurationError(
            f"in-cluster account in {folder}: {err} Is automountServiceAccountToken off?"
        ) from err
    configuration.proxy = proxy_for(configuration.host, environ)
    return RestConfig(configuration, _read_bearer(token_file), token_file=token_file)


async def load_kubeconfig(
    paths: str,
    environ: Mapping[str, str],
    *,
    context_name: str = "",
    limit: timedelta = EXEC_PLUGIN_TIMEOUT,
) -> RestConfig:
    """
    Load a context, the current one without a name, and run its credential plugin.

    *limit*: how long the plugin may take.
    """
    context = load_current_context(paths, context_name)
    user = dict(context.user)
    credential = await _exec_credential(context, environ, limit)
    user.pop("exec", None)
    token_file = Path(user.pop("tokenFile")) if "tokenFile" in user else None
    inline_tls = _with_certificate(read_inline_tls(context.cluster, user), credential)
    kubeconfig = context.as_kubeconfig(
        without_inline_tls(context.cluster), without_inline_tls(user)
    )
    configuration = await _load_configuration(paths, kubeconfig, limit)
    configuration.proxy = _choose_proxy(context, environ)
    return RestConfig(
        configuration,
        _choose_authorization(configuration, token_file, credential),
        context.name,
        token_file,
        credential.expires if credential is not None else None,
        _if_used(inline_tls, configuration),
    )


def _new_configuration() -> Any:
    """
    Return a configuration that accepts the CA certificates that kubectl accepts.

    Python 3.13 sets VERIFY_X509_STRICT by default, which refuses a CA without key usage or key
    identifiers, as older clusters have it (kubernetes-client/python#2394). Chain, expiry and host name
    are verified as before.
    """
    configuration = Configuration()
    configuration.disable_strict_ssl_verification = True
    return configuration


def bearer_header(token: str) -> str:
    return f"Bearer {token}"


async def _exec_credential(
    context: KubeconfigContext, environ: Mapping[str, str], limit: timedelta
) -> ExecCredentialStatus | None:
    spec = context.user.get("exec")
    if not spec:
        return None
    plugin = parse_exec_config(
        spec, folder=context.folder, cluster=context.cluster, environ=environ
    )
    return await run_exec_plugin(plugin, limit=limit)


def _with_certificate(inline_tls: InlineTls, credential: ExecCredentialStatus | None) -> InlineTls:
    """Return *inline_tls* with the certificate of the plugin, if it has one."""
    if credential is None or not credential.client_certificate_data:
        return inline_tls
    return replace(
        inline_tls,
        certificate=credential.client_certificate_data.encode(),
        key=credential.client_key_data.encode(),
    )


def _choose_authorization(
    configuration: Any, token_file: Path | None, credential: ExecCredentialStatus | None
) -> str:
    """Return the header of the plugin's token, else of the token file, else of the kubeconfig."""
    authorization: str = configuration.api_key.get("BearerToken", "")
    if token_file is not None:
        authorization = _read_bearer(token_file)
    if credential is not None and credential.token:
        authorization = bearer_header(credential.token.strip())
    return authorization.strip()


async def _load_configuration(paths: str, kubeconfig: dict[str, Any], limit: timedelta) -> Any:
    configuration = _new_configuration()
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await load_kube_config_from_dict(kubeconfig, client_configuration=configuration)
    except TimeoutError as err:
        raise ConfigurationError(
            f"kubeconfig {paths}: the identity provider did not answer in time"
        ) from err
    except Exception as err:  # the library's OpenID code raises errors of any kind
        raise ConfigurationError(f"kubeconfig {paths}: {clean(str(err))}") from err
    return configuration


def _choose_proxy(context: KubeconfigContext, environ: Mapping[str, str]) -> str | None:
    named = context.cluster.get("proxy-url")
    if named:
        return validate_proxy(str(named), "proxy-url of the kubeconfig")
    return proxy_for(str(context.cluster["server"]), environ)


def _read_bearer(token_file: Path) -> str:
    token = read_token(token_file)
    if token is None:
        raise ConfigurationError(f"token file {token_file} is missing or holds no token")
    return bearer_header(token)


def _if_used(inline_tls: InlineTls, configuration: Any) -> InlineTls:
    """Return what a connection uses: over plain HTTP nothing, so nothing there need be valid."""
    return inline_tls if configuration.host.startswith("https") else InlineTls()
