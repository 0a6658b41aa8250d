"""
The probes that do not exist yet: their reasons stand in the catalogue and are off.

Whoever writes one of them takes its entry out of here.
"""

from reporter.model.entries import ProbeSpec


PENDING: tuple[ProbeSpec, ...] = ()
