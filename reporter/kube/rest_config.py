"""
Load the server and the credentials from a kubeconfig or from the pod's service account.

Flag, environment and machine choose which.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.kube.http_proxy import proxy_for, validate_proxy
from reporter.kube.kubeconfig import KubeconfigContext, load_current_context
from reporter.kube.oidc import OidcTokens, expiry_of
from reporter.kube.plain_text import clean
from reporter.kube.tls import AUTHORITY, CERTIFICATE, KEY, InlineTls, read_inline_tls
from reporter.settings.errors import ConfigurationError
from reporter.settings.loading import IN_CLUSTER_VARIABLE


if TYPE_CHECKING:
    from reporter.kube.exec_plugin import ExecCredentialStatus


def home_directory() -> Path | None:
    """Return the home directory; None without HOME and without an entry in /etc/passwd."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def read_token(path: Path) -> str | None:
    """
    Return the token; None while the file is missing, empty or incomplete.

    The kubelet replaces the files of a projected volume while we may be reading.
    """
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.isprintable() and text and " " not in text else None


SERVICE_ACCOUNT_DIR = Path("/var/run/secrets/kubernetes.io/serviceaccount")
IN_CLUSTER_PORT_VARIABLE = "KUBERNETES_SERVICE_PORT"
NOT_MOUNTED = "is automountServiceAccountToken off?"
EXEC_PLUGIN_TIMEOUT = timedelta(seconds=30)


class RestConfig(Struct, frozen=True, kw_only=True):
    """
    The API server and our credentials, as client-go's rest.Config.

    *host*: the URL without a slash at its end. *authorization*: the value of the header, empty for none.
    *context*: the name in the kubeconfig; empty in a pod. *token_file* is reread regularly; *expires* is
    when a plugin must run again, or an OIDC token be renewed. *is_stored*: the token is that of the file,
    which another program renews, and may have ended long ago. *inline_tls*: what is not in files.
    *server_name*: the name that the certificate of the server must have, if it is not the URL's host.
    """

    host: str
    authorization: str = ""
    context: str = ""
    token_file: Path | None = None
    expires: datetime | None = None
    is_stored: bool = False
    authority_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    inline_tls: InlineTls = InlineTls()
    skips_verification: bool = False
    server_name: str | None = None
    proxy: str | None = None

    def __repr__(self) -> str:
        """Return a text without credentials."""
        return f"RestConfig({self.target})"

    @property
    def target(self) -> str:
        """
        Return the server and the context, for people. A URL may hold a password before its host.
        """
        scheme, _, rest = self.host.partition("://")
        server = clean(f"{scheme}://{rest.rpartition('@')[2]}")
        return f"context {clean(self.context)} ({server})" if self.context else server

    @property
    def connection_key(self) -> tuple[Any, ...]:
        """Everything that a connection depends on; a change needs a new one."""
        server = (self.host, self.skips_verification, self.server_name, self.proxy)
        return (*self.tls_files, self.inline_tls, *server)

    @property
    def tls_files(self) -> tuple[str | None, str | None, str | None]:
        """The PEM files of authority, certificate and key; None for what is inline or not given."""
        return (self.authority_file, self.certificate_file, self.key_file)


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
    """
    Load the account that the kubelet mounts. Raises ConfigurationError.

    Source: client-go, rest/config.go, InClusterConfig.
    """
    token_file, authority = folder / "token", folder / "ca.crt"
    name, port = environ.get(IN_CLUSTER_VARIABLE), environ.get(IN_CLUSTER_PORT_VARIABLE)
    if not name or not port:
        raise ConfigurationError(f"{IN_CLUSTER_VARIABLE} or {IN_CLUSTER_PORT_VARIABLE} is not set")
    if not authority.is_file():
        raise ConfigurationError(
            f"in-cluster account in {folder}: there is no ca.crt; {NOT_MOUNTED}"
        )
    token = read_token(token_file)
    if token is None:
        raise ConfigurationError(
            f"in-cluster account in {folder}: there is no token; {NOT_MOUNTED}"
        )
    host = f"https://[{name}]:{port}" if ":" in name else f"https://{name}:{port}"
    return RestConfig(
        host=host,
        authorization=bearer_header(token),
        token_file=token_file,
        authority_file=str(authority),
        proxy=proxy_for(host, environ),
    )


