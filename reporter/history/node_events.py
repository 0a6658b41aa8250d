"""
Episodes as NVSentinel's objects: a fault of a node, and its recovery as a second object.

Both together are one episode: the plan sees them as one HealthEvent, Active without a recovery.
Neither of them ever changes, as their status is other controllers'.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

import msgspec

from reporter.announcing.schedule import PublishContext
from reporter.history.desired import nodes_in_trouble
from reporter.history.existing import Patch
from reporter.kinds.health_events import (
    HealthEvent,
    HealthEventSpec,
    Phase,
    ProcessingStrategy,
    RecommendedAction,
    Resolution,
    subject_of,
)
from reporter.kinds.nvsentinel import NodeHealthEvent, NodeHealthEventSpec
from reporter.model.enums import Layer, Owner, Reason
from reporter.model.sanitize import MAX_EVENT_MESSAGE_BYTES, truncate_bytes
from reporter.model.states import Actionability
from reporter.model.subjects import FindingKey


RECOVERY_OF, RESOLUTION = "recoveryOf", "resolution"
"""Entries of the metadata of a recovery: the name of the fault, and how the episode has ended."""

SCHEMA_VERSION = 1


class NodeEpisode(NamedTuple):
    """
    One episode on one node. *found*: as the plan sees it. *objects*: its fault, then its recovery.
    """

    found: HealthEvent
    objects: tuple[NodeHealthEvent, ...]


class NodeEpisodes(NamedTuple):
    """
    The episodes that objects show.

    *by_name*: the episodes by the name of their fault.
    *unread*: objects that are not of this program's making, although they have its label.
    """

    by_name: Mapping[str, NodeEpisode]
    unread: frozenset[str]

    @property
    def unfit(self) -> frozenset[str]:
        """The names of the faults whose episode has an object that may trigger remediation."""
        found = self.by_name.items()
        return frozenset(
            name for name, each in found if not all(o.spec.triggers_nothing for o in each.objects)
        )


def make_fault(spec: HealthEventSpec) -> NodeHealthEventSpec:
    """
    Return the spec of NVSentinel's HealthEvent that reports an episode on a node as not healthy.

    What NVSentinel has no field for is in its metadata.
    """
    facts = {
        "layer": spec.layer.value,
        "subject": spec.subject,
        "item": spec.item,
        "episode": str(spec.episode),
        "owner": spec.owner.value,
        "actionability": spec.actionability.value,
        "remedy": spec.remedy,
    }
    return NodeHealthEventSpec(
        agent=spec.agent,
        component_class=spec.component_class.value,
        check_name=spec.check_name,
        is_fatal=spec.is_fatal,
        is_healthy=False,
        message=spec.message,
        generated_timestamp=spec.generated_timestamp,
        node_name=spec.node_name,
        metadata={name: text for name, text in facts.items() if text},
        error_code=spec.error_code,
        entities_impacted=spec.entities_impacted,
        recommended_action=spec.recommended_action.value,
        processing_strategy=spec.processing_strategy.value,
        version=SCHEMA_VERSION,
    )


def find_recovery(
    patch: Patch, existing: Iterable[HealthEvent], context: PublishContext, *, now: datetime
) -> NodeHealthEventSpec | None:
    """
    Return the recovery that a patch becomes; None if the objects of its episode are deleted instead.

    They are deleted if the episode goes on, or if a later one of the same trouble runs. The fault is then
    created anew, so that whoever follows the objects sees one again.
    """
    found, status = patch.found, patch.status
    if status.get("phase") != Phase.RESOLVED or is_replaced(found, existing, context):
        return None
    return make_recovery(found, Resolution(status["resolution"]), now=now)


def make_recovery(found: HealthEvent, end: Resolution, *, now: datetime) -> NodeHealthEventSpec:
    """
    Return the second object of an episode, which says that it is over.

    The fields that NVSentinel compares are as in the first: node, check, entities and codes.
    """
    spec = found.spec
    fault = make_fault(spec)
    text = f"{spec.check_name} of {spec.subject} is over on node {spec.node_name} ({end.value})."
    return msgspec.structs.replace(
        fault,
        is_fatal=False,
        is_healthy=True,
        message=truncate_bytes(text, MAX_EVENT_MESSAGE_BYTES),
        generated_timestamp=now.replace(microsecond=0),
        metadata={
            **fault.metadata,
            RECOVERY_OF: found.metadata.name,
            RESOLUTION: end.value,
        },
    )


def is_replaced(
    found: HealthEvent, existing: Iterable[HealthEvent], context: PublishContext
) -> bool:
    """
    Return whether a later episode of the same trouble runs on the same node. It may have no object yet.

    A recovery of the earlier episode would then read as the end of the later one.
    """
    spec = found.spec
    key = FindingKey(subject_of(spec), Reason(spec.check_name), spec.item)
    return spec.node_name in nodes_in_trouble(key, context) or any(
        each.phase is Phase.ACTIVE
        and each.spec.episode > found.spec.episode
        and _identity(each.spec) == _identity(found.spec)
        for each in existing
    )


def _identity(spec: HealthEventSpec) -> tuple[str, ...]:
    return (spec.layer.value, spec.subject, spec.check_name, spec.item, spec.node_name)


def pair_objects(objects: Iterable[NodeHealthEvent]) -> NodeEpisodes:
    """
    Return the episodes of these objects. A recovery without its fault is an episode that is over.
    """
    episodes: dict[str, NodeEpisode] = {}
    unread: set[str] = set()
    recoveries: list[NodeHealthEvent] = []
    for each in objects:
        spec = _read(each.spec)
        if spec is None:
            unread.add(each.metadata.name)
        elif each.spec.is_healthy:
            recoveries.append(each)
        else:
            found = HealthEvent(metadata=each.metadata, spec=spec, status={})
            episodes[each.metadata.name] = NodeEpisode(found, (each,))
    for each in recoveries:
        name = each.spec.metadata.get(RECOVERY_OF) or each.metadata.name
        episodes[name] = _with_recovery(name, episodes.get(name), each)
    return NodeEpisodes(episodes, frozenset(unread))


def _with_recovery(
    name: str, episode: NodeEpisode | None, recovery: NodeHealthEvent
) -> NodeEpisode:
    spec = episode.found.spec if episode is not None else _read(recovery.spec)
    assert spec is not None  # noqa: S101  one that cannot be read is no recovery
    metadata = (
        episode.found.metadata
        if episode is not None
        else msgspec.structs.replace(recovery.metadata, name=name)
    )
    status = {
        "phase": Phase.RESOLVED.value,
        "resolution": recovery.spec.metadata.get(RESOLUTION, ""),
        "resolvedTime": recovery.spec.generated_timestamp.isoformat(),
    }
    objects = (*(episode.objects if episode is not None else ()), recovery)
    return NodeEpisode(HealthEvent(metadata=metadata, spec=spec, status=status), objects)


def _read(spec: NodeHealthEventSpec) -> HealthEventSpec | None:
    """Return the spec as this program's own kind has it; None if it was not made from one."""
    facts = spec.metadata
    try:
        layer = Layer(facts["layer"])
        return HealthEventSpec(
            agent=spec.agent,
            component_class=layer,
            check_name=spec.check_name,
            is_fatal=spec.is_fatal,
            message=spec.message,
            error_code=spec.error_code,
            entities_impacted=spec.entities_impacted,
            recommended_action=RecommendedAction.NONE,
            processing_strategy=ProcessingStrategy.STORE_ONLY,
            generated_timestamp=spec.generated_timestamp,
            node_name=spec.node_name,
            layer=layer,
            subject=facts["subject"],
            item=facts.get("item", ""),
            episode=int(facts["episode"]),
            owner=Owner(facts["owner"]),
            actionability=Actionability(facts["actionability"]),
            remedy=facts.get("remedy", ""),
        )
    except (KeyError, ValueError):
        return None
