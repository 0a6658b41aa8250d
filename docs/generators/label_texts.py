"""
The labels of the metrics: what their values are and mean, from which docs/metrics.md is generated.

A test finds here each label of each metric, and each member of the closed sets.
"""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from reporter.kinds.health_events import Phase, StoreLimit, StoreWriteResult
from reporter.kube.event_record import WriteResult
from reporter.metrics import declarations
from reporter.metrics.declarations import MetricDeclaration
from reporter.metrics.process import ReloadResult
from reporter.model.enums import ClosedConnection, Layer, Owner
from reporter.model.object_status import WriteObjectResult
from reporter.model.silences import SilenceState
from reporter.model.states import COUNTED_STATES
from reporter.scrape.samples import ScrapeResult
from reporter.scrape.schedule import LastOutcome


class ClosedSet(Struct, frozen=True):
    """
    The values of one label, each explained: its meaning, and what happens next where that is worth a word.

    *heading*: of their table.
    """

    label: str
    metrics: tuple[MetricDeclaration, ...]
    heading: str
    values: Mapping[Enum, tuple[str, ...]]


class LabelText(Struct, frozen=True):
    """
    A Markdown text about the values of labels. *metrics*: of which; of all that have them if empty.
    """

    labels: tuple[str, ...]
    text: str
    metrics: tuple[MetricDeclaration, ...] = ()


RETRIED = "sent again with back-off"
RETRIED_AND_LOGGED = f"{RETRIED}; the log names the cause once"
THROTTLED = ("429", "sent again, not before `Retry-After`, a minute at most")
AMISS = f"{RETRIED}, and logged as an error"