async def load_kubeconfig(
    paths: str,
    environ: Mapping[str, str],
    *,
    context_name: str = "",
    oidc: OidcTokens | None = None,
) -> RestConfig:
    """
    Load a context, the current one without a name, and run its credential plugin.

    *oidc*: the tokens of earlier loads, so that the one in the file is used only once. Raises
    ConfigurationError.
    """
    context = load_current_context(paths, context_name)
    cluster, user = context.cluster, context.user
    try:
        host = _host(cluster)
        credential = await _exec_credential(context, environ)
        inline_tls = _with_certificate(read_inline_tls(cluster, user), credential)
        config = RestConfig(
            host=host,
            context=context.name,
            token_file=Path(user["tokenFile"]) if "tokenFile" in user else None,
            skips_verification=bool(cluster.get("insecure-skip-tls-verify")),
            server_name=cluster.get("tls-server-name") or None,
            proxy=_choose_proxy(context, environ),
        )
        config = await _with_token(config, user, credential, oidc or OidcTokens())
        return _with_tls(config, cluster, user, inline_tls)
    except (AttributeError, TypeError, ValueError) as err:
        # The text of the error is left out, as it may quote credentials from the file.
        what = type(err).__name__
        raise ConfigurationError(f"kubeconfig {paths}: not a kubeconfig ({what})") from err


def _host(cluster: Mapping[str, Any]) -> str:
    """Return the URL of the server; client-go takes one without a scheme for HTTP."""
    server = str(cluster["server"]).rstrip("/")
    return server if "://" in server else f"http://{server}"


def _with_tls(
    config: RestConfig, cluster: Mapping[str, Any], user: Mapping[str, Any], inline: InlineTls
) -> RestConfig:
    """Return the config with certificates; over plain HTTP with none, so none need be valid."""
    if not config.host.lower().startswith("https"):
        return config
    with_certificate = replace(
        config,
        inline_tls=inline,
        authority_file=None if inline.authority else cluster.get(AUTHORITY),
        certificate_file=None if inline.certificate else user.get(CERTIFICATE),
        key_file=None if inline.key else user.get(KEY),
    )
    for file in filter(None, with_certificate.tls_files):
        if not Path(file).is_file():
            raise ConfigurationError(f"the kubeconfig names {file}: there is no such file")
    return with_certificate


def bearer_header(token: str) -> str:
    """Return the value of the Authorization header for a token (RFC 6750, section 2.1)."""
    return f"Bearer {token}"


async def _exec_credential(
    context: KubeconfigContext, environ: Mapping[str, str]
) -> "ExecCredentialStatus | None":
    spec = context.user.get("exec")
    if not spec:
        return None
    from reporter.kube.exec_plugin import parse_exec_config, run_exec_plugin  # noqa: PLC0415

    plugin = parse_exec_config(
        spec, folder=context.folder, cluster=context.cluster, environ=environ
    )
    return await run_exec_plugin(plugin, limit=EXEC_PLUGIN_TIMEOUT)


def _with_certificate(
    inline_tls: InlineTls, credential: "ExecCredentialStatus | None"
) -> InlineTls:
    """Return *inline_tls* with the certificate of the plugin, if it has one."""
    if credential is None or not credential.client_certificate_data:
        return inline_tls
    return replace(
        inline_tls,
        certificate=credential.client_certificate_data.encode(),
        key=credential.client_key_data.encode(),
    )


async def _with_token(
    config: RestConfig,
    user: Mapping[str, Any],
    credential: "ExecCredentialStatus | None",
    oidc: OidcTokens,
) -> RestConfig:
    """
    Return the config with the plugin's token, else that of a file, a provider or the section itself.
    """
    if credential is not None:
        config = replace(config, expires=credential.expires)
        if credential.token:
            return replace(config, authorization=bearer_header(credential.token.strip()))
    if config.token_file is not None:
        return replace(config, authorization=_read_bearer(config.token_file))
    if user.get("auth-provider"):
        token = await oidc.next_token(user["auth-provider"], limit=EXEC_PLUGIN_TIMEOUT)
        return replace(
            config,
            authorization=bearer_header(token),
            expires=expiry_of(token),
            is_stored=token == oidc.stored,
        )
    if user.get("token"):
        return replace(config, authorization=bearer_header(str(user["token"]).strip()))
    if user.get("username") and user.get("password"):
        password = f"{user['username']}:{user['password']}".encode()
        return replace(config, authorization=f"Basic {base64.b64encode(password).decode()}")
    return config


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


def choose_loader(
    kubeconfig: str | None,
    environ: Mapping[str, str],
    *,
    context: str = "",
    service_account_dir: Path = SERVICE_ACCOUNT_DIR,
) -> tuple[LoadConfig, bool]:
    """
    Return the function that loads the credentials, and whether they are those of this pod.

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
