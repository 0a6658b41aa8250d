"""
Arguments and environment to all that a run is configured by.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.problems import CatalogueError
from reporter.model.entries import Catalogue
from reporter.settings import FLAG_NAMES, Settings, SettingsError, load_settings
from reporter.stages.probes.specs import SPECS


def load_configuration(
    arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[Settings, Catalogue]:
    """
    Raise SettingsError, also for a catalogue that is refused.
    """
    settings = load_settings(arguments, environ)
    return settings, load_shipped_catalogue(settings.catalogue_overlay)


def load_shipped_catalogue(overlay: Path | None = None) -> Catalogue:
    """
    The catalogue with the probes that there are. Raise SettingsError, named by the overlay's flag.
    """
    try:
        return load_catalogue(default_folder(), overlay, specs=SPECS, flags=FLAG_NAMES)
    except CatalogueError as err:
        flag = f"--catalogue-overlay={overlay}" if overlay else ""
        raise SettingsError(flag, f"the catalogue is refused:\n{err}") from err