CLOSED_SETS = (
    ClosedSet(
        "result",
        (declarations.EVENT_WRITES, declarations.MIRROR_WRITES),
        "Results of a request to write an Event",
        {
            WriteResult.CREATED: ("the Event is new",),
            WriteResult.PATCHED: ("the Event existed and has a new count or text",),
            WriteResult.FOUND: (
                (
                    "the Event already existed with this text: an earlier request did arrive, or another "
                    "leader wrote it"
                ),
            ),
            WriteResult.EXPIRED: ("the Event to patch no longer exists", "it is created anew"),
            WriteResult.REFUSED: (
                "401, 403, or a webhook or policy that refuses or fails, whatever its code",
                RETRIED_AND_LOGGED,
            ),
            WriteResult.THROTTLED: THROTTLED,
            WriteResult.UNCERTAIN: (
                "no answer, and the API server may have stored it",
                "sent again under the same name, so nothing is doubled",
            ),
            WriteResult.FAILED: ("any other error, or no connection", RETRIED),
            WriteResult.DROPPED: (
                "the API server finds the Event itself invalid",
                "not sent again: this is a fault of the reporter, and logged as an error",
            ),
        },
    ),
    ClosedSet(
        "result",
        (declarations.STATUS_OBJECT_WRITES,),
        "Results of a request to write the status of a [status object](status-objects.md)",
        {
            WriteObjectResult.WRITTEN: (
                "the status is as it was sent, or as far as the CRD has its fields",
            ),
            WriteObjectResult.CONFLICT: (
                "the object was changed meanwhile",
                "looked at and sent again",
            ),
            WriteObjectResult.GONE: (
                "the object or its CRD was deleted",
                "forgotten once the watch shows that",
            ),
            WriteObjectResult.REFUSED: (
                "401, 403, or a webhook or policy that refuses",
                RETRIED_AND_LOGGED,
            ),
            WriteObjectResult.THROTTLED: THROTTLED,
            WriteObjectResult.FAILED: ("any other error, or no answer", RETRIED),
            WriteObjectResult.INVALID: (
                "the CRD does not allow the status: it is of another release, or the reporter has a fault",
                AMISS,
            ),
        },
    ),
    ClosedSet(
        "result",
        (declarations.STORE_WRITES,),
        "Results of a request to create, patch or delete a [HealthEvent](health-events.md)",
        {
            StoreWriteResult.CREATED: ("the object is new",),
            StoreWriteResult.FOUND: (
                "the object existed already: an earlier create had arrived, or a predecessor's",
                "the watch shows it",
            ),
            StoreWriteResult.PATCHED: ("its status was changed",),
            StoreWriteResult.DELETED: ("it was deleted",),
            StoreWriteResult.CONFLICT: (
                "the object was changed meanwhile",
                "looked at and sent again",
            ),
            StoreWriteResult.GONE: (
                "the object or its CRD was deleted",
                "made again if it is wanted",
            ),
            StoreWriteResult.REFUSED: (
                "401, 403, or a webhook, policy or quota that refuses",
                RETRIED_AND_LOGGED,
            ),
            StoreWriteResult.THROTTLED: THROTTLED,
            StoreWriteResult.FAILED: (
                "any other error, or no answer",
                f"{RETRIED} under the same name",
            ),
            StoreWriteResult.INVALID: (
                "the CRD does not allow the object: it is of another release, or the reporter has a fault",
                AMISS,
            ),
        },
    ),
    ClosedSet(
        "limit",
        (declarations.STORE_REJECTED,),
        "Limits of HealthEvents",
        {
            StoreLimit.NODE: ("`--store-max-per-node`: its node has as many",),
            StoreLimit.CLUSTER: ("`--store-max`: there are as many in total",),
        },
    ),
    ClosedSet(
        "phase",
        (declarations.STORE_OBJECTS,),
        "Phases of HealthEvents",
        {
            Phase.ACTIVE: ("the episode goes on",),
            Phase.RESOLVED: ("it has ended; the object is deleted after `--store-retention`",),
        },
    ),
    ClosedSet(
        "result",
        (declarations.OVERLAY_RELOADS,),
        "Results of loading a changed overlay",
        {
            ReloadResult.APPLIED: ("the catalogue has the change",),
            ReloadResult.REFUSED: (
                "it is invalid; the log says why",
                "the overlay before stays in effect",
            ),
        },
    ),
    ClosedSet(
        "result",
        (declarations.SCRAPES,),
        "Results of an attempt to read the metrics page of a model pod",
        {
            ScrapeResult.READ: ("the page was read",),
            ScrapeResult.REFUSED: ("nothing listens at the port",),
            ScrapeResult.UNREACHABLE: ("no connection: no route, or packets are dropped",),
            ScrapeResult.TIMED_OUT: ("connected, but no whole page in time",),
            ScrapeResult.FAILED: ("an answer other than 200, or none",),
            ScrapeResult.UNUSABLE: (
                "a redirect, compressed, or no page of metrics; also one that is too large for the proxy",
            ),
            ScrapeResult.TOO_COSTLY: (
                "the page has more bytes, lines or samples than are read, or takes too long",
                "it is read ever less often",
            ),
            ScrapeResult.FORBIDDEN: ("the API server does not allow `pods/proxy`",),
            ScrapeResult.BARRED: (
                "an address that the reporter never connects to, such as loopback or link-local",
            ),
        },
    ),
    ClosedSet(
        "outcome",
        (declarations.SCRAPE_PAGES,),
        "Outcomes of the last attempt to read a metrics page",
        {
            LastOutcome.SUCCEEDED: ("it was read",),
            LastOutcome.FAILED: ("it was not",),
            LastOutcome.NEW: ("there was none yet",),
        },
    ),
    ClosedSet(
        "cause",
        (declarations.CLOSED_CONNECTIONS,),
        "Causes for which a connection of an HTTP client is closed early",
        {
            ClosedConnection.MALFORMED: (
                "no HTTP/1 request, such as one over TLS; answered with 400",
            ),
            ClosedConnection.SLOW_REQUEST: (
                "the head of a request did not arrive within 5 s; answered with 408",
            ),
            ClosedConnection.SLOW_READER: ("the client did not read a response within 60 s",),
            ClosedConnection.IDLE: (
                "no request within 5 s of connecting, or within 75 s of the one before",
            ),
            ClosedConnection.CROWDED_OUT: (
                "the address had as many connections as it may have, and this client most of them",
            ),
        },
    ),
    ClosedSet(
        "state",
        (declarations.SILENCES, declarations.SILENCE_UNTIL),
        "States of a [silence](silences.md)",
        {
            SilenceState.ACTIVE: ("what it is about is not announced",),
            SilenceState.EXPIRED: ("it has ended", "remove it"),
            SilenceState.MALFORMED: ("a part of it is wrong, so it silences nothing",),
            SilenceState.INAPPLICABLE: (
                "it is about no subject that exists, or only about reasons that are not evaluated",
            ),
        },
    ),
)


