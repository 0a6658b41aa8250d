"""
A Lease API that is nearly as slow as the usual renew deadline, with the usual times.
"""

import pytest

from e2e import repair
from e2e.controlplane import ControlPlane
from e2e.faults.replicas import replicas
from e2e.faults.rules import Rule
from e2e.faults.silenced import assert_says_all_once, silenced_and_back
from e2e.patience import QUICK


BY_DEFAULT = (
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
SLOW = Rule(r"/leases", delay=9)


@pytest.mark.slow
def test_lease_api_that_takes_nine_seconds_silences_all_until_it_is_over(
    stack: ControlPlane,
) -> None:
    with repair.mended(stack) as plane, replicas(plane, 2, *QUICK, *BY_DEFAULT) as both:
        silenced_and_back(plane, both, SLOW, 40)
        assert_says_all_once(plane, both)
