"""The observations of a predecessor that no object shows any more."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Self

from msgspec import Struct, field

from reporter.kinds.objects import Condition, NamespacedName
from reporter.model.enums import Reason
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef


class SeenBefore(Struct, frozen=True):
    """
    The knowledge about objects that the Events of a predecessor carry.

    *existed*: objects that it saw; those that do not exist now were deleted. *existed_of*: those
    of them that the Events of an InferenceSet name. *errors*: by Workspace, the last error of its
    nodes. *lost*: objects that were current, with the reasons by which they no longer are.
    """

    existed: frozenset[ObjectRef] = frozenset()
    existed_of: Mapping[Subject, frozenset[ObjectRef]] = field(default_factory=dict)
    errors: Mapping[NamespacedName, Condition] = field(default_factory=dict)
    lost: Mapping[ObjectRef, frozenset[Reason]] = field(default_factory=dict)

    @classmethod
    def union(cls, parts: Iterable[Self]) -> Self:
        """
        Join what several Events tell.

        Of two errors of one Workspace the later part wins; all else adds up.
        """
        existed: set[ObjectRef] = set()
        existed_of: defaultdict[Subject, set[ObjectRef]] = defaultdict(set)
        errors: dict[NamespacedName, Condition] = {}
        lost: defaultdict[ObjectRef, frozenset[Reason]] = defaultdict(frozenset)
        for part in parts:
            existed |= part.existed
            for subject, refs in part.existed_of.items():
                existed_of[subject] |= refs
            errors |= part.errors
            for ref, reasons in part.lost.items():
                lost[ref] |= reasons
        of_subjects = {subject: frozenset(refs) for subject, refs in existed_of.items()}
        return cls(frozenset(existed), of_subjects, errors, dict(lost))


NOTHING_SEEN_BEFORE = SeenBefore()
