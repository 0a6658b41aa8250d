"""Run the conformance tests of writes of a Job's status on a real control plane."""

from tests.conformance.test_job_status import *  # noqa: F403
