"""
The types of the catalogue's files: the one declaration of its keys.

The reader converts into them, and the JSON Schemas and the README's tables are rendered from them.
"""

from datetime import timedelta
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from msgspec import UNSET, Meta, field

from reporter.catalogue.entries import DEFAULT_SEVERITY, Scope
from reporter.catalogue.format_of_kinds import (
    CatalogueStruct,
    KindEntry,
    OptionalKey,
    SubjectEntry,
    Text,
    doc,
    matching,
)
from reporter.model.enums import EventType, Layer, Owner
from reporter.model.times import DURATION_PATTERN, parse_units


# --------------------------------------------------------------------
# Parse and format the catalogue's durations: 15s, 5m, 1h30m, or the word grace.


GRACE = "grace"
HOLD_PATTERN = rf"^{GRACE}$|{DURATION_PATTERN}"


def parse_duration(text: str) -> timedelta | None:
    """Return the duration, or None for the startup grace. Raise ValueError for any other text."""
    return None if text == GRACE else parse_units(text)


def format_duration(value: timedelta | None) -> str:
    """Return the text that ``parse_duration`` reads as *value*."""
    if value is None:
        return GRACE
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{n}{unit}" for n, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if n]
    return "".join(parts) or "0s"


Entry = TypeVar("Entry")
Change = TypeVar("Change")

HoldDuration = Annotated[
    str,
    matching(
        HOLD_PATTERN,
        "a duration such as 15s, 5m or 1h30m, or the word grace",
        examples=["15s", "5m", "1h30m", "grace"],
    ),
]
SettleDuration = Annotated[
    str, matching(DURATION_PATTERN, "a duration such as 30s, 5m or 1h30m", examples=["30s", "10m"])
]
Severity = Annotated[
    str,
    matching(
        r"^[A-Za-z0-9][-A-Za-z0-9_.]*$", "a word, such as critical, warning, info or none", most=63
    ),
]
Rank = Annotated[int, Meta(ge=0, extra={"is": "a whole number, 0 or more"})]
ReasonName = Annotated[
    str,
    matching(
        r"^[a-z]+[A-Z][A-Za-z]*$",
        "a reason: its layer's prefix, then words in CamelCase",
        most=128,
    ),
]
Remedy = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=300,
        extra={"is": "a sentence of at most 300 characters"},
    ),
]


class Hold(CatalogueStruct, frozen=True, kw_only=True):
    """The hold for each kind of trouble. `grace` stands for --startup-grace-seconds."""

    declared: Annotated[
        OptionalKey[HoldDuration],
        doc("Configured so by someone: replicas 0, an invalid annotation. Absent: 0s."),
    ] = UNSET
    failed: Annotated[
        OptionalKey[HoldDuration],
        doc("A component reports a hard error: image pull, crash loop. Absent: 15s."),
    ] = UNSET
    lost: Annotated[
        OptionalKey[HoldDuration],
        doc("It worked and stopped working, with no change in progress. Absent: 30s."),
    ] = UNSET
    starting: Annotated[
        OptionalKey[HoldDuration],
        doc(
            "New, rolling out, scaling up or draining. Absent: grace. At least the grace, and "
            "none with a grace of 0, unless the key `grace` is false."
        ),
    ] = UNSET


class Suppresses(CatalogueStruct, frozen=True, kw_only=True):
    """A row of the suppression table: what is suppressed while this reason's component is out."""

    reason: Annotated[
        OptionalKey[str], doc("The suppressed reason, of the same layer or a lower one.")
    ] = UNSET
    crd_of: Annotated[
        bool,
        doc(
            "Instead of a reason: every reason whose probe requires the missing CRD. Only for "
            "the one reason whose probe is `crds`."
        ),
    ] = False
    scope: Annotated[
        Scope,
        doc(
            "`cluster` for reasons of the cluster layer: all subjects. `namespace` for the "
            "others: the subjects of the same namespace."
        ),
    ]
    why: Annotated[Text, doc("What the suppressed check lacks meanwhile.")]
    enabled: Annotated[
        bool, doc("false to announce both; an overlay writes `does-not-suppress` instead.")
    ] = True


