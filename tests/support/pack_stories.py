"""The stories of the packs beside kaito, whose stories are the cases."""

from collections.abc import Mapping
from typing import Any

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import DEFAULT_PACKS, shipped_packs
from reporter.cli.configuration import load_shipped_catalogue
from tests.support.cases import read_yaml


FOLDER = default_folder() / "packs"
PACKS = tuple(each for each in shipped_packs(default_folder()) if each not in DEFAULT_PACKS)


def read_pack_stories() -> Mapping[str, dict[str, Any]]:
    """
    Return the stories by pack and name. A story is played with its pack alone, unless it names more.
    """
    return {
        f"{pack}/{file.stem}": {"packs": [pack], **read_yaml(file)}
        for pack in PACKS
        for file in sorted((FOLDER / pack / "stories").glob("*.yaml"))
    }


def catalogue_of(pack: str) -> Catalogue:
    return load_shipped_catalogue(packs=[pack])
