"""The spec of every probe, by its name."""

from collections.abc import Mapping

from reporter.model.catalogue.entries import ProbeSpec
from reporter.stages.probes import PROBES


SPECS: Mapping[str, ProbeSpec] = {name: probe.spec for name, probe in PROBES.items()}
