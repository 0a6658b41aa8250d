"""The kinds that a CustomResourceDefinition serves, and its status. Pure."""

from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import (
    CUSTOM_VERBS,
    GenerationPolicy,
    PrinterColumn,
    ServedKind,
)


_AGE = PrinterColumn("Age", "date", ".metadata.creationTimestamp")


def served_kinds(crd: Json) -> list[ServedKind]:
    """Return one kind for each served version, the storage version first."""
    spec = crd["spec"]
    served = [version for version in spec["versions"] if version.get("served")]
    return [
        _served_kind(spec, version)
        for version in sorted(served, key=lambda v: not v.get("storage"))
    ]


def _served_kind(spec: Json, version: Json) -> ServedKind:
    names = spec["names"]
    return ServedKind(
        group=spec["group"],
        version=version["name"],
        resource=names["plural"],
        kind=names["kind"],
        singular=names.get("singular") or names["kind"].lower(),
        namespaced=spec["scope"] == "Namespaced",
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        subresources=tuple(sorted(version.get("subresources", {}))),
        verbs=CUSTOM_VERBS,
        generation=GenerationPolicy.ALL_BUT_STATUS,
        is_custom=True,
        unconditional_update=False,
        columns=tuple(_printer_column(c) for c in version.get("additionalPrinterColumns", ()))
        or (_AGE,),
    )


def _printer_column(column: Json) -> PrinterColumn:
    return PrinterColumn(
        column["name"],
        column["type"],
        column["jsonPath"],
        column.get("priority", 0),
        column.get("format", ""),
    )


def apply_name_defaults(crd: Json) -> None:
    """Set the defaults that the real server derives from the names, in place."""
    spec = crd["spec"]
    names = spec["names"]
    names.setdefault("singular", names["kind"].lower())
    names.setdefault("listKind", f"{names['kind']}List")
    spec.setdefault("conversion", {"strategy": "None"})


def initial_status(crd: Json) -> Json:
    stored = [version["name"] for version in crd["spec"]["versions"] if version.get("storage")]
    return {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
    }


def established_status(crd: Json, now: str) -> Json:
    """Return the status of a CRD that is served."""
    return {
        "conditions": [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
            _condition(
                "Established", "InitialNamesAccepted", "the initial names have been accepted", now
            ),
        ],
        "acceptedNames": crd["spec"]["names"],
        "storedVersions": crd["status"]["storedVersions"],
    }


def _condition(kind: str, reason: str, message: str, now: str) -> Json:
    return {
        "type": kind,
        "status": "True",
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }
