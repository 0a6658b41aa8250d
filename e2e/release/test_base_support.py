"""The base of the image has security updates, and the audit fails before they end."""

from datetime import date

import pytest

from e2e.image import base
from e2e.release.base_support import find_support, main


OF_TODAY = "python:3.13-slim-trixie@sha256:" + "0" * 64


def test_debian_and_python_of_the_base_are_known() -> None:
    assert [each.name for each in find_support(base.pinned())] == ["Debian trixie", "Python 3.13"]


@pytest.mark.parametrize(
    ("today", "code"), [(date(2026, 12, 1), 0), (date(2028, 5, 1), 0), (date(2028, 6, 1), 1)]
)
def test_the_audit_fails_ninety_days_before_support_ends(
    today: date, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(OF_TODAY, today) == code
    advice = "Choose a newer base in the Dockerfile instead of Debian trixie."
    assert (advice in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize(
    "reference",
    [
        OF_TODAY.partition("@")[0],
        OF_TODAY.replace("trixie", "sid"),
        OF_TODAY.replace("3.13", "3.10"),
        OF_TODAY.replace("slim-", ""),
    ],
)
def test_a_base_without_digest_or_of_an_unknown_release_is_refused(reference: str) -> None:
    with pytest.raises(LookupError):
        find_support(reference)
