"""
Catalogues with a fault of the program that shows only when a process changes to them.
"""

from dataclasses import replace
from typing import Any, NoReturn

from reporter.model.catalogue.entries import Catalogue
from reporter.model.enums import Reason
from reporter.stages.probes.cel.parameters import CelReason


FAULT = "a fault in the keys of an object"


def with_faulty_keys(catalogue: Catalogue, reason: str) -> Catalogue:
    """
    Return the catalogue with a kind, that of a reason in CEL, of which no object can be indexed.
    """
    found: CelReason = catalogue[Reason(reason)].parameters
    watched = replace(found.kind.watched, index_keys=_raise)
    return _with_parameters(
        catalogue, reason, replace(found, kind=found.kind._replace(watched=watched))
    )


def with_faulty_scrape(catalogue: Catalogue) -> Catalogue:
    """
    Return the catalogue with a reason that cannot say which metrics it reads.
    """
    return _with_parameters(catalogue, "inferencesetWeightDownloadSlow", None)


def _with_parameters(catalogue: Catalogue, reason: str, parameters: Any) -> Catalogue:
    entry = replace(catalogue[Reason(reason)], parameters=parameters)
    return replace(catalogue, entries={**catalogue.entries, Reason(reason): entry})


def _raise(each: object) -> NoReturn:
    raise RuntimeError(FAULT)
