"""A page by names gives exactly the samples that the whole page gives, whatever its server registers."""

import math

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Summary,
    generate_latest,
)

from reporter.scrape.exposition import MetricsContent, parse_page
from reporter.scrape.selection import sample_names
from reporter.stories.metrics_pages import finish
from tests.support.stubs import metrics_pages


NAMES = ("up", "up_down", "up_count", "vllm:tokens", "vllm:steps_total", "a1")
KINDS = {"counter": Counter, "gauge": Gauge, "histogram": Histogram, "summary": Summary}

label_values = st.text(st.characters(codec="utf-8"), max_size=6)
numbers = st.floats(min_value=0, max_value=1e9)


@st.composite
def registries(draw) -> CollectorRegistry:
    """A registry of some families, each with a few series; a family may have none."""
    registry = CollectorRegistry()
    kinds = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(sorted(KINDS)), max_size=5)
    for name, kind in draw(kinds).items():
        try:
            family = KINDS[kind](name, "", ("engine",), registry=registry)
        except ValueError:  # a name that another family has already
            continue
        for value in draw(st.lists(label_values, max_size=2, unique=True)):
            child = family.labels(value)
            add = getattr(child, "observe", None) or child.inc
            add(draw(numbers))
    return registry


def read(page: bytes, families: tuple[str, ...]) -> dict[str, list[tuple[str, str, float]]]:
    content, _ = finish(parse_page(page, families))
    assert isinstance(content, MetricsContent)
    found = {}
    for name, samples in content.families.items():
        assert isinstance(samples, tuple), samples
        found[name] = sorted((each.name, str(each.labels), each.value) for each in samples)
        assert not any(math.isnan(each.value) for each in samples)
    return found


def page_names(name: str, kind: str) -> str:
    return f"{name.removesuffix('_total')}_total" if kind == "counter" else name


WANTED = tuple(page_names(name, kind) for name in NAMES for kind in ("counter", "gauge"))


@given(registries(), st.lists(st.sampled_from(WANTED), unique=True, max_size=6).map(tuple))
def test_a_page_by_names_has_what_the_whole_one_has(registry, wanted):
    by_names = metrics_pages.select(registry, sample_names(wanted))
    assert read(by_names, wanted) == read(generate_latest(registry), wanted)
