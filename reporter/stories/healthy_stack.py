"""The healthy stack that every story starts from."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS


# --------------------------------------------------------------------
# The Deployments of the control plane of a healthy stack, from `components.yaml`.


class ExampleComponent(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    A Deployment of the control plane.

    *rolling_update*: of its strategy, where it is not the default.
    *switched_on_by*: the flag that names it, if it is not part of a plain installation.
    """

    namespace: str
    name: str
    labels: dict[str, str]
    replicas: int = 1
    rolling_update: dict[str, str | int] = {}
    switched_on_by: str = ""


KNOWN_COMPONENTS: tuple[ExampleComponent, ...] = msgspec.yaml.decode(
    (Path(__file__).parent / "components.yaml").read_bytes(),
    type=tuple[ExampleComponent, ...],
)
COMPONENTS = tuple(each for each in KNOWN_COMPONENTS if not each.switched_on_by)
"""Those of a plain installation."""

NAMESPACES = tuple(sorted({each.namespace for each in COMPONENTS}))


KAITO = "kaito"


def _load() -> Mapping[str, Mapping[str, Any]]:
    stack = msgspec.yaml.decode((Path(__file__).parent / "stack.yaml").read_bytes())
    objects = {**dict(_control_plane()), **stack["objects"]}
    return {"objects": objects, "crds": {**dict(_served_versions()), **stack["crds"]}}


def _control_plane() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for namespace in NAMESPACES:
        yield f"Namespace {namespace}", {}
    for each in COMPONENTS:
        description = {"replicas": each.replicas, "labels": each.labels}
        yield f"Deployment {each.namespace}/{each.name}", description


def _served_versions() -> Iterator[tuple[str, list[str]]]:
    for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS):
        if not kind.is_built_in:
            yield kind.group_resource, list(kind.versions)


HEALTHY_STACK = _load()
"""
The objects of the healthy stack in the notation of stories, as "objects", and by CRD the versions that are
served, as "crds"; None for a CRD that is not served.
"""


def stack_before(packs: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
    """
    Return what there is before a story: all of a stack of KAITO, if that is one of its packs.

    The stories of other packs give all that there is.
    """
    return HEALTHY_STACK["objects"] if KAITO in packs else {"Namespace kube-system": {}}
