"""
Load settings and catalogue from arguments and environment.
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
    Return settings and catalogue. Raise SettingsError if either is refused.
    """
    settings = load_settings(arguments, environ)
    return settings, load_shipped_catalogue(settings.catalogue_overlay)


def load_shipped_catalogue(overlay: Path | None = None) -> Catalogue:
    """
    Return the shipped catalogue, changed by *overlay*. Raise SettingsError if it is refused.
    """
    try:
        return load_catalogue(default_folder(), overlay, specs=SPECS, flags=FLAG_NAMES)
    except CatalogueError as err:
        flag = f"--catalogue-overlay={overlay}" if overlay else ""
        raise SettingsError(flag, f"the catalogue is refused:\n{err}") from err
