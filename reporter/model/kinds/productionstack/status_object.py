"""
The base of the kinds of this program: users write the spec, and the program writes the status.
"""

from typing import Any

from reporter.model.kinds.base.objects import ApiObject, Metadata
from reporter.model.subjects import Subject


GROUP = "reporter.productionstack.kaito.sh"
VERSIONS = ("v1alpha1",)


class VersionedMetadata(Metadata, frozen=True):
    """Metadata of a kind whose objects are written: a write names the version that it is about."""

    resource_version: str = ""


class StatusObject(ApiObject, frozen=True):
    """*status*: as it is in the cluster, also if an earlier or later release wrote it."""

    metadata: VersionedMetadata
    status: dict[str, Any] | None = None

    @property
    def observed_generation(self) -> int:
        found = (self.status or {}).get("observedGeneration")
        return found if isinstance(found, int) else -1


def affects_none(_: StatusObject) -> tuple[Subject, ...]:
    """Return none: no verdict depends on what is only written."""
    return ()
