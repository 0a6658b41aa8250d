"""
Every probe there is: the list is here to be read, nothing registers itself.
"""

from collections.abc import Mapping

from reporter.stages.probes.cluster import crds, deployments
from reporter.stages.probes.probe import Probe


PROBES: Mapping[str, Probe] = {probe.spec.name: probe for probe in (crds.PROBE, deployments.PROBE)}
