"""
What the catalogue must know of every probe, of those that do not exist yet as well.
"""

from collections.abc import Mapping

from reporter.model.entries import ProbeSpec
from reporter.stages.probes import PROBES
from reporter.stages.probes.pending import PENDING


SPECS: Mapping[str, ProbeSpec] = {spec.name: spec for spec in PENDING} | {
    name: probe.spec for name, probe in PROBES.items()
}
PENDING_NAMES: frozenset[str] = frozenset(spec.name for spec in PENDING) - PROBES.keys()
