"""
Read the cluster and the user of a kubeconfig's current context.

The client library reads and merges the files. Settings that it would silently ignore are refused
with an error that says what to do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from kubernetes.aio.config import ConfigException
from kubernetes.aio.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger

from reporter.kube.wire.errors import ConfigurationError
from reporter.kube.wire.plain_text import clean
from reporter.model.text.suggest import suggest


IMPERSONATION_FIELDS = ("as", "as-uid", "as-groups", "as-user-extra")
USER_FILE_FIELDS = ("client-certificate", "client-key", "tokenFile")
CLUSTER_FILE_FIELDS = ("certificate-authority",)


@dataclass(frozen=True, slots=True)
class KubeconfigContext:
    """
    The current context. Paths of files are absolute; *folder* is that of the file with the user.
    """

    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any] = field(repr=False)
    folder: Path

    @staticmethod
    def as_kubeconfig(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
        """Build a kubeconfig with this cluster and this user alone."""
        return {
            "clusters": [{"name": "it", "cluster": dict(cluster)}],
            "users": [{"name": "it", "user": dict(user)}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "current-context": "it",
        }


def load_current_context(paths: str, name: str = "") -> KubeconfigContext:
    """
    Load the context of that *name*, or the current one.

    *paths*: one file or, as in KUBECONFIG, several separated by colons.
    """
    try:
        merged = KubeConfigMerger(paths).config
        if merged is None:
            raise ConfigurationError(f"kubeconfig {paths}: there is no such file")
        _require_context(name, merged)
        loader = KubeConfigLoader(
            _default_empty_users(merged), active_context=name or None, config_base_path=None
        )
        return _resolve_context(loader.current_context, merged)
    except (ConfigException, yaml.YAMLError, OSError) as err:
        raise ConfigurationError(f"kubeconfig {paths}: {clean(str(err))}") from err
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as err:
        # The text of the error is left out, as it may quote credentials from the file.
        what = type(err).__name__
        raise ConfigurationError(f"kubeconfig {paths}: not a kubeconfig ({what})") from err


def _require_context(name: str, merged: Any) -> None:
    """Raise ConfigurationError with the contexts there are if none has that name."""
    there = sorted(str(each.value["name"]) for each in merged["contexts"]) if name else []
    if name and name not in there:
        known = suggest(name, there, otherwise=f"there are: {', '.join(there)}")
        raise ConfigurationError(f"--context={name}: the kubeconfig has no such context; {known}")


def _default_empty_users(merged: Any) -> Any:
    """Give users without content an empty section; the library fails without one."""
    for each in merged.value["users"]:
        if not each.value.get("user"):
            each.value["user"] = {}
    return merged


def _resolve_context(named: Mapping[str, Any], merged: Any) -> KubeconfigContext:
    name, context = str(named["name"]), named["context"]
    cluster_node = merged["clusters"].get_with_name(context["cluster"])
    cluster = _resolve_paths(
        cluster_node.value["cluster"], _directory_of(cluster_node), CLUSTER_FILE_FIELDS
    )
    if not cluster.get("server"):
        raise ConfigurationError(f"kubeconfig: cluster {context['cluster']} has no server")
    user_name = context.get("user") or ""
    user_node = merged["users"].get_with_name(user_name, safe=True)
    if user_node is None:
        folder = _directory_of(cluster_node)
        return KubeconfigContext(name=name, cluster=cluster, user={}, folder=folder)
    user = _resolve_paths(user_node.value["user"], _directory_of(user_node), USER_FILE_FIELDS)
    _reject_unsupported(user_name, user)
    folder = _directory_of(user_node)
    return KubeconfigContext(name=name, cluster=cluster, user=user, folder=folder)


def _reject_unsupported(name: str, user: Mapping[str, Any]) -> None:
    impersonation = [key for key in IMPERSONATION_FIELDS if user.get(key)]
    if impersonation:
        raise ConfigurationError(
            f"kubeconfig: user {name} impersonates ({', '.join(impersonation)}), which is not "
            "supported; use credentials of the account itself, or kubectl create token"
        )
    provider = (user.get("auth-provider") or {}).get("name")
    if provider not in {None, "oidc"}:
        raise ConfigurationError(
            f"kubeconfig: user {name} uses auth-provider {provider}, which Kubernetes 1.26 "
            "removed; use an exec section"
        )


def _directory_of(node: ConfigNode) -> Path:
    return Path(node.path).resolve().parent


def _resolve_paths(
    section: Mapping[str, Any], folder: Path, names: tuple[str, ...]
) -> dict[str, Any]:
    files = {name: str(folder / section[name]) for name in names if section.get(name)}
    return {name: value for name, value in section.items() if value is not None} | files
