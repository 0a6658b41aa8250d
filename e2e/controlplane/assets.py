"""
The files a control plane is started from, and the one place that knows where they are.

Programs come from KUBEBUILDER_ASSETS first (the convention of setup-envtest), then from the
cache, then from Go; an installed kubectl of the right version is taken before one is built. The YAML
that is theirs (CRDs, kwok's stages) is cached beside them.
"""

import fcntl
import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e.controlplane import golang, manifests, pins
from e2e.controlplane.golang import Program
from e2e.controlplane.manifests import Json


_KUBERNETES = pins.version("kubernetes", "k8s.io/kubernetes")
_MINOR = _KUBERNETES.split(".")[1]
_STAMPS = (
    f"k8s.io/component-base/version.gitVersion={_KUBERNETES}",
    "k8s.io/component-base/version.gitMajor=1",
    f"k8s.io/component-base/version.gitMinor={_MINOR}",
    f"k8s.io/client-go/pkg/version.gitVersion={_KUBERNETES}",
)
_HELM = pins.version("helm", "helm.sh/helm/v3")
_OF_HELM = (
    f"helm.sh/helm/v3/internal/version.version={_HELM}",
    "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
    f"helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={_MINOR}",
    "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
    f"helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor={_MINOR}",
)
"""The Kubernetes version for which it renders and lints without a cluster."""

_KWOK = pins.version("kwok", "sigs.k8s.io/kwok").removeprefix("v")


def _kubernetes(name: str, expect: str) -> Program:
    return Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", expect, _STAMPS)


CORE = (
    _kubernetes("kube-apiserver", "about 6 minutes the first time"),
    _kubernetes("kube-controller-manager", "about a minute the first time"),
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", "less than a minute the first time"),
    Program(
        *("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", "about 2 minutes the first time"),
        (f"sigs.k8s.io/kwok/pkg/consts.Version={_KWOK}",),
    ),
)
"""Programs without which no test on a control plane runs."""

ON_DEMAND = (
    _kubernetes("kube-scheduler", "about half a minute the first time"),
    _kubernetes("kubectl", "about half a minute the first time"),
    Program(
        *("helm", "helm", "helm.sh/helm/v3/cmd/helm", "about 2 minutes the first time"),
        _OF_HELM,
    ),
    Program(
        *("promtool", "rules", "github.com/prometheus/prometheus/cmd/promtool"),
        "about 2 minutes the first time",
        tags="remove_all_sd",  # without the clients of every cloud, which rules do not need
    ),
    Program(
        *("prometheus", "rules", "github.com/prometheus/prometheus/cmd/prometheus"),
        "about 3 minutes the first time",
        tags="remove_all_sd",
    ),
    Program(
        *("llm-d-inference-sim", "simulator"),
        "github.com/llm-d/llm-d-inference-sim/cmd/llm-d-inference-sim",
        "about 4 minutes the first time",
    ),
)
"""
Programs that many tests need, built when the first of them asks, or before by `make controlplane`.
"""

NODE = tuple(
    Program(name, "kubelet", f"k8s.io/kubernetes/cmd/{name}", expect, _STAMPS)
    for name, expect in (
        ("kubelet", "about 3 minutes the first time"),
        ("kube-proxy", "about half a minute the first time"),
    )
)
"""Programs of a real node."""

TOOLS = (
    *NODE,
    Program(*("workload", "workload", "."), "a few seconds the first time"),
    Program(*("coredns", "coredns", "."), "about 2 minutes the first time"),
    Program(
        *("amtool", "alertmanager", "github.com/prometheus/alertmanager/cmd/amtool"),
        "about 2 minutes the first time",
    ),
    Program(
        *("alertmanager", "alertmanager", "github.com/prometheus/alertmanager/cmd/alertmanager"),
        "about 2 minutes the first time",
        lacking="ui/app/dist/index.html",
    ),
    Program(
        *("helm4", "helm4", "helm.sh/helm/v4/cmd/helm", "about 2 minutes the first time"),
        (f"helm.sh/helm/v4/internal/version.version={pins.version('helm4', 'helm.sh/helm/v4')}",),
    ),
    Program(
        *("crane", "registry", "github.com/google/go-containerregistry/cmd/crane"),
        "less than a minute the first time",
    ),
    Program(
        *("actionlint", "actionlint", "github.com/rhysd/actionlint/cmd/actionlint"),
        "less than a minute the first time",
    ),
    Program(*("krew", "krew", "sigs.k8s.io/krew/cmd/krew"), "about a minute the first time"),
    Program("karpenter", "karpenter", ".", "about 4 minutes the first time"),
    Program(
        *("kaito-workspace", "kaito", "github.com/kaito-project/kaito/cmd/workspace"),
        "about 4 minutes the first time",
    ),
    Program(
        *("keda-operator", "keda", "github.com/kedacore/keda/v2/cmd/operator"),
        "about 10 minutes the first time",
    ),
    Program(
        *("keda-adapter", "keda", "github.com/kedacore/keda/v2/cmd/adapter"),
        "about 2 minutes the first time, after the operator",
    ),
    Program(
        *("epp", "picker", "sigs.k8s.io/gateway-api-inference-extension/cmd/epp"),
        "about 3 minutes the first time",
    ),
)
"""Programs that single tests need, built when these ask for them."""

