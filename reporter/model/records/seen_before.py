"""The observations of a predecessor that no object shows any more."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import NamespacedName
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """
    The part of Events that were read back which is about objects.

    *existed*: objects of which those that do not exist were deleted; *existed_of*: those of them that
    the Events of an InferenceSet name. *errors*: by Workspace, the last error of its nodes.
    """

    existed: frozenset[ObjectRef] = frozenset()
    existed_of: Mapping[Subject, tuple[ObjectRef, ...]] = field(default_factory=dict)
    errors: Mapping[NamespacedName, Condition] = field(default_factory=dict)

    def merged(self, other: Self) -> "SeenBefore":
        return SeenBefore(
            self.existed | other.existed,
            {**self.existed_of, **other.existed_of},
            {**self.errors, **other.errors},
        )


NOTHING_SEEN_BEFORE = SeenBefore()
