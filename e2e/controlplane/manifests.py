"""
The CRDs and kwok stages, taken out of the Go modules that own them.

They are cached as one JSON list each, so that a start needs neither Go nor a YAML parser.
"""

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from e2e.controlplane import golang, pins


Json: TypeAlias = dict[str, Any]

_INFERENCE = "sigs.k8s.io/gateway-api-inference-extension"
_KAITO = "github.com/kaito-project/kaito"
_CRD_FILES = {
    "sigs.k8s.io/gateway-api": "config/crd/standard/*.yaml",
    _INFERENCE: "config/crd/bases/*.yaml",
    _KAITO: "config/crd/bases/*.yaml",
    "sigs.k8s.io/karpenter": "pkg/apis/crds/*.yaml",
    "github.com/kedacore/keda/v2": "config/crd/bases/*.yaml",
    "istio.io/api": "kubernetes/customresourcedefinitions.gen.yaml",
}
_OPERATOR = "github.com/prometheus-operator/prometheus-operator"
_MONITORING = ("servicemonitors", "podmonitors", "prometheusrules")
_APIKEY_CHART = "charts/kaito/workspace/charts/productionstack-*.tgz"
_APIKEY_MEMBER = "/kaito.sh_apikeys.yaml"
_VALUE = "tag:yaml.org,2002:value"
_STAGE_FOLDERS = ("node/fast", "node/heartbeat-with-lease", "pod/fast")


class _Loader(yaml.SafeLoader):
    """
    Reads ``=`` as text: YAML 1.1 has a type of its own for it, and an enum of the operator has it.
    """


_Loader.add_constructor(_VALUE, lambda loader, node: str(loader.construct_scalar(node)))


def write(name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    unfinished.write_text(json.dumps(list({**FILES, **ON_DEMAND}[name]())))
    unfinished.replace(target)


def _crds() -> Iterator[Json]:
    folders = golang.download("crds")
    for module, pattern in _CRD_FILES.items():
        yield from _of_kind("CustomResourceDefinition", folders[module].glob(pattern))
    yield from _documents(_apikey_crd(folders[_KAITO]))


def _monitoring_crds() -> Iterator[Json]:
    """
    Yield the CRDs of monitors. Those of what the operator runs are ten times as large and not used
    here.
    """
    yield from _of_operator(*_MONITORING)


def _of_operator(*resources: str) -> Iterator[Json]:
    folder = golang.download("monitoring")[_OPERATOR] / "example" / "prometheus-operator-crd"
    files = [folder / f"monitoring.coreos.com_{each}.yaml" for each in resources]
    yield from _of_kind("CustomResourceDefinition", files)


def _stages() -> Iterator[Json]:
    kustomize = golang.download("kwok")["sigs.k8s.io/kwok"] / "kustomize" / "stage"
    for folder in _STAGE_FOLDERS:
        yield from _of_kind("Stage", (kustomize / folder).glob("*.yaml"))


def own_crds() -> list[Json]:
    return _documents((pins.DATA / "ciliumnetworkpolicies.yaml").read_text())


def _of_kind(kind: str, files: Iterable[Path]) -> Iterator[Json]:
    found = [each for file in sorted(files) for each in _documents(file.read_text())]
    wanted = [each for each in found if each["kind"] == kind]
    if not wanted:
        raise golang.BuildFailed(f"no {kind} where the pinned module should have it")
    yield from wanted


def _apikey_crd(kaito: Path) -> str:
    """KAITO ships this CRD only inside a chart inside a packed chart."""
    for chart in kaito.glob(_APIKEY_CHART):
        with tarfile.open(chart) as archive:
            for member in archive.getmembers():
                content = archive.extractfile(member)
                if member.name.endswith(_APIKEY_MEMBER) and content is not None:
                    return io.TextIOWrapper(content).read()
    raise golang.BuildFailed(f"no *{_APIKEY_MEMBER} in {_APIKEY_CHART} of {kaito}")


def _documents(text: str) -> list[Json]:
    return [each for each in yaml.load_all(text, _Loader) if each]


FILES: dict[str, Callable[[], Iterator[Json]]] = {
    "crds.json": _crds,
    "kwok-stages.json": _stages,
    "monitoring-crds.json": _monitoring_crds,
}

ON_DEMAND: dict[str, Callable[[], Iterator[Json]]] = {
    "alertmanager-crds.json": lambda: _of_operator("alertmanagerconfigs"),
}
"""Those that single tests need, written when these ask for them."""
