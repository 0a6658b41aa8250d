"""Catalogues with a fault of the program that shows only when a process changes to them."""

import dataclasses
from typing import Any, NoReturn

from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.cel.compile import CelReason, ReasonGroup
from reporter.model.enums import Reason


FAULT = "a fault in the keys of an object"


def with_faulty_keys(catalogue: Catalogue, reason: str) -> Catalogue:
    """
    Return the catalogue with a kind, that of a reason in CEL, of which no object can be indexed.
    """
    found: CelReason = catalogue[Reason(reason)].parameters
    watched = dataclasses.replace(found.kind.watched, index_keys=_raise)
    return _with_parameters(
        catalogue, reason, dataclasses.replace(found, kind=found.kind._replace(watched=watched))
    )


def with_faulty_probe(catalogue: Catalogue, reason: str) -> Catalogue:
    """Return the catalogue with a reason in CEL whose probe fails for each of its objects."""
    found: CelReason = catalogue[Reason(reason)].parameters
    broken: Any = dataclasses.replace(found.expressions["current"], text="broken", compiled=None)
    group = ReasonGroup()
    changed = dataclasses.replace(found, expressions={"current": broken}, group=group, member=0)
    group.members.append(changed)
    return _with_parameters(catalogue, reason, changed)


def with_faulty_scrape(catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with a reason that cannot say which metrics it reads."""
    return _with_parameters(catalogue, "inferencesetWeightDownloadSlow", None)


def _with_parameters(catalogue: Catalogue, reason: str, parameters: Any) -> Catalogue:
    entry = replace(catalogue[Reason(reason)], parameters=parameters)
    return replace(catalogue, entries={**catalogue.entries, Reason(reason): entry})


def _raise(each: object) -> NoReturn:
    raise RuntimeError(FAULT)
