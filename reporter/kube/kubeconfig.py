"""
Read the cluster and the user of one context of a kubeconfig.

Several files are merged as client-go merges them (tools/clientcmd, loader.go): the first one that has a
name, or a current context, determines it. Settings that would be ignored are refused with an error that
says what to do.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from msgspec import Struct

from reporter.kube.plain_text import clean
from reporter.model.suggest import suggest
from reporter.model.yaml_nesting import LOADER, check_nesting
from reporter.settings.errors import ConfigurationError


IMPERSONATION_FIELDS = ("as", "as-uid", "as-groups", "as-user-extra")
USER_FILE_FIELDS = ("client-certificate", "client-key", "tokenFile")
CLUSTER_FILE_FIELDS = ("certificate-authority",)


class KubeconfigContext(Struct, frozen=True):
    """
    The context that is used. Paths of files are absolute; *folder* is that of the file with the user.
    """

    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    folder: Path

    def __repr__(self) -> str:
        """Return a text without credentials."""
        return f"KubeconfigContext({self.name})"


class _Entry(NamedTuple):
    """A named part of a kubeconfig, and the folder that its relative paths start from."""

    content: Mapping[str, Any]
    folder: Path


class _Kubeconfig(Struct, frozen=True):
    """The merged files, by name."""

    clusters: dict[str, _Entry] = {}
    users: dict[str, _Entry] = {}
    contexts: dict[str, _Entry] = {}
    current: list[str] = []

    def add(self, content: Mapping[str, Any], folder: Path) -> None:
        sections = {"cluster": self.clusters, "user": self.users, "context": self.contexts}
        for kind, entries in sections.items():
            for each in content.get(f"{kind}s") or ():
                entries.setdefault(str(each["name"]), _Entry(each.get(kind) or {}, folder))
        self.current.extend(filter(None, [content.get("current-context")]))


def load_current_context(paths: str, name: str = "") -> KubeconfigContext:
    """
    Load the context of that *name*, or the current one. Raises ConfigurationError.

    *paths*: one file or, as in KUBECONFIG, several separated by colons.
    """
    try:
        return _resolve_context(_read(paths), name)
    except yaml.YAMLError as err:
        raise ConfigurationError(f"kubeconfig {paths}: {_describe(err)}") from err
    except OSError as err:
        raise ConfigurationError(f"kubeconfig {paths}: {clean(str(err))}") from err
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as err:
        # The text of the error is left out, as it may quote credentials from the file.
        what = type(err).__name__
        raise ConfigurationError(f"kubeconfig {paths}: not a kubeconfig ({what})") from err
    except ConfigurationError as err:
        raise ConfigurationError(f"kubeconfig {paths}: {err}") from err


def _describe(err: yaml.YAMLError) -> str:
    """Describe what is no YAML without quoting it, as the line may hold credentials."""
    mark, problem = getattr(err, "problem_mark", None), getattr(err, "problem", None)
    where = f" in line {mark.line + 1}" if mark is not None else ""
    return f"it is no YAML{where}: {clean(problem or type(err).__name__)}"


def _read(paths: str) -> _Kubeconfig:
    merged = _Kubeconfig()
    files = [Path(each).expanduser() for each in paths.split(os.pathsep) if each]
    existing = [file for file in files if file.exists()]
    if not existing:
        raise ConfigurationError("there is no such file")
    for file in existing:
        text = file.read_text()
        check_nesting(text)
        merged.add(yaml.load(text, Loader=LOADER), file.resolve().parent)  # noqa: S506
    return merged


def _resolve_context(merged: _Kubeconfig, wanted: str) -> KubeconfigContext:
    if wanted and wanted not in merged.contexts:
        known = _suggest(wanted, merged.contexts)
        raise ConfigurationError(
            f"--context={wanted}: the kubeconfig has no such context; {known}"
        )
    if not wanted and not merged.current:
        raise ConfigurationError("it has no current-context; name one with --context")
    name = wanted or str(merged.current[0])
    context = _find(merged.contexts, "context", name).content
    cluster_name, user_name = str(context["cluster"]), str(context.get("user") or "")
    cluster = _find(merged.clusters, "cluster", cluster_name)
    resolved = _resolve_paths(cluster, CLUSTER_FILE_FIELDS)
    if not resolved.get("server"):
        raise ConfigurationError(f"cluster {clean(cluster_name)} has no server")
    user = merged.users.get(user_name)
    if user is None:
        return KubeconfigContext(name, resolved, {}, cluster.folder)
    _reject_unsupported(user_name, user.content)
    return KubeconfigContext(name, resolved, _resolve_paths(user, USER_FILE_FIELDS), user.folder)


def _find(entries: Mapping[str, _Entry], kind: str, name: str) -> _Entry:
    """Raises ConfigurationError with the names there are."""
    found = entries.get(name)
    if found is None:
        raise ConfigurationError(f"it has no {kind} {clean(name)}; {_suggest(name, entries)}")
    return found


def _suggest(name: str, there: Collection[str]) -> str:
    listed = f"there are: {', '.join(sorted(there))}" if there else "there is none"
    return clean(suggest(name, there, otherwise=listed))


def _reject_unsupported(name: str, user: Mapping[str, Any]) -> None:
    impersonation = [key for key in IMPERSONATION_FIELDS if user.get(key)]
    if impersonation:
        raise ConfigurationError(
            f"user {name} impersonates ({', '.join(impersonation)}), which is not "
            "supported; use credentials of the account itself, or kubectl create token"
        )
    provider = (user.get("auth-provider") or {}).get("name")
    if provider not in {None, "oidc"}:
        raise ConfigurationError(
            f"user {name} uses auth-provider {provider}, which Kubernetes 1.26 "
            "removed; use an exec section"
        )


def _resolve_paths(entry: _Entry, names: tuple[str, ...]) -> dict[str, Any]:
    section, folder = entry
    files = {name: str(folder / section[name]) for name in names if section.get(name)}
    return {name: value for name, value in section.items() if value is not None} | files
