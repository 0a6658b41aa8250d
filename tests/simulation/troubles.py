"""
The troubles of the simulation: descriptions of objects, merged over those of the healthy stack.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reporter.stories.healthy_stack import HEALTHY_STACK
from reporter.stories.objects import healthy_pods
from tests.support.cases import CASES, read_yaml


CRDS: Mapping = HEALTHY_STACK["crds"]
HEALTHY: Mapping = {**HEALTHY_STACK["objects"], **healthy_pods(HEALTHY_STACK["objects"].items())}


@dataclass(frozen=True)
class SimulatedTrouble:
    """
    One trouble.

    *change*: descriptions of objects by address; None deletes the object.
    *crds*: the CRDs that are not served.
    *normal*: a normal change, which is not announced if it ends within a minute.
    """

    change: Mapping = field(default_factory=dict)
    crds: tuple[str, ...] = ()
    normal: bool = False


def _read() -> Mapping[str, SimulatedTrouble]:
    troubles = read_yaml(CASES.parent / "simulation" / "troubles.yaml")
    return {
        name: SimulatedTrouble(
            each.get("change", {}), tuple(each.get("crds", ())), each.get("normal", False)
        )
        for name, each in troubles.items()
    }


TROUBLES = _read()
