"""The part of a page that is read: all of it, or the wanted samples by their names."""

import pytest

from reporter.scrape.exposition import MalformedExposition, MetricsContent
from reporter.scrape.limits import MIN_SELECTED_BYTES, PAGES_BETWEEN_WHOLE
from reporter.scrape.samples import Sample
from reporter.scrape.selection import PageSelection, WantedContent, sample_names
from tests.support.engines import scrape_of


WANTED = WantedContent(("vllm:running", "vllm:steps", "vllm:rejected"))
NAMES = sample_names(WANTED.families)
LARGE = MIN_SELECTED_BYTES


def page(*families: str) -> MetricsContent:
    """The content of a page that has a sample of each of these families, and of no other."""
    return MetricsContent(
        {each: (Sample(each, {}, 1.0),) if each in families else () for each in WANTED.families},
        frozenset(),
    )


USUAL = page("vllm:running", "vllm:steps")


def choose(selection: PageSelection, wanted: WantedContent = WANTED) -> tuple[str, ...]:
    return selection.choose_names(wanted, may_select=True)


def after_whole(content=USUAL, *, size: int = LARGE, wanted=WANTED) -> PageSelection:
    """The selection after two whole pages, the second of which confirms the first."""
    selection = PageSelection()
    for _ in range(2):
        assert choose(selection, wanted) == ()
        selection.record_whole(content, None, size=size, share=0.0)
    return selection


def pages_by_names(selection: PageSelection, most: int = 100) -> int:
    """Count the pages that are read by names before a whole one."""
    return next(number for number in range(most) if not choose(selection))


def test_the_first_page_is_whole_and_every_wanted_sample_is_named_then():
    selection = after_whole()
    assert choose(selection) == NAMES
    assert {"vllm:running", "vllm:steps_count", "vllm:steps_sum", "vllm:rejected"} <= {*NAMES}


def test_a_whole_page_is_read_now_and_then():
    assert pages_by_names(after_whole()) == PAGES_BETWEEN_WHOLE


def test_whole_pages_of_pods_that_appear_together_are_spread():
    found = set()
    for tenth in range(10):
        selection = PageSelection()
        choose(selection)
        selection.record_whole(USUAL, None, size=LARGE, share=tenth / 10)
        found.add(pages_by_names(selection))
    assert len(found) == 10


@pytest.mark.parametrize(
    "content", [page(), page("vllm:running"), MalformedExposition("it is cut off")]
)
def test_a_page_by_names_without_a_family_of_the_whole_one_is_not_complete(content):
    assert not after_whole().is_complete(content)


def test_a_family_that_cannot_be_read_is_missing():
    broken = {**USUAL.families, "vllm:steps": MalformedExposition("its lines cannot be read")}
    assert not after_whole().is_complete(MetricsContent(broken, frozenset()))


def test_a_page_by_names_with_one_more_family_is_complete():
    assert after_whole().is_complete(page(*WANTED.families))


def test_a_server_that_does_not_select_is_read_as_a_whole_for_a_while():
    selection = after_whole()
    assert choose(selection)
    selection.record_whole(USUAL, page(), size=LARGE, share=0.0)
    for _ in range(PAGES_BETWEEN_WHOLE):
        assert choose(selection) == ()
        selection.record_whole(USUAL, None, size=LARGE, share=0.0)
    assert choose(selection) == ()
    selection.record_whole(USUAL, None, size=LARGE, share=0.0)
    assert choose(selection) == NAMES


def test_a_server_that_lost_a_family_itself_is_read_by_names_on():
    selection = after_whole()
    assert choose(selection)
    fewer = page("vllm:running")
    selection.record_whole(fewer, fewer, size=LARGE, share=0.0)
    assert choose(selection) == NAMES
    assert selection.is_complete(fewer)


@pytest.mark.parametrize(
    ("content", "size", "wanted"),
    [
        (USUAL, LARGE - 1, WANTED),  # little to gain
        (page(), LARGE, WANTED),  # nothing by which to see whether it selects
        (MalformedExposition("it is cut off"), LARGE, WANTED),
        (USUAL, LARGE, WANTED._replace(prefixes=("vllm:",))),  # no name has a prefix
    ],
)
def test_other_pages_are_read_as_a_whole(content, size, wanted):
    selection = after_whole(content, size=size, wanted=wanted)
    assert choose(selection, wanted) == ()


def test_other_wanted_families_begin_with_a_whole_page():
    selection = after_whole()
    assert choose(selection, WantedContent(("vllm:running",))) == ()


def test_what_may_not_be_selected_is_read_as_a_whole():
    selection = after_whole()
    assert selection.choose_names(WANTED, may_select=False) == ()
    assert choose(selection) == NAMES


def test_all_scrapes_of_a_page_are_joined():
    stalled, cache = (
        scrape_of("inferencesetEngineStalled"),
        scrape_of("inferencesetKVCacheSaturated"),
    )
    wanted = WantedContent.of([stalled, cache])
    assert set(wanted.families) == {*stalled.families, *cache.families}
    assert len(set(wanted.families)) == len(wanted.families)
    assert wanted.prefixes == ()