class OnPathOf(CatalogueStruct, frozen=True, kw_only=True):
    """A row of the path of requests: the subjects that answer none while this reason's finding is out."""

    subject: Annotated[
        Text,
        doc(
            "The kind of these subjects, as under `subjects`: all in the cluster for a reason of the "
            "cluster, those of the same namespace for one of a namespace, else the one that the finding is about."
        ),
    ]
    except_: Annotated[
        list[Text],
        doc("Codes, or names of objects, of causes for which requests are answered all the same."),
    ] = field(default=[], name="except")
    only: Annotated[
        list[Text],
        doc("The codes, or names of objects, of the only causes that count; absent: all."),
    ] = []
    where_called: Annotated[
        bool,
        doc(
            "true to count it only in namespaces of which an EnvoyFilter calls the Service with the "
            "name of the cause's object."
        ),
    ] = False
    why: Annotated[Text, doc("What becomes of a request meanwhile.")]


class ReasonEntry(CatalogueStruct, frozen=True, kw_only=True):
    """One reason: what it is about, the probe that evaluates it, and what its Events say."""

    reason: Annotated[ReasonName, doc("Its name, a public API: reasons are added, never renamed.")]
    layer: Annotated[
        Layer, doc("The layer that it belongs to; the prefix of its name must agree.")
    ]
    subject: Annotated[
        OptionalKey[Text],
        doc(
            "The kind of its subjects, as under `subjects`. Absent: the only kind that its pack has in "
            "the layer, else the one that is plain."
        ),
    ] = UNSET
    type: Annotated[
        EventType,
        doc(
            "`Normal` for the one reason of each layer and kind of subject that announces recovery."
        ),
    ]
    owner: Annotated[Owner, doc("Who must act.")]
    severity: Annotated[
        Severity, doc("The label `severity` of its alerts; with `none` there are no such alerts.")
    ] = DEFAULT_SEVERITY
    severity_while_out: Annotated[
        OptionalKey[Severity],
        doc(
            "That of a further alert while its component is out, and not only worse than it should "
            "be. Absent: there is none."
        ),
    ] = UNSET
    meaning: Annotated[OptionalKey[Text], doc("What it means for users, for docs/reasons.md.")] = (
        UNSET
    )
    rank: Annotated[
        OptionalKey[Rank],
        doc(
            "Of a subject's findings the one with the lowest number is announced. Unique in a "
            "layer."
        ),
    ] = UNSET
    orthogonal: Annotated[
        bool,
        doc("Instead of a rank: announced independently; the layer's Ready does not wait for it."),
    ] = False
    enabled: Annotated[
        bool, doc("false for a reason that is evaluated only if an overlay enables it.")
    ] = True
    probe: Annotated[
        OptionalKey[str], doc("The probe that evaluates it. Normal reasons have none.")
    ] = UNSET
    parameters: Annotated[
        OptionalKey[dict[str, Any]],
        doc(
            "Settings of the probe; each probe has its own. A key that ends in `-flag` names a "
            "flag of the process, whose value is used."
        ),
    ] = UNSET
    hold: Annotated[
        OptionalKey[Hold], doc("How long trouble must last before it is announced, by its kind.")
    ] = UNSET
    settle: Annotated[
        OptionalKey[SettleDuration],
        doc("How long it must be clear before the finding ends. Absent: --settle-seconds."),
    ] = UNSET
    window: Annotated[
        OptionalKey[SettleDuration],
        doc(
            "How long it may be Unknown or settling before the status calls its subject stalled. "
            "Absent: 5m in layer cluster, 15m in modelharness, 30m in modeldeployment."
        ),
    ] = UNSET
    grace: Annotated[
        bool,
        doc(
            "Whether findings about what is new, just deleted or only starting wait for "
            "--startup-grace-seconds."
        ),
    ] = True
    message: Annotated[
        Text,
        doc(
            "What is wrong and where. `{field}` stands for a value from the probe, "
            "`{namespace}` and `{inferenceset}`, or another kind in lower case, for those of the subject, and `{foreign}` for "
            "the text of other components, which otherwise follows at the end."
        ),
    ]
    example: Annotated[
        OptionalKey[Text], doc("A message as it was announced in a case, for docs/reasons.md.")
    ] = UNSET
    remedy: Annotated[
        OptionalKey[dict[str, Remedy]],
        doc(
            "What to do, by code of the cause; `default` is for all others. A code with a dot "
            "is looked up as a whole, then by its second part, then by its first."
        ),
    ] = UNSET
    runbook: Annotated[
        OptionalKey[list[Text]],
        doc("What an operator does first, step by step, for docs/reasons.md."),
    ] = UNSET
    suppresses: Annotated[
        list[Suppresses], doc("The reasons that are suppressed while this one is out.")
    ] = []
    on_path_of: Annotated[
        list[OnPathOf], doc("The subjects whose requests need what this reason is about.")
    ] = []


