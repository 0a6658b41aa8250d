"""
What is shipped: the catalogue, and the flags of a process that was given none.
"""

from pathlib import Path

from reporter.cli.configuration import shipped_catalogue
from reporter.model.subjects import CLUSTER
from reporter.model.words import Reason
from reporter.settings import load
from reporter.stages.probes.probe import Question


FLAGS = load([], {}, hostname="laptop", namespace_file=Path("/nowhere")).flags
CATALOGUE = shipped_catalogue()


def a_question(reason: str, **flags: str) -> Question:
    """
    What the probe of a cluster reason is asked; flags in snake case.
    """
    given = {name.replace("_", "-"): value for name, value in flags.items()}
    unknown = given.keys() - FLAGS.keys()
    assert not unknown, f"no such flag: {unknown}"
    entry = CATALOGUE[Reason(reason)]
    return Question(entry.reason, CLUSTER, entry.parameters, {**FLAGS, **given})
