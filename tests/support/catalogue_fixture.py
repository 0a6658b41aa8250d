"""
The shipped catalogue, and the default flags.
"""

from pathlib import Path

from reporter.cli.configuration import load_shipped_catalogue
from reporter.model.enums import Reason
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.settings import load_settings
from reporter.stages.probes.probe import ProbeRequest


DEFAULT_FLAGS = load_settings(
    [], {}, hostname="laptop", namespace_file=Path("/nowhere")
).flag_texts
DEFAULT_CATALOGUE = load_shipped_catalogue()


def a_probe_request(reason: str, **flags: str) -> ProbeRequest:
    """
    Return the request to the probe of a cluster reason; *flags* in snake case.
    """
    given = {name.replace("_", "-"): value for name, value in flags.items()}
    unknown = given.keys() - DEFAULT_FLAGS.keys()
    assert not unknown, f"no such flag: {unknown}"
    entry = DEFAULT_CATALOGUE[Reason(reason)]
    return ProbeRequest(
        entry.reason, CLUSTER_SUBJECT, entry.parameters, {**DEFAULT_FLAGS, **given}
    )
