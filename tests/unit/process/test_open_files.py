"""The limit of open files, and what scraping takes of it."""

import resource
from pathlib import Path

import pytest

from reporter.controller.scrape_config import make_scrape_config
from reporter.process.main import (
    WANTED_FILES,
    open_files_limit,
    raise_open_files_limit,
)
from reporter.scrape.limits import MAX_CONCURRENT_DIRECT, direct_concurrency
from reporter.settings import load_settings


@pytest.fixture(autouse=True)
def restored():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_soft_limit_is_raised_towards_the_hard_one():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    assert open_files_limit() == 256
    raise_open_files_limit()
    assert open_files_limit() == min(WANTED_FILES, hard)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] == hard


def test_a_limit_that_is_high_enough_stays():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = (hard, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    raise_open_files_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


@pytest.mark.parametrize(("files", "pages"), [(1024, 512), (4096, 512), (512, 32), (256, 16)])
def test_scraping_leaves_files_for_probes_and_the_api_server(files, pages):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    settings = load_settings([], {}, hostname="x", namespace_file=Path("/nowhere"))
    config = make_scrape_config(settings, {}, inside=True)
    total, (first, second) = direct_concurrency(config.files)
    assert total == pages
    assert total / 2 <= first < second < total


def test_with_the_usual_limit_nothing_is_less():
    assert direct_concurrency(544) == MAX_CONCURRENT_DIRECT
