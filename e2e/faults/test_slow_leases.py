"""A Lease API that is nearly as slow as the usual renew deadline, with the usual times."""

import pytest

from e2e.controlplane import ControlPlane
from e2e.faults.support.lease_lost import assert_announces_once, assert_stops_and_resumes
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.faults.support.replicas import running_replicas
from e2e.support.production_stack import restore
from e2e.support.timeouts import SHORT_FLAGS


BY_DEFAULT = (
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
SLOW = ProxyRule(r"/leases", delay=9)


@pytest.mark.slow
def test_nobody_announces_while_the_lease_api_takes_nine_seconds(
    stack: ControlPlane,
) -> None:
    with (
        restore.healthy_stack(stack) as plane,
        running_replicas(plane, 2, *SHORT_FLAGS, *BY_DEFAULT) as both,
    ):
        assert_stops_and_resumes(plane, both, SLOW, 40)
        assert_announces_once(plane, both)
