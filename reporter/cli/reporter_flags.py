"""Load the configuration with the flags of a reporter, for a command that evaluates in its place."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.silence_file import SILENCE_FILE
from reporter.cli.command import RUN_FLAGS
from reporter.cli.configuration import load_shipped_catalogue
from reporter.settings import FLAGS, Arguments, Settings, SettingsError, load_settings


FILES = {
    "catalogue-overlay": "a catalogue overlay; give it",
    "components-file": "a file of components; give it",
    "packs": "packs of one's own; give them",
    SILENCE_FILE: "a file of silences; give it",
}
"""The flags of a reporter that name files, and what to say of one that is not read."""


def describe_files(
    names: Iterable[str], settings: Settings, *, taken: Collection[str] = FILES
) -> Iterator[str]:
    """
    Yield a note for each file of a reporter that is not read here, as the user has not given its flag.

    *names*: the reporter's flags that name files. *taken*: those that the command itself takes; others
    are for the command that evaluates its dump.
    """
    for name in names:
        if name not in settings.given_flags:
            to = "" if name in taken else " to the command that evaluates the dump"
            yield f"the reporter has {FILES.get(name, 'a file; give it')} with --{name}{to}"


READS_ALONE = (
    "--scrape=off",
    "--store=none",
    "--status-objects=false",
    "--mirror-events=false",
)
"""
Flags that end what a command that only looks never does, whatever flags of a reporter it is given.
"""


class ConfigurationLoader:
    """
    Loads the configuration of *arguments*, without or with flags that were found.

    *note* is told whose flags these are. Raises SettingsError.
    """

    def __init__(
        self, arguments: Arguments, environ: Mapping[str, str], note: Callable[[str], None]
    ) -> None:
        self._arguments, self._environ, self._note = arguments, environ, note
        self._catalogues: dict[tuple[Path | None, Sequence[str]], Catalogue] = {}

    def load(self, found: Sequence[str] = ()) -> tuple[Settings, Catalogue]:
        """
        Load the configuration; flags that were *found* yield to variables and to those given.

        The same overlay and packs are loaded once. Raises SettingsError.
        """
        by_variable = {flag.name for flag in FLAGS if flag.variable in self._environ}
        kept = [each for each in found if each[2:].partition("=")[0] not in by_variable]
        flags = (*kept, *self._arguments.run_flags, *READS_ALONE)
        settings = load_settings(flags, self._environ, taken=RUN_FLAGS)
        chosen = settings.catalogue_overlay, settings.packs
        if chosen not in self._catalogues:
            self._catalogues[chosen] = load_shipped_catalogue(*chosen)
        return settings, self._catalogues[chosen]

    def load_found(
        self, flags: Sequence[str], whose: str, files: Iterable[str] = ()
    ) -> tuple[Settings, Catalogue]:
        """
        Load the configuration with flags of a reporter, or without them if they are refused; note which.

        *whose*: the reporter, for the notes. *files*: the names of its flags whose files are not read
        here, which are noted too.
        """
        loaded = self._load_with(flags, whose)
        for each in describe_files(files, loaded[0]):
            self._note(each)
        return loaded

    def _load_with(self, flags: Sequence[str], whose: str) -> tuple[Settings, Catalogue]:
        if not flags:
            return self.load()
        try:
            loaded = self.load(flags)
        except SettingsError as err:
            self._note(f"the flags of {whose} are left out: {err}")
            return self.load()
        self._note(f"flags are those of {whose}, unless given here")
        return loaded
