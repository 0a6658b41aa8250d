"""The first lines of the log: what this process is, and what its settings leave out."""

import logging

from reporter import PROGRAM_NAME, PROGRAM_VERSION
from reporter.catalogue.entries import Catalogue
from reporter.controller.coverage import find_unchecked
from reporter.evaluation.registry import SPECS
from reporter.settings import Settings


logger = logging.getLogger("reporter")


def log_target(settings: Settings, target: str, *, in_cluster: bool) -> None:
    """
    Say to which cluster a process outside of a pod writes: nobody may find that out by its Events.
    """
    if in_cluster:
        return
    lease = f"{settings.lease_namespace}/{settings.leader_election_id}"
    if settings.dry_run:
        does = "reads %s; prints Events and writes nothing"
    elif settings.leader_elect:
        does = f"writes Events to %s, once it is elected by the Lease {lease}"
    else:
        does = "writes Events to %s, beside any other reporter there: --leader-elect=false"
    logger.info(does, target)


def log_start(settings: Settings, catalogue: Catalogue) -> None:
    """Log the version, how many reasons are on, each that is not checked, and notes on the settings."""
    logger.info(
        "%s %s: %d of %d reasons are on, %d disabled",
        PROGRAM_NAME,
        PROGRAM_VERSION,
        len(catalogue.enabled_reasons),
        len(catalogue.entries),
        len(catalogue.disabled_reasons),
    )
    for reason, what_to_set in find_unchecked(catalogue, SPECS, settings.flag_texts).items():
        logger.info("%s is not checked: %s", reason, what_to_set)
    for note in settings.notes:
        logger.warning("%s", note)
