"""
Which cases must be marked as real. Needs no control plane.
"""

from e2e.scenarios.cases.real_cases import REAL_CASES, of_layer
from reporter.model.enums import Layer
from tests.support.cases.case_replay import expected_announcements
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ELSEWHERE = {
    "clusterCRDMissing": "test_missing_crds",  # discovery is asked twice a minute
    "inferencesetWeightDownloadSlow": "test_weight_download",  # needs pods that answer
}
SUFFIX = "(suppressing downstream reasons: "


def announced() -> list[str]:
    return [text for case in REAL_CASES.values() for _, text in expected_announcements(case)]


def test_every_case_is_played() -> None:
    """
    There is a file with tests for each layer.
    """
    assert sorted(name for layer in Layer for name in of_layer(layer)) == sorted(REAL_CASES)


def test_every_reason_has_a_case_that_is_played_here_or_a_test_of_its_own() -> None:
    every = " ".join(announced())
    warnings = {
        entry.reason for layer in Layer for entry in DEFAULT_CATALOGUE.evaluated_entries(layer)
    }
    missing = {each for each in warnings if f"Warning {each} " not in every}
    assert missing == set(ELSEWHERE)


def test_every_row_of_the_suppression_table_is_played_here() -> None:
    suppressing = [text for text in announced() if SUFFIX in text]
    missing = [
        f"{row.source} > {row.target}"
        for row in DEFAULT_CATALOGUE.suppressions
        if not any(
            text.startswith(f"Warning {row.source} ") and row.target in text.split(SUFFIX)[1]
            for text in suppressing
        )
    ]
    assert not missing
