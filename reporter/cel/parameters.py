"""The parameters of a reason in CEL, as an entry of the catalogue gives them."""

from typing import Any

import msgspec
from msgspec import Struct


class SubjectParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The way from an object to its subject: the value of a *label*, or an *owner* of this kind.

    *group*: the API group of the owner, empty for the core group; None for that of the known kind.
    Without either the subject is the namespace of the object, or the InferenceSet in the label of
    KAITO.
    """

    label: str = ""
    owner: str = ""
    group: str | None = None


class CelParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The parameters as an entry gives them. *kind*: one that the catalogue declares.

    All other texts are expressions about an object of that kind, empty if they are not given.
    *current*: true while the object is as its spec wants it. The others count while it is not.
    *failed*: true if a component reports a hard error. *in_progress*: true for a normal start or change.
    *text*: what the object says. *cause*: a word that stays the same while the cause does. *since*: when
    the trouble began.

    *needed_by*: kinds whose objects need one of *kind*. *parameters*: values for the expressions.
    """

    kind: str
    current: str
    failed: str = ""
    in_progress: str = msgspec.field(default="", name="inProgress")
    text: str = ""
    cause: str = ""
    since: str = ""
    subject: SubjectParameters = SubjectParameters()
    needed_by: tuple[str, ...] = msgspec.field(default=(), name="neededBy")
    parameters: dict[str, Any] = {}
