"""Run all asynchronous integration tests on an event loop whose clock does not count stalls."""

from collections.abc import Callable, Mapping

import pytest

from tests.support.stall_free_loop import StallFreeEventLoop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], StallFreeEventLoop]]:
    return {"stall-free": StallFreeEventLoop}
