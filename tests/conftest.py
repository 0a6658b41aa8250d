"""
Hypothesis profiles: ``pytest --hypothesis-profile=deep tests/property`` takes minutes.
"""

import gc

from hypothesis import settings

from tests.support.file_scheduling import pytest_xdist_make_scheduler


__all__ = ["pytest_xdist_make_scheduler"]

# The same examples in every run of the checks; the deep profile searches for new ones.
settings.register_profile("default", deadline=None, stateful_step_count=40, derandomize=True)
settings.register_profile("deep", deadline=None, stateful_step_count=80, max_examples=2000)
settings.load_profile("default")


def pytest_collection_finish() -> None:
    """
    Exempt the collected tests and imported modules, which stay until the end, from the collector.
    """
    gc.collect()
    gc.freeze()