_PROGRAMS = {each.name: each for each in (*CORE, *ON_DEMAND, *TOOLS)}
ENVTEST = frozenset({"etcd", "kube-apiserver", "kubectl"})
HOW = (
    "Install Go 1.26 or newer and run `make controlplane` (about 15 minutes once), or set\n"
    "KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl for those three."
)


class AssetsMissing(Exception):
    """A program or file of the control plane is missing; the message names it and the remedy."""


@dataclass(frozen=True)
class Assets:
    manifests: Path

    def program(self, name: str) -> str:
        return program(name)

    def crds(self) -> list[Json]:
        return [*self._read("crds.json"), *manifests.own_crds()]

    def monitoring_crds(self) -> list[Json]:
        """
        Return the CRDs of kinds that the reporter does not read. A control plane gets them on
        demand only.
        """
        return self._read("monitoring-crds.json")

    def kwok_stages(self) -> list[Json]:
        return self._read("kwok-stages.json")

    def _read(self, name: str) -> list[Json]:
        documents: list[Json] = json.loads((self.manifests / name).read_text())
        return documents


def find() -> Assets:
    """Return the assets with which a control plane starts; build nothing. Raises AssetsMissing."""
    _refuse(lacking(_core()))
    return Assets(pins.cache_folder())


def find_or_build(*, core: bool = False) -> dict[str, Path]:
    """
    Return the path by name of all assets but the tools, or of the core alone, and build missing ones.
    Raises AssetsMissing without Go, BuildFailed if a build fails.
    """
    names = [*_core(), *([] if core else [each.name for each in ON_DEMAND])]
    _refuse_without_go(names)
    return {name: _provided(name) for name in names}


def program(name: str) -> str:
    """
    Return the path of a program, built if it is not there. Raises AssetsMissing without Go, BuildFailed.
    """
    return str(_provided(name))


def manifests_on_demand(name: str) -> list[Json]:
    """Return manifests that single tests need. Raises AssetsMissing without Go, BuildFailed."""
    documents: list[Json] = json.loads(_provided(name).read_text())
    return documents


def _core() -> list[str]:
    return [*manifests.FILES, *(each.name for each in CORE)]


def lacking(names: Iterable[str]) -> list[str]:
    """Return the assets of these names that are neither found nor built."""
    return [name for name in names if not _location(name).is_file()]


def _refuse_without_go(names: Iterable[str]) -> None:
    if golang.go() is None:
        _refuse(lacking(names))


def _refuse(lacking: Sequence[str]) -> None:
    if lacking:
        raise AssetsMissing(f"Missing for a real control plane: {', '.join(lacking)}.\n{HOW}")


def _provided(name: str) -> Path:
    """
    Return where an asset is, and build a missing one. The lock is held for one alone, so that a test
    that needs another one does not wait for all.
    """
    _refuse_without_go([name])
    if not _location(name).is_file():
        with _lock():
            if not _location(name).is_file():
                _make(name)
    return _location(name)


def _make(name: str) -> None:
    target = _location(name)
    if target != _cached(name):
        raise AssetsMissing(f"{target} is missing, in the folder that KUBEBUILDER_ASSETS names.")
    if name in _PROGRAMS:
        golang.build(_PROGRAMS[name], target)
    else:
        manifests.write(name, target)


def _location(name: str) -> Path:
    given = os.environ.get("KUBEBUILDER_ASSETS")
    if given and (name in ENVTEST or (Path(given) / name).is_file()):
        return Path(given) / name
    installed = shutil.which(name) if name == "kubectl" else None
    if installed and not _cached(name).is_file() and _is_of_the_server(installed):
        return Path(installed)
    return _cached(name)


@functools.cache
def _is_of_the_server(kubectl: str) -> bool:
    """Return whether an installed kubectl has the minor version of the API server."""
    words = [kubectl, "version", "--client", "--output=json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    version = _KUBERNETES.rpartition(".")[0]
    return done.returncode == 0 and f'"gitVersion": "{version}.' in done.stdout


def _cached(name: str) -> Path:
    tool = next((each for each in TOOLS if each.name == name), None)
    return (pins.tool_folder(tool.module) if tool else pins.cache_folder()) / name


@contextmanager
def _lock() -> Iterator[None]:
    """Let one process build at a time; the others wait and then find everything built."""
    folder = pins.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