class CatalogueFile(CatalogueStruct, Generic[Entry], frozen=True, kw_only=True):
    """A file of the catalogue: reasons, the subjects they are about, and the kinds they read."""

    reasons: Annotated[list[Entry], doc("In any order.")] = []
    subjects: Annotated[
        list[SubjectEntry], doc("What the reasons of this pack are about, beside the cluster.")
    ] = []
    kinds: Annotated[
        list[KindEntry], doc("The kinds that reasons with the probe `cel` read.")
    ] = []


class Override(CatalogueStruct, frozen=True, kw_only=True):
    """Changes to a reason. Of hold and parameters, only the keys given here change."""

    enabled: Annotated[
        OptionalKey[bool],
        doc("false switches the reason off: it is not evaluated. true switches one on."),
    ] = UNSET
    rank: Annotated[OptionalKey[Rank], doc("Another rank.")] = UNSET
    severity: Annotated[OptionalKey[Severity], doc("Another severity of its alerts.")] = UNSET
    severity_while_out: Annotated[
        OptionalKey[Severity],
        doc("That of a further alert while its component is out; `none`: no such alert."),
    ] = UNSET
    hold: Annotated[OptionalKey[Hold], doc("Other holds.")] = UNSET
    settle: Annotated[OptionalKey[SettleDuration], doc("Another settle.")] = UNSET
    window: Annotated[OptionalKey[SettleDuration], doc("Another window.")] = UNSET
    parameters: Annotated[OptionalKey[dict[str, Any]], doc("Other parameters of its probe.")] = (
        UNSET
    )
    does_not_suppress: Annotated[
        list[Text],
        doc(
            "Reasons that it suppresses otherwise, and that are announced beside it; `crd-of` for "
            "all those that need the missing CRD."
        ),
    ] = []
    on_path_of: Annotated[
        OptionalKey[list[OnPathOf]],
        doc("Other subjects whose requests need it; an empty list: none."),
    ] = UNSET


class OverlayFile(CatalogueStruct, Generic[Change, Entry], frozen=True, kw_only=True):
    """An overlay: changes to the shipped reasons, and reasons of one's own."""

    reasons: Annotated[dict[str, Change], doc("Changes, by reason.")] = {}
    add: Annotated[list[Entry], doc("Whole entries, evaluated by a probe that exists.")] = []
    kinds: Annotated[
        list[KindEntry], doc("The kinds that reasons with the probe `cel` read.")
    ] = []


UnreadEntry: TypeAlias = dict[str, Any]
"""
Stands for an entry in the first reading of a file, so that entries are read and refused one by one.
"""
