"""The history that HealthEvents show: what was wrong, how long and how often."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds import health_events
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.times import parse_zoned_time


class PastEpisode(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """
    One episode as a HealthEvent shows it.

    *ended*: None while it runs. *occurrences*: 1, and one more for each change of causes or suffixes.
    """

    name: str
    namespace: str
    reason: str
    layer: Layer
    subject: str
    node: str = ""
    phase: health_events.Phase
    resolution: str = ""
    began: datetime
    ended: datetime | None = None
    lasted_seconds: int
    occurrences: int
    error_code: tuple[str, ...] = ()
    message: str
    remedy: str = ""


class PastReason(Struct, frozen=True):
    """The episodes of one reason about one subject, on one node if it is bound to one."""

    episodes: tuple[PastEpisode, ...]

    @property
    def last(self) -> PastEpisode:
        """The latest episode, which may still run; the episodes are sorted, the latest first."""
        return self.episodes[0]

    @property
    def lasted_seconds(self) -> int:
        """The sum of the lengths of all episodes; that of a running one counts until now."""
        return sum(each.lasted_seconds for each in self.episodes)


def select_episodes(
    objects: Iterable[health_events.HealthEvent],
    *,
    since: timedelta,
    now: datetime,
    layer: Layer | None = None,
    namespace: str = "",
    name: str = "",
) -> list[PastEpisode]:
    """
    Return the episodes of a subject that ran within *since*, the last one first.

    Without *layer*, *namespace* and *name* those of all subjects.
    """
    found = []
    for each in objects:
        subject = health_events.subject_of(each.spec)
        episode = _episode(each, now=now)
        is_asked_for = (
            layer in {None, subject.layer}
            and namespace in {"", subject.namespace}
            # The Event of many InferenceSets may be about each of them.
            and (not name or _may_be_about(subject, name))
        )
        if is_asked_for and (episode.ended is None or episode.ended >= now - since):
            found.append(episode)
    return sorted(found, key=lambda each: (each.began, each.name), reverse=True)


def _may_be_about(subject: Subject, name: str) -> bool:
    if subject.layer is not Layer.MODELDEPLOYMENT or not subject.is_unnamed:
        return bool(subject.name) and subject.name == name
    return subject.kind == replace(subject, name=name).kind


def group_episodes(episodes: Iterable[PastEpisode]) -> list[PastReason]:
    """Return the episodes by reason, subject and node; the order is that of the last of each."""
    groups: dict[tuple[str, str, str, str], list[PastEpisode]] = {}
    for each in episodes:
        groups.setdefault((each.layer, each.subject, each.reason, each.node), []).append(each)
    return [PastReason(tuple(each)) for each in groups.values()]


def _episode(found: health_events.HealthEvent, *, now: datetime) -> PastEpisode:
    spec, status = found.spec, found.status or {}
    is_over = found.phase is health_events.Phase.RESOLVED
    ended = (parse_zoned_time(status.get("resolvedTime")) or now) if is_over else None
    lasted = (ended or now) - spec.generated_timestamp
    return PastEpisode(
        name=found.metadata.name,
        namespace=found.metadata.namespace,
        reason=spec.check_name,
        layer=spec.layer,
        subject=spec.subject,
        node=spec.node_name,
        phase=found.phase,
        resolution=_resolution(status) if is_over else "",
        began=spec.generated_timestamp,
        ended=ended,
        lasted_seconds=max(int(lasted.total_seconds()), 0),
        occurrences=status.get("occurrences") or 1,
        error_code=spec.error_code,
        message=status.get("message") or spec.message,
        remedy=spec.remedy,
    )


def _resolution(status: dict[str, Any]) -> str:
    found = status.get("resolution")
    return found if found in set(health_events.Resolution) else ""
