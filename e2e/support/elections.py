"""An election whose leader stays through seconds in which the machine gives it no turn."""

LEASE_SECONDS, RENEW_DEADLINE = 20, 10
"""
The lease duration and the renew deadline, in seconds: a leader that cannot renew has stopped ten
seconds before another one may lead.
"""

STEADY_LEASE = (
    f"--lease-duration-seconds={LEASE_SECONDS}",
    f"--renew-deadline-seconds={RENEW_DEADLINE}",
)
