"""The catalogues under which stories are replayed, and the codes of the causes that they announced."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from reporter.announcing.announcement_state import AnnouncementState
from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import DEFAULT_PACKS
from reporter.catalogue.problems import Place
from reporter.catalogue.yaml_nodes import YamlNode, from_plain
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Reason
from reporter.settings import FLAG_NAMES, Settings, SettingsError, load_settings
from reporter.stories.format import StoryError


# --------------------------------------------------------------------
# The catalogue of each story: the one under test, changed by the overlay that the story gives.


STORY = Place("story", 1)


class StoryCatalogues:
    """
    The catalogues of stories. *overlay*, *packs*: what they are tested with, unless a story names packs.
    """

    def __init__(self, overlay: Path | None = None, packs: Sequence[str] = DEFAULT_PACKS) -> None:
        self._overlay, self._packs = overlay, tuple(packs)
        self._loaded: dict[str, Catalogue] = {}

    @cached_property
    def plain(self) -> Catalogue:
        """The catalogue of a story without an overlay. Raises CatalogueError."""
        return self._load(self._packs)

    def of(self, story: Mapping[str, Any]) -> Catalogue:
        """Return the catalogue of a story, with the overlay that it gives. Raises CatalogueError."""
        overlay, packs = story.get("overlay"), self.packs_of(story)
        if overlay is None and packs == self._packs:
            return self.plain
        # Many stories have the same overlay, such as that which turns a reason on.
        given = repr((packs, overlay))
        if given not in self._loaded:
            overlays = [] if overlay is None else [from_plain(overlay, STORY)]
            self._loaded[given] = self._load(packs, *overlays)
        return self._loaded[given]

    def of_all(self, stories: Iterable[Mapping[str, Any]]) -> Catalogue:
        """Return the catalogue of all packs that some story has. Raises CatalogueError."""
        # A pack may be named by one story, and be the folder of another one.
        packs = {Path(pack).name: pack for each in stories for pack in self.packs_of(each)}
        wanted = tuple(packs.values()) or self._packs
        return self.plain if wanted == self._packs else self._load(wanted)

    def packs_of(self, story: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the packs that a story names, else those that the stories are tested with."""
        return tuple(story.get("packs") or self._packs)

    def _load(self, packs: Sequence[str], *overlays: YamlNode) -> Catalogue:
        given = () if self._overlay is None else (self._overlay,)
        return load_catalogue(
            default_folder(), *given, *overlays, specs=SPECS, flags=FLAG_NAMES, packs=packs
        )


SHIPPED = StoryCatalogues()


# --------------------------------------------------------------------
# The codes of the causes that a replay announced.


class AnnouncedCodes:
    """Collects the codes of the causes that a replay announces, pass by pass."""

    def __init__(self) -> None:
        self._codes: defaultdict[Reason, set[str]] = defaultdict(set)

    @property
    def by_reason(self) -> Mapping[Reason, frozenset[str]]:
        """The codes of the causes that episodes had, by reason, of all passes so far."""
        return {reason: frozenset(codes) for reason, codes in self._codes.items()}

    def add(self, evaluation: Evaluation, state: AnnouncementState) -> None:
        """Add the codes of every finding with a running episode, of its own or of a group."""
        grouped = {
            (member, key.reason) for key, group in state.groups.items() for member in group.members
        }
        for key, finding in evaluation.tracked.finding_states.items():
            if key in state.episodes or (key.subject, key.reason) in grouped:
                codes = {each.trouble.cause.code for each in finding.announceable}
                self._codes[key.reason] |= codes


# --------------------------------------------------------------------
# The flags of a story: their defaults, and what the story sets.


NO_FILE = Path("/nonexistent")


def story_settings(story: Mapping[str, Any]) -> Settings:
    """
    Return the settings of a process with the flags of a story. Raise StoryError for one that is refused.
    """
    given = story.get("flags") or {}
    if not given:
        return _default_settings()
    arguments = [f"--{name}={_text(value)}" for name, value in given.items()]
    try:
        return load_settings(arguments, {}, hostname="story", namespace_file=NO_FILE)
    except SettingsError as err:
        raise StoryError(f"flags: {err}", key="flags") from err


def flag_errors(story: Mapping[str, Any]) -> Iterator[StoryError]:
    """
    Yield an error for each flag of a story that is refused.

    The settings name one of them at a time; that is left out, and the others are tried again.
    """
    left = dict(story.get("flags") or {})
    while left:
        try:
            story_settings({"flags": left})
        except StoryError as err:
            yield err
            cause = err.__cause__
            named = cause.flag if isinstance(cause, SettingsError) else ""
            name = named.partition("=")[0].removeprefix("--")
            if name not in left:
                return
            del left[name]
        else:
            return


@cache
def _default_settings() -> Settings:
    return load_settings([], {}, hostname="story", namespace_file=NO_FILE)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
