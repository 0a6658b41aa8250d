"""Load settings and catalogue from arguments and environment."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import DEFAULT_PACKS
from reporter.catalogue.problems import CatalogueError
from reporter.cli.command import RUN_FLAGS
from reporter.evaluation.registry import SPECS
from reporter.settings import FLAG_NAMES, Settings, SettingsError, load_settings


def load_configuration(
    arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[Settings, Catalogue]:
    """Return settings and catalogue. Raise SettingsError if either is refused."""
    settings = load_settings(arguments, environ, taken=RUN_FLAGS)
    return settings, load_shipped_catalogue(settings.catalogue_overlay, settings.packs)


def load_shipped_catalogue(
    overlay: Path | None = None, packs: Sequence[str] = DEFAULT_PACKS
) -> Catalogue:
    """
    Return the catalogue of these packs, changed by *overlay*. Raise SettingsError if it is refused.
    """
    try:
        return load_catalogue(
            default_folder(), overlay, specs=SPECS, flags=FLAG_NAMES, packs=packs
        )
    except CatalogueError as err:
        given = [f"--packs={','.join(packs)}"] if tuple(packs) != DEFAULT_PACKS else []
        given += [f"--catalogue-overlay={overlay}"] if overlay else []
        flag = " ".join(given)
        raise SettingsError(flag, f"the catalogue is refused:\n{err}") from err
