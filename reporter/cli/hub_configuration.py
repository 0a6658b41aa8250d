"""Load the settings of a hub, and check that they agree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from reporter import PROGRAM_NAME
from reporter.cli.command import HUB_FLAGS
from reporter.hub.queries import METRIC_LABELS
from reporter.settings import Settings, SettingsError, load_settings


HUB_LEASE = f"{PROGRAM_NAME}-hub"
"""The name of the Lease of hubs: a reporter may run in the same namespace."""

MIN_STALE_INTERVALS = 3

USUAL_RESYNC, USUAL_SCRAPE = timedelta(seconds=60), timedelta(seconds=30)
"""The chart's defaults of resyncSeconds and serviceMonitor.interval, which a hub cannot see."""


def load_hub_settings(arguments: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Return the settings of the command ``hub``. Raise SettingsError if they are refused."""
    settings = load_settings(arguments, environ, taken=HUB_FLAGS)
    if not settings.hub_query_url:
        raise SettingsError(
            "--hub-query-url",
            "is needed: the metrics engine, such as https://prometheus.example.com",
        )
    if settings.hub_cluster_label in METRIC_LABELS:
        raise SettingsError(
            f"--hub-cluster-label={settings.hub_cluster_label}",
            "is a label of the series themselves, and names no cluster",
        )
    if settings.hub_stale < MIN_STALE_INTERVALS * settings.hub_interval:
        raise SettingsError(
            f"--hub-stale-seconds={settings.hub_stale.total_seconds():g}",
            f"must be {MIN_STALE_INTERVALS} times --hub-interval-seconds="
            f"{settings.hub_interval.total_seconds():g} or more: one lost answer is no silence",
        )
    settings = replace(settings, notes=(*settings.notes, *_hub_notes(settings)))
    if "leader-election-id" in settings.given_flags:
        return settings
    return replace(settings, leader_election_id=HUB_LEASE)


def _hub_notes(settings: Settings) -> Iterator[str]:
    """
    Yield advice about settings that do not fit those of the reporters, as far as a hub can know.
    """
    usual = USUAL_RESYNC + USUAL_SCRAPE + settings.hub_interval
    if settings.hub_stale < usual:
        yield (
            f"--hub-stale-seconds={settings.hub_stale.total_seconds():g} is too short for reporters"
            f" with the chart's defaults: they evaluate anew every {USUAL_RESYNC.total_seconds():g} s"
            f" and are scraped every {USUAL_SCRAPE.total_seconds():g} s, so clusters that are well"
            f" would be Silent at times; set {usual.total_seconds():g} or more, or shorten both in"
            " every cluster"
        )
