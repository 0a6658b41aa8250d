"""The Deployments of the control plane of a healthy stack, from `components.yaml`."""

from pathlib import Path

import msgspec
from msgspec import Struct


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
