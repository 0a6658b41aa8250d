"""
The content of objects: the spec of a new one, and causes and suffixes in the status of one that is there.
"""

from collections.abc import Iterable, Iterator

from reporter import PROGRAM_NAME
from reporter.announcing.message import fill_remedy
from reporter.announcing.schedule import PublishContext
from reporter.catalogue.entries import CatalogueEntry
from reporter.history.desired import DesiredEpisode, episode_number
from reporter.history.existing import Patch
from reporter.kinds import health_events
from reporter.kinds.productionstack import MAX_NAME
from reporter.kube.decoding import Json
from reporter.model.enums import Layer
from reporter.model.sanitize import MAX_EVENT_MESSAGE_BYTES, truncate_bytes
from reporter.model.states import Actionability
from reporter.model.subjects import Subject
from reporter.model.verdicts import Trouble


CEL_PROBE = "cel"
"""The probe that calls each object that is not as desired out, without knowing what it is for."""


def make_spec(
    episode: DesiredEpisode, node: str, context: PublishContext
) -> health_events.HealthEventSpec:
    """Return the spec of a new object: the episode as its Event announces it now."""
    key, record = episode.key, episode.record
    entry, subject = context.catalogue[key.reason], key.subject
    message_input = context.message_input(key)
    reported = [each for each in message_input.troubles if each.trouble.node == node]
    troubles = [each.trouble for each in reported]
    remedy = fill_remedy(message_input, reported[0]) if reported else ""
    return health_events.HealthEventSpec(
        agent=PROGRAM_NAME,
        component_class=subject.layer,
        check_name=key.reason[: health_events.MAX_REASON],
        is_fatal=_is_fatal(entry, troubles),
        is_healthy=False,
        message=truncate_bytes(record.message, MAX_EVENT_MESSAGE_BYTES),
        error_code=tuple(
            sorted({each.cause.code[: health_events.MAX_REASON] for each in troubles})[
                : health_events.MAX_CAUSES
            ]
        ),
        entities_impacted=(*_subject_entities(subject), *_cause_entities(troubles)),
        recommended_action=health_events.RecommendedAction.NONE,
        processing_strategy=health_events.ProcessingStrategy.STORE_ONLY,
        generated_timestamp=record.episode_start,
        node_name=node[:MAX_NAME],
        layer=subject.layer,
        subject=health_events.subject_text(subject),
        item=key.item[:MAX_NAME],
        episode=episode_number(record),
        owner=entry.owner,
        actionability=Actionability.of_owner(entry.owner),
        remedy=truncate_bytes(remedy, health_events.MAX_REMEDY),
        content_digest=record.content_digest,
    )


def _is_fatal(entry: CatalogueEntry, troubles: Iterable[Trouble]) -> bool:
    """
    Return whether the model does not serve. What an entry in CEL says of its objects does not tell.
    """
    is_about_model = entry.layer is Layer.MODELDEPLOYMENT and entry.probe != CEL_PROBE
    return is_about_model and any(each.is_out for each in troubles)


def make_status_patch(patch: Patch, context: PublishContext) -> Json:
    """
    Return the merge patch of an object; its resourceVersion makes it conflict with a newer version.
    """
    found, episode = patch.found, patch.episode
    status = dict(patch.status)
    if episode is not None:
        status |= _content(found, episode, context)
    return {"metadata": {"resourceVersion": found.metadata.resource_version}, "status": status}


def _content(
    found: health_events.HealthEvent, episode: DesiredEpisode, context: PublishContext
) -> Json:
    """
    Return what the Event announces now. The reasons in its suffixes are known while it is up to date.
    """
    record, message_input = episode.record, context.message_input(episode.key)
    is_current = message_input.content_digest == record.content_digest
    also = message_input.other_reasons if is_current else ()
    suppressing = message_input.suppressed_reasons if is_current else ()
    message = truncate_bytes(record.message, MAX_EVENT_MESSAGE_BYTES)
    return {
        "message": None if message == found.spec.message else message,
        "also": list(also[: health_events.MAX_REASONS]) or None,
        "suppressing": list(suppressing[: health_events.MAX_REASONS]) or None,
        "contentDigest": record.content_digest or None,
    }


def _subject_entities(subject: Subject) -> Iterator[health_events.Entity]:
    if subject.layer is not Layer.CLUSTER:
        yield health_events.Entity(entity_type="Namespace", entity_value=subject.namespace)
    if subject.object_name:
        value = f"{subject.namespace}/{subject.object_name}"
        yield health_events.Entity(entity_type=subject.kind or "InferenceSet", entity_value=value)


def _cause_entities(troubles: Iterable[Trouble]) -> tuple[health_events.Entity, ...]:
    refs = sorted({each.cause.object for each in troubles})[: health_events.MAX_CAUSES]
    return tuple(
        health_events.Entity(
            entity_type=ref.resource[:MAX_NAME],
            entity_value="/".join(filter(None, (ref.namespace, ref.name)))[
                : health_events.MAX_OBJECT
            ],
        )
        for ref in refs
    )
