"""The parser agrees with that of prometheus_client on every page that the latter accepts."""

import re
from math import isnan
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from reporter.scrape.exposition import MalformedExposition, parse_sample
from reporter.scrape.samples import PageSamples
from reporter.stories import metrics_pages
from reporter.stories.metrics_pages import parse_samples


WRITTEN = Path(__file__).parents[1] / "support" / "pages"
PAGES = sorted((*metrics_pages.PAGES.glob("*.txt"), *WRITTEN.glob("*.txt")))
NAMES = ("up", "up_down", "vllm:tokens", "download_speed_bytes", "a1")
SUFFIXES = {"histogram": ("_bucket", "_count", "_sum"), "summary": ("", "_count", "_sum")}
UNREAD = ("_bucket", "_sum")
"""The suffixes of samples that nothing asks for."""


texts = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    | st.sampled_from('"\\{}=, #'),
    max_size=12,
)
label_names = st.sampled_from(["pid", "engine", "le", "handler", "_x9"])
labels = st.dictionaries(label_names, texts, max_size=3)
numbers = st.one_of(
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from(["NaN", "+Inf", "-Inf", "1e3", "4.2e-05", ".5", "5.", "+7"]),
)
blanks = st.sampled_from([" ", "  ", "\t"])
endings = st.sampled_from(["", " 1395066363000", ' # {trace_id="a } b"} 0.67', " # {} 1 2"])


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


@st.composite
def lines(draw, name: str) -> str:
    given = draw(labels)
    inner = ",".join(f'{key}="{escaped(value)}"' for key, value in given.items())
    comma = "," if given and draw(st.booleans()) else ""
    braces = f"{{{inner}{comma}}}" if given or draw(st.booleans()) else ""
    return f"{name}{braces}{draw(blanks)}{draw(numbers)}{draw(endings)}"


@st.composite
def blocks(draw, name: str) -> list[str]:
    kind = draw(st.sampled_from(["gauge", "untyped", "histogram", "summary"]))
    suffix = st.sampled_from(SUFFIXES.get(kind, ("",)))
    body = draw(st.lists(suffix.flatmap(lambda each: lines(name + each)), max_size=4))
    help_ = [f"# HELP {name} {draw(texts)}"] if draw(st.booleans()) else []
    between = draw(st.sampled_from([[], [""], ["# a comment"], ["#"]]))
    return [*help_, f"# TYPE {name} {kind}", *body[:1], *between, *body[1:]]


@st.composite
def pages(draw) -> str:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    every = [line for name in names for line in draw(blocks(name))]
    return "".join(f"{line}\n" for line in every)


def is_read(metric: Metric, sample: Sample) -> bool:
    """Return whether a sample is read: of a histogram or a summary all but buckets and the sum."""
    is_one_of_many = metric.type in {"histogram", "summary"}
    return not is_one_of_many or sample.name not in {f"{metric.name}{each}" for each in UNREAD}


def by_oracle(page: str, family: str) -> list[tuple[str, dict[str, str], str]]:
    return [
        (sample.name, sample.labels, shown(float(sample.value)))
        for metric in text_string_to_metric_families(page)
        if metric.name == family
        for sample in metric.samples
        if is_read(metric, sample)
    ]


def by_us(page: str, family: str) -> list[tuple[str, dict[str, str], str]]:
    found = parse_samples(page.encode(), [family])
    assert not isinstance(found, MalformedExposition), found
    return [(sample.name, dict(sample.labels), shown(sample.value)) for sample in found]


def shown(value: float) -> str:
    return "NaN" if isnan(value) else repr(value)


@given(pages())
def test_generated_pages_are_read_alike(page):
    for family in NAMES:
        assert by_us(page, family) == by_oracle(page, family)


PARTS = ('{a="b"}', '{a="b",}', "{}", *'{}"\\=,# \t\r\v_a1', "} ", ".5", "1", "NaN", "5 # {} 1")
endings_of_lines = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


@example('up{a="b"} \r 1')
@given(lines("up") | endings_of_lines.map("up{}".format))
def test_a_line_is_read_like_those_before_it(line):
    """Its series may be known of another page, and its value not be the last word of the line."""
    alone = parse_sample(line.encode())
    page = f'up{{a="b"}} 7\n{line}\nup 8\n'.encode()
    for _ in range(2):
        found = parse_samples(page, ["up"])
        if re.match(r"up[a-zA-Z0-9_:]", line):
            assert [each.value for each in found] == [7, 8]
        elif alone is None:
            assert isinstance(found, MalformedExposition)
        else:
            assert repr(list(found)[1:-1]) == repr([alone])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_whole_pages_are_read_alike(path):
    page = path.read_text("utf-8")
    every = [metric for metric in text_string_to_metric_families(page) if metric.samples]
    assert len(every) >= 4
    for metric in every:
        family = metric.samples[0].name if metric.type in {"counter", "unknown"} else metric.name
        expected = [
            (s.name, s.labels, shown(float(s.value)))
            for s in metric.samples
            if s.name.startswith(family) and is_read(metric, s)
        ]
        assert by_us(page, family) == expected


@given(st.binary(max_size=200))
def test_nothing_that_a_pod_sends_raises(page):
    found = parse_samples(page, NAMES)
    assert isinstance(found, PageSamples | MalformedExposition)


@given(pages(), st.integers(min_value=1, max_value=400))
def test_a_page_cut_short_is_never_read_as_if_it_were_whole(page, cut):
    short = page.encode()[:-cut]
    found = parse_samples(short, NAMES)
    if short and not short.endswith(b"\n"):
        assert isinstance(found, MalformedExposition)
