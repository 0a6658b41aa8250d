"""
The files a control plane is started from, and the one place that knows where they are.

Programs come from KUBEBUILDER_ASSETS first (the convention of setup-envtest), then from the
cache, then from Go. The YAML that is theirs (CRDs, kwok's stages) is cached beside them.
"""

import fcntl
import json
import os
from collections.abc import Iterator
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
"""
The Kubernetes version for which it renders and lints without a cluster.
"""

_KWOK = pins.version("kwok", "sigs.k8s.io/kwok").removeprefix("v")
_KUBERNETES_TIMES = {
    "kube-apiserver": "about 6 minutes the first time",
    "kube-controller-manager": "about a minute the first time",
    "kube-scheduler": "about half a minute the first time",
    "kubectl": "about half a minute the first time",
}
PROGRAMS = (
    *(
        Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", expect, _STAMPS)
        for name, expect in _KUBERNETES_TIMES.items()
    ),
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", "less than a minute the first time"),
    Program(
        *("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", "about 2 minutes the first time"),
        (f"sigs.k8s.io/kwok/pkg/consts.Version={_KWOK}",),
    ),
    Program(
        *("helm", "helm", "helm.sh/helm/v3/cmd/helm", "about 2 minutes the first time"),
        _OF_HELM,
    ),
    Program(
        *("llm-d-inference-sim", "simulator"),
        "github.com/llm-d/llm-d-inference-sim/cmd/llm-d-inference-sim",
        "about 4 minutes the first time",
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
)
TOOLS = (
    Program(
        *("amtool", "alertmanager", "github.com/prometheus/alertmanager/cmd/amtool"),
        "about 2 minutes the first time",
    ),
    Program(
        *("crane", "registry", "github.com/google/go-containerregistry/cmd/crane"),
        "less than a minute the first time",
    ),
    Program(
        *("actionlint", "actionlint", "github.com/rhysd/actionlint/cmd/actionlint"),
        "less than a minute the first time",
    ),
)
"""
Programs that single tests need, built when these ask for them.
"""

ENVTEST = frozenset({"etcd", "kube-apiserver", "kubectl"})
HOW = (
    "Install Go 1.26 or newer and run `make controlplane` (about 15 minutes once), or set\n"
    "KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl for those three."
)


class AssetsMissing(Exception):
    """
    A program or file of the control plane is missing; the message names it and the remedy.
    """


@dataclass(frozen=True)
class Assets:
    programs: dict[str, Path]
    manifests: Path

    def program(self, name: str) -> str:
        return str(self.programs[name])

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
    """
    Return the assets that are already there; build nothing. Raises AssetsMissing.
    """
    lacking = _lacking()
    if lacking:
        raise AssetsMissing(f"Missing for a real control plane: {', '.join(lacking)}.\n{HOW}")
    return _assets()


def find_or_build() -> Assets:
    """
    Return the assets, and build missing ones. Raises AssetsMissing without Go, BuildFailed if a
    build fails.
    """
    if _lacking() and golang.go() is not None:
        with _lock():
            for name in _lacking():
                _make(name)
    return find()


def tool(name: str) -> str:
    """
    Return the path of a tool, built if it is not there. Raises AssetsMissing without Go, BuildFailed.
    """
    program = next(each for each in TOOLS if each.name == name)
    target = pins.tool_folder(program.module) / name
    if not target.is_file():
        if golang.go() is None:
            raise AssetsMissing(f"Missing: {name}. Install Go 1.26 or newer, which builds it.")
        with _lock():
            if not target.is_file():
                golang.build(program, target)
    return str(target)


def manifests_on_demand(name: str) -> list[Json]:
    """
    Return manifests that single tests need. Raises AssetsMissing without Go, BuildFailed.
    """
    target = _cached(name)
    if not target.is_file():
        if golang.go() is None:
            raise AssetsMissing(f"Missing: {name}. Install Go 1.26 or newer, which downloads it.")
        with _lock():
            if not target.is_file():
                manifests.write(name, target)
    documents: list[Json] = json.loads(target.read_text())
    return documents


def _make(name: str) -> None:
    target = _location(name)
    if target != _cached(name):
        raise AssetsMissing(f"{target} is missing, in the folder that KUBEBUILDER_ASSETS names.")
    if name in manifests.FILES:
        manifests.write(name, target)
    else:
        golang.build(next(each for each in PROGRAMS if each.name == name), target)


def _lacking() -> list[str]:
    wanted = [*manifests.FILES, *(program.name for program in PROGRAMS)]
    return [name for name in wanted if not _location(name).is_file()]


def _location(name: str) -> Path:
    given = os.environ.get("KUBEBUILDER_ASSETS")
    if given and (name in ENVTEST or (Path(given) / name).is_file()):
        return Path(given) / name
    return _cached(name)


def _cached(name: str) -> Path:
    return pins.cache_folder() / name


def _assets() -> Assets:
    return Assets({each.name: _location(each.name) for each in PROGRAMS}, pins.cache_folder())


@contextmanager
def _lock() -> Iterator[None]:
    """
    Let one process build at a time; the others wait and then find everything built.
    """
    folder = pins.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
