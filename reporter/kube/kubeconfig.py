"""
A kubeconfig as one cluster and one user, read and merged by the client library.

Refuses, with what to do, what the library would silently ignore.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from kubernetes.aio.config import ConfigException
from kubernetes.aio.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger

from reporter.kube.errors import ConfigurationError
from reporter.kube.redaction import clean


IMPERSONATION = ("as", "as-uid", "as-groups", "as-user-extra")
FILES_OF_USER = ("client-certificate", "client-key", "tokenFile")
FILES_OF_CLUSTER = ("certificate-authority",)


@dataclass(frozen=True, slots=True)
class Context:
    """
    The current context. Names of files are absolute; *folder* is that of the user's file.
    """

    cluster: Mapping[str, Any]
    user: Mapping[str, Any] = field(repr=False)
    folder: Path

    def as_kubeconfig(self, user: Mapping[str, Any]) -> dict[str, Any]:
        """
        A kubeconfig with this cluster and another *user*.
        """
        return {
            "clusters": [{"name": "it", "cluster": dict(self.cluster)}],
            "users": [{"name": "it", "user": dict(user)}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "current-context": "it",
        }


def read_context(paths: str) -> Context:
    """
    *paths* is one file or, as in KUBECONFIG, several separated by colons.
    """
    try:
        merged = KubeConfigMerger(paths).config
        if merged is None:
            raise ConfigurationError(f"kubeconfig {paths}: there is no such file")
        loader = KubeConfigLoader(_with_user(merged), config_base_path=None)
        return _context(loader.current_context["context"], merged)
    except (ConfigException, yaml.YAMLError, OSError) as err:
        raise ConfigurationError(f"kubeconfig {paths}: {clean(str(err))}") from err
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as err:
        # Without the text of the error: it may quote what is in the file.
        what = type(err).__name__
        raise ConfigurationError(f"kubeconfig {paths}: not a kubeconfig ({what})") from err


def _with_user(merged: Any) -> Any:
    """
    A user entry without content is an anonymous one; the library stumbles over it.
    """
    for each in merged.value["users"]:
        if not each.value.get("user"):
            each.value["user"] = {}
    return merged


def _context(context: Mapping[str, Any], merged: Any) -> Context:
    cluster_node = merged["clusters"].get_with_name(context["cluster"])
    cluster = _absolute(cluster_node.value["cluster"], _folder(cluster_node), FILES_OF_CLUSTER)
    if not cluster.get("server"):
        raise ConfigurationError(f"kubeconfig: cluster {context['cluster']} has no server")
    user_name = context.get("user") or ""
    user_node = merged["users"].get_with_name(user_name, safe=True)
    if user_node is None:
        return Context(cluster=cluster, user={}, folder=_folder(cluster_node))
    user = _absolute(user_node.value["user"], _folder(user_node), FILES_OF_USER)
    _refuse_what_would_be_ignored(user_name, user)
    return Context(cluster=cluster, user=user, folder=_folder(user_node))


def _refuse_what_would_be_ignored(name: str, user: Mapping[str, Any]) -> None:
    impersonation = [key for key in IMPERSONATION if user.get(key)]
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


def _folder(node: ConfigNode) -> Path:
    return Path(node.path).resolve().parent


def _absolute(section: Mapping[str, Any], folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
    files = {name: str(folder / section[name]) for name in names if section.get(name)}
    return {name: value for name, value in section.items() if value is not None} | files
