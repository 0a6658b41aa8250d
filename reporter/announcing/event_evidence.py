"""
The observations behind a finding that no object shows any more, for the process that reads its Event back.
"""

from collections import defaultdict
from collections.abc import Collection

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.gateway_api import HTTP_ROUTES, INFERENCE_POOLS
from reporter.kinds.kaito import WORKSPACES, Workspace
from reporter.kinds.objects import Condition, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.announced import AnnouncedError
from reporter.model.enums import Layer
from reporter.model.sanitize import MAX_EVENT_MESSAGE_BYTES, sanitize, truncate_bytes
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef, Trouble
from reporter.resources.machines import find_workspace_error
from reporter.resources.routes import find_parts
from reporter.snapshot.snapshot import Snapshot


PARTS = (HTTP_ROUTES, INFERENCE_POOLS, DEPLOYMENTS)

MAX_EXISTED = 100
MAX_ERRORS = 10
MAX_WORKSPACES = 100
"""The most that an Event keeps: a group may be about thousands of InferenceSets."""


def find_existed(
    snapshot: Snapshot, subject: Subject, troubles: Collection[Trouble]
) -> tuple[tuple[str, str, str], ...]:
    """
    Return the objects that troubles name, and the parts of an InferenceSet, as far as they were seen.

    Each is its resource, namespace and name; there are at most MAX_EXISTED.
    """
    refs = {each.cause.object for each in troubles}
    refs |= {each.missing for each in troubles if each.missing is not None}
    if subject.layer is Layer.MODELDEPLOYMENT and _are_read(snapshot, *PARTS):
        refs |= {*find_parts(snapshot, subject)}
    existed = sorted(ref for ref in refs if snapshot.was_seen(ref))
    return tuple((ref.resource, ref.namespace, ref.name) for ref in existed[:MAX_EXISTED])


def find_errors(snapshot: Snapshot, troubles: Collection[Trouble]) -> tuple[AnnouncedError, ...]:
    """
    Return the last errors of the nodes of Workspaces that troubles are about.

    They are kept in the Event, as the provisioner deletes the objects that state them. Workspaces with the
    same error share an entry; there are at most MAX_ERRORS.
    """
    workspaces: dict[tuple[str, str, str, str], list[NamespacedName]] = defaultdict(list)
    refs = sorted({each.cause.object for each in troubles})
    is_read = _are_read(snapshot, WORKSPACES)
    refs = [ref for ref in refs if is_read and ref.resource == WORKSPACES.group_resource]
    for ref in refs[:MAX_WORKSPACES]:
        error = _find_error(snapshot, ref)
        if error is not None:
            text = truncate_bytes(sanitize(error.message or ""), MAX_EVENT_MESSAGE_BYTES)
            words = (error.type, error.status, error.reason or "", text)
            workspaces[words].append((ref.namespace, ref.name))
    return tuple(
        AnnouncedError(tuple(names), *words)
        for words, names in sorted(workspaces.items())[:MAX_ERRORS]
    )


def _are_read(snapshot: Snapshot, *kinds: ResourceKind) -> bool:
    return all(kind.table in snapshot.tables for kind in kinds)


def _find_error(snapshot: Snapshot, ref: ObjectRef) -> Condition | None:
    kept = snapshot.provisioning_errors.get((ref.namespace, ref.name))
    workspace = snapshot.peek(WORKSPACES, Workspace, ref.namespace, ref.name)
    return kept or (find_workspace_error(workspace) if workspace is not None else None)
