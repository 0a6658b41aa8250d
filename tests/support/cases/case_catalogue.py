"""
The catalogue of a case: the shipped one, with the overlay that the case gives.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.model.entries import Catalogue
from reporter.settings import FLAG_NAMES
from reporter.stages.probes.specs import SPECS
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def case_catalogue(case: Mapping) -> Catalogue:
    if "overlay" not in case:
        return DEFAULT_CATALOGUE
    with TemporaryDirectory() as folder:
        overlay = Path(folder) / "overlay.yaml"
        overlay.write_text(json.dumps(case["overlay"]))
        return load_catalogue(default_folder(), overlay, specs=SPECS, flags=FLAG_NAMES)
