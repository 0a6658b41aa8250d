"""
What may happen to the stack: words of the stories, merged over those of the healthy one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from tests.support.cases.case_replay import CASES
from tests.support.cases.case_replay import HEALTHY_STACK as STACK
from tests.support.cases.objects import healthy_pods


CRDS: Mapping = STACK["crds"]
HEALTHY: Mapping = {**STACK["objects"], **healthy_pods(STACK["objects"].items())}


@dataclass(frozen=True)
class SimulatedTrouble:
    """
    *normal*: nothing that anybody should be told of, if it ends within a minute.
    """

    change: Mapping = field(default_factory=dict)
    crds: tuple[str, ...] = ()
    normal: bool = False


def _read() -> Mapping[str, SimulatedTrouble]:
    written = yaml.safe_load((CASES.parent / "simulation" / "troubles.yaml").read_text("utf-8"))
    return {
        name: SimulatedTrouble(
            words.get("change", {}), tuple(words.get("crds", ())), words.get("normal", False)
        )
        for name, words in written.items()
    }


TROUBLES = _read()
