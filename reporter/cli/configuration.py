"""
Load settings and catalogue from arguments and environment.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reporter import PROGRAM_NAME
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.problems import CatalogueError
from reporter.model.entries import Catalogue
from reporter.settings import (
    FLAG_NAMES,
    FLAGS,
    FlagGroup,
    Settings,
    SettingsError,
    load_settings,
)
from reporter.stages.probes.specs import SPECS


_SHARED_GROUPS = frozenset(
    {FlagGroup.ELECTION, FlagGroup.SERVING, FlagGroup.CLUSTER, FlagGroup.LOGGING}
)
RUN_FLAGS = frozenset(flag.name for flag in FLAGS if flag.group is not FlagGroup.HUB)
HUB_FLAGS = frozenset(
    flag.name for flag in FLAGS if flag.group in {FlagGroup.HUB, *_SHARED_GROUPS}
) - {"catalogue-overlay", "rollup-metrics"}

HUB_LEASE = f"{PROGRAM_NAME}-hub"
"""
The name of the Lease of hubs: a reporter may run in the same namespace.
"""

MIN_STALE_INTERVALS = 3


def load_configuration(
    arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[Settings, Catalogue]:
    """
    Return settings and catalogue. Raise SettingsError if either is refused.
    """
    settings = load_settings(arguments, environ)
    _refuse_flags(arguments, HUB_FLAGS - RUN_FLAGS, "hub")
    return settings, load_shipped_catalogue(settings.catalogue_overlay)


def load_hub_settings(arguments: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """
    Return the settings of the command ``hub``. Raise SettingsError if they are refused.
    """
    settings = load_settings(arguments, environ)
    _refuse_flags(arguments, RUN_FLAGS - HUB_FLAGS, "run")
    if not settings.hub_query_url:
        raise SettingsError(
            "--hub-query-url", "names the metrics engine, such as https://prometheus.example.com"
        )
    if settings.hub_stale < MIN_STALE_INTERVALS * settings.hub_interval:
        raise SettingsError(
            f"--hub-stale-seconds={settings.hub_stale.total_seconds():g}",
            f"must be {MIN_STALE_INTERVALS} times --hub-interval-seconds="
            f"{settings.hub_interval.total_seconds():g} or more: one lost answer is no silence",
        )
    if "leader-election-id" in settings.given_flags:
        return settings
    return replace(settings, leader_election_id=HUB_LEASE)


def _refuse_flags(arguments: Sequence[str], names: Collection[str], command: str) -> None:
    """
    Refuse flags of another command. Variables may be those of a pod that runs both.
    """
    for each in arguments:
        name = each.lstrip("-").partition("=")[0]
        if each.startswith("-") and name in names:
            raise SettingsError(
                f"--{name}", f"is a flag of the command {command}, and has no effect here"
            )


def load_shipped_catalogue(overlay: Path | None = None) -> Catalogue:
    """
    Return the shipped catalogue, changed by *overlay*. Raise SettingsError if it is refused.
    """
    try:
        return load_catalogue(default_folder(), overlay, specs=SPECS, flags=FLAG_NAMES)
    except CatalogueError as err:
        flag = f"--catalogue-overlay={overlay}" if overlay else ""
        raise SettingsError(flag, f"the catalogue is refused:\n{err}") from err
