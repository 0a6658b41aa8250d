"""Continue the announced episodes with another catalogue."""

from msgspec.structs import replace

from reporter.announcing.announcement_state import AnnouncementState, Episode
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.catalogue_change import stays_evaluated
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey


def keep_episodes(
    before: AnnouncementState, catalogue: Catalogue, settings: EvaluationSettings
) -> AnnouncementState:
    """
    Return the state without the episodes of reasons that go.

    Nobody sees these end, so their Events expire, as after a restart (``restore.restore_episodes``). They
    owe no Ready: a subject that has no other ranked episode did not recover.
    """
    stays = stays_evaluated(catalogue, settings)

    def is_kept(key: FindingKey, episode: Episode) -> bool:
        if episode.event.type is EventType.NORMAL:
            return key.reason in catalogue.entries
        return stays(key)

    episodes = {key: each for key, each in before.episodes.items() if is_kept(key, each)}
    dropped = {key.subject for key in before.episodes.keys() - episodes.keys()}
    owing = {
        key.subject
        for key, each in episodes.items()
        if each.event.type is EventType.WARNING and not catalogue[key.reason].orthogonal
    }
    return replace(
        before,
        episodes=episodes,
        ready_owed={
            subject: since
            for subject, since in before.ready_owed.items()
            if subject not in dropped or subject in owing
        },
        groups={key: each for key, each in before.groups.items() if stays(key)},
    )