def _quoted(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{each}`" for each in values)


_ROLLUP_STATES = (
    declarations.ROLLUP_STATE,
    declarations.ROLLUP_INFERENCE_SETS,
    declarations.ROLLUP_PACKAGE_INFO,
)

LABEL_TEXTS = (
    LabelText(("layer",), _quoted(tuple(Layer))),
    LabelText(
        ("reason",),
        "every Warning reason of the [catalogue](../catalogue/README.md), also those of an overlay",
    ),
    LabelText(("owner",), f"who must act: {_quoted(tuple(Owner))}"),
    LabelText(
        ("inferenceset",),
        "the InferenceSet by its name, an object of another kind that is a subject of a [pack](packs.md) as "
        "`KIND/NAME`; empty for the cluster and a namespace, and for what has no series of its own",
    ),
    LabelText(
        ("state",),
        "see [below](#states); `subjects` has `clear` as well",
        (declarations.REASON_STATE, declarations.SET_STATE, declarations.SUBJECTS),
    ),
    LabelText(
        ("cause", "cause_namespace"),
        "the announced reason that suppresses another one, and the namespace of its subject",
        (declarations.SUPPRESSION_INFO,),
    ),
    LabelText(
        ("verb", "code"),
        "`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`; the status code, `error` without a "
        "response, `other` for a number that is none",
        (declarations.API_REQUESTS,),
    ),
    LabelText(("severity",), "of the reason in the catalogue, such as `critical` or `warning`"),
    LabelText(
        ("workload_namespace",),
        "the namespace of the subject; empty for the cluster layer and in the series that exist from the "
        "start. Not `namespace`, because a ServiceMonitor sets that label to the namespace of the reporter's "
        "own pod",
    ),
    LabelText(
        ("kind",), "a watched resource with its API group, such as `pods` or `deployments.apps`"
    ),
    LabelText(
        ("verb", "resource"),
        "a permission, such as `list` of `deployments.apps`; for all that are needed with the given flags. "
        "`events` are those of `kube-system`; mirrors need `events in all namespaces`",
        (declarations.MISSING_RIGHTS,),
    ),
    LabelText(
        ("reasons", "by", "origin"),
        "the reasons with commas between them, or `all`; who, as it is written; where it is written",
    ),
    LabelText(
        ("path",), "how pages of pods are read: `direct`, or `proxy` through the API server"
    ),
    LabelText(("scope",), "`cluster`, `namespace`"),
    LabelText(
        ("state",),
        f"{_quoted(tuple(each.key for each in COUNTED_STATES))}: see [status.md](status.md#states)",
        _ROLLUP_STATES,
    ),
    LabelText(("count",), "`desired`, `updated`, `ready`"),
    LabelText(
        ("code", "actionability", "stalled"),
        "cause code of a reason; `transient`, `user` or `platform`; `true` or `false`",
        (declarations.ROLLUP_BLOCKING_INFO, declarations.ROLLUP_STALLED),
    ),
    LabelText(
        ("package", "revision"),
        "name and version of the chart that labels the namespace's Gateway (`helm.sh/chart`)",
    ),
    LabelText(("version", "python_version"), "of the program, and of the Python that runs it"),
    LabelText(("cluster_uid",), "UID of the namespace kube-system"),
    LabelText(
        ("what", "right"),
        "`namespaces` that are Unknown, `layers` that cannot all be listed; a permission, such as `list pods`",
    ),
    LabelText(("reads",), "`pages` for a reason that reads metrics pages; others have none"),
)
