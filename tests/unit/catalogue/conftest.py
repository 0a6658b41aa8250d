from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from reporter.catalogue.entries import Catalogue, ProbeSpec
from reporter.catalogue.loader import load_catalogue
from reporter.catalogue.problems import CatalogueError


CLUSTER = """\
reasons:
  - reason: clusterRouterNotReady
    layer: cluster
    type: Warning
    owner: platform
    rank: 10
    probe: things
    parameters: { name-flag: router-deployment, sizes: [1, 2] }
    message: "{object} {state}."
    remedy: { default: Mend it., Broken: Replace it. }
    suppresses:
      - reason: modelharnessGateNotReady
        scope: cluster
        why: It is what the gate is made of.
  - reason: clusterScalerNotReady
    layer: cluster
    type: Warning
    owner: platform
    rank: 20
    probe: things
    hold: { lost: 1m, starting: grace }
    settle: 5m
    message: "{object} {state}."
    remedy: { default: Mend it. }
  - reason: clusterReady
    layer: cluster
    type: Normal
    owner: platform
    message: All is well.
"""
HARNESS = """\
reasons:
  - reason: modelharnessGateNotReady
    layer: modelharness
    type: Warning
    owner: platform
    rank: 10
    probe: things
    message: "{namespace}: {object} {state}."
    remedy: { default: Mend it. }
  - reason: modelharnessDoorNotReady
    layer: modelharness
    type: Warning
    owner: platform
    rank: 20
    probe: later
    message: "{namespace}: it is closed."
    remedy: { default: Open it. }
  - reason: modelharnessReady
    layer: modelharness
    type: Normal
    owner: platform
    message: "{namespace} is well."
"""
MODEL = """\
reasons:
  - reason: inferencesetSlow
    layer: modeldeployment
    type: Warning
    owner: user
    orthogonal: true
    probe: things
    grace: false
    message: "{namespace}/{inferenceset}: {foreign}."
    remedy: { default: Wait. }
  - reason: inferencesetReady
    layer: modeldeployment
    type: Normal
    owner: user
    message: "{namespace}/{inferenceset} is well."
"""
PACK = """\
subjects:
  - layer: modelharness
    kind: Namespace
    about: a namespace
    prefix: modelharness
    plain: true
    labels: { harness: "yes" }
  - layer: modeldeployment
    kind: InferenceSet
    about: one InferenceSet
    plain: true
    namespaces: all
"""
FILES = {
    "pack.yaml": PACK,
    "cluster.yaml": CLUSTER,
    "modelharness.yaml": HARNESS,
    "modeldeployment.yaml": MODEL,
}


class SampleParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    name_flag: str = ""
    sizes: tuple[int, ...] = ()


SPECS = {
    "things": ProbeSpec(
        "things",
        SampleParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"Broken", "Lost"}),
        required_crds=lambda p: frozenset({"things.test"}) if p.name_flag else frozenset(),
    ),
    "later": ProbeSpec("later", SampleParameters),
}
FLAGS = frozenset({"router-deployment", "router-namespace"})

Loading = Callable[..., Catalogue]


@pytest.fixture
def loading(tmp_path: Path) -> Loading:
    """Load the small catalogue, with the first *old* replaced by *new*."""

    def load_it(old: str = "", new: str = "", *, overlay: str | None = None) -> Catalogue:
        changed = next(name for name, text in FILES.items() if old in text)
        for name, text in FILES.items():
            (tmp_path / name).write_text(text.replace(old, new, 1) if name == changed else text)
        over = tmp_path / "over.overlay"
        over.write_text(overlay or "")
        return load_catalogue(
            tmp_path,
            over if overlay is not None else None,
            specs=SPECS,
            flags=FLAGS,
            packs=(),
        )

    return load_it


@pytest.fixture
def refused(loading: Loading, tmp_path: Path) -> Callable[..., list[str]]:
    """Return the problems of a refused catalogue, with file names only."""

    def problems(old: str = "", new: str = "", *, overlay: str | None = None) -> list[str]:
        with pytest.raises(CatalogueError) as refusal:
            loading(old, new, overlay=overlay)
        return [str(p).removeprefix(f"{tmp_path}/") for p in refusal.value.problems]

    return problems
