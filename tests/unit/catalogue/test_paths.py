"""The rows that say whose requests need what a reason is about, and the problems of such rows."""

import pytest

from tests.support.cases import case_catalogue
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ROW = "{ subject: InferenceSet, except: [Pending], where-called: true, why: No. }"


def with_row(row: str, reason: str = "clusterRouterNotReady") -> str:
    return f"reasons: {{ {reason}: {{ on-path-of: [{row}] }} }}"


def test_an_overlay_gives_a_reason_rows_and_takes_them_away(loading):
    (row,) = loading(overlay=with_row(ROW))["clusterRouterNotReady"].path
    assert (row.subject_kind, row.where_called) == ("", True)
    assert row.exceptions == frozenset({"Pending"})
    assert loading()["clusterRouterNotReady"].path == ()
    emptied = case_catalogue(
        {"overlay": {"reasons": {"clusterBBRNotReady": {"on-path-of": []}}}, "packs": ["kaito"]}
    )
    assert emptied["clusterBBRNotReady"].path == ()
    assert DEFAULT_CATALOGUE["clusterBBRNotReady"].path


@pytest.mark.parametrize(
    ("overlay", "expected"),
    [
        (
            with_row("{ subject: InferenceSett, why: No. }"),
            "no pack makes subjects of kind `InferenceSett`: did you mean `InferenceSet`?",
        ),
        (
            with_row("{ subject: Namespace, why: No. }"),
            "clusterRouterNotReady: on-path-of: no pack makes subjects of kind `Namespace`",
        ),
        (with_row("{ subject: InferenceSet }"), "`on-path-of[0].why` is missing"),
        (
            with_row(ROW, "clusterReady"),
            "clusterReady: a Normal reason has no probe and no `on-path-of`; remove it",
        ),
    ],
)
def test_a_row_that_cannot_be_is_refused(loading, refused, overlay, expected):
    assert any(expected in each for each in refused(overlay=overlay))
