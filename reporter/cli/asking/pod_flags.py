"""The flags of a reporter's pod, for a command that evaluates in its place."""

from collections.abc import Iterator

from reporter.cli.arguments.parser import RUN_FLAGS
from reporter.runtime.status.pods import ReporterPod
from reporter.settings import FlagGroup, Settings


SILENCE_FILE = "silence-file"


def evaluation_flags(pod: ReporterPod) -> tuple[str, ...]:
    """
    Return the flags of a reporter that decide what is evaluated, and for how long.

    Files that they name are in the pod and not here.
    """
    groups = {FlagGroup.WATCHED, FlagGroup.EVENTS, FlagGroup.WEIGHTS}
    names = {flag.name for flag in RUN_FLAGS.values() if flag.group in groups} - {SILENCE_FILE}
    if not _has_own_packs(pod):
        names.add("packs")
    return tuple(f"--{name}={text}" for name, text in pod.flags.items() if name in names)


def describe_files(pod: ReporterPod, settings: Settings) -> Iterator[str]:
    """Yield which files of a reporter are not read here, for want of a flag of the user."""
    if "catalogue-overlay" in pod.flags and not settings.catalogue_overlay:
        yield "the reporter has a catalogue overlay; give it with --catalogue-overlay"
    if SILENCE_FILE in pod.flags and not settings.silence_file:
        yield f"the reporter has a file of silences; give it with --{SILENCE_FILE}"
    if _has_own_packs(pod) and "packs" not in settings.given_flags:
        yield "the reporter has packs of one's own; give them with --packs"


def _has_own_packs(pod: ReporterPod) -> bool:
    """True if a reporter reads packs from folders, which are not here."""
    return "/" in pod.flags.get("packs", "")
