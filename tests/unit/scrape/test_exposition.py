"""Samples that are parsed from a page, and pages that are refused."""

from collections.abc import Collection
from math import inf, isnan
from pathlib import Path

import pytest

from reporter.scrape import limits
from reporter.scrape.exposition import MalformedExposition, MetricsContent, parse_page
from reporter.stories.metrics_pages import finish, has_family, parse_samples
from tests.support.stubs import metrics_pages


PAGES = Path(__file__).parents[2] / "support" / "pages"
PRE_DOWNLOAD = (PAGES / "pre-download.txt").read_bytes()
VLLM = (PAGES / "vllm.txt").read_bytes()
OPENMETRICS = (PAGES / "openmetrics.txt").read_bytes()
SPEED, REMAINING = metrics_pages.SPEED, metrics_pages.REMAINING


def content_of(page: bytes, families: Collection[str]) -> MetricsContent:
    content, _ = finish(parse_page(page, families))
    assert isinstance(content, MetricsContent), content
    return content


def values_of(content: MetricsContent, *families: str) -> list[float]:
    found = content.samples_of(families)
    assert not isinstance(found, MalformedExposition), found
    return [sample.value for sample in found]


def values(page: bytes, *families: str) -> list[float]:
    found = parse_samples(page, families)
    assert not isinstance(found, MalformedExposition), found
    return [sample.value for sample in found]


def why(page: bytes, *families: str) -> str:
    found = parse_samples(page, families or (SPEED,))
    assert isinstance(found, MalformedExposition), found
    return found.why


def test_samples_are_in_the_order_of_the_page():
    for families in ((SPEED, REMAINING), (REMAINING, SPEED)):
        assert values(PRE_DOWNLOAD, *families) == [3102542.88, 16512.4]


def test_every_series_of_a_family_is_read_with_its_labels():
    found = parse_samples(VLLM, [SPEED])
    assert not isinstance(found, MalformedExposition)
    assert [(s.name, s.labels, s.value) for s in found] == [
        (SPEED, {"pid": "57"}, 0.0),
        (SPEED, {"pid": "211"}, 0.0),
    ]


def test_a_histogram_is_its_count():
    assert values(VLLM, "vllm:iteration_tokens_total") == [9120]


def test_a_line_is_of_the_family_with_the_longest_name():
    families = ("vllm:a", "vllm:a_b", "vllm:b")
    content = content_of(b"vllm:a_b 1\nvllm:b 3\nvllm:a 2\nvllm:a_x 5\n", families)
    assert {name: values_of(content, name) for name in families} == {
        "vllm:a": [2],
        "vllm:a_b": [1],
        "vllm:b": [3],
    }


def test_a_sample_that_could_be_of_two_families_is_of_the_one_with_its_name():
    page = b"a 1\na_count 2\na_count_count 3\n"
    for families in (("a", "a_count"), ("a_count", "a")):
        content = content_of(page, families)
        assert values_of(content, "a") == [1]
        assert values_of(content, "a_count") == [2, 3]
    assert values(page, "a") == [1, 2]


def test_a_family_that_cannot_be_read_spoils_no_other_one():
    page = f"# TYPE {SPEED} gauge\n{SPEED} x\n# TYPE {REMAINING} gauge\n{REMAINING} 7\n"
    for order in ((SPEED, REMAINING), (REMAINING, SPEED)):
        content = content_of(page.encode(), order)
        assert isinstance(content.samples_of((SPEED,)), MalformedExposition)
        assert isinstance(content.samples_of(order), MalformedExposition)
        assert values_of(content, REMAINING) == [7]


def test_braces_quotes_and_new_lines_in_labels_are_what_they_were():
    found = parse_samples(VLLM, ["vllm:cache_config_info"])
    assert not isinstance(found, MalformedExposition)
    note = 'a "quoted" {brace}, a back\\slash and\na new line'
    assert [sample.labels["note"] for sample in found] == [note]
    assert values(VLLM, "http_requests_total") == [12, 4711]


def test_values_need_not_be_finite():
    assert isnan(values(VLLM, "vllm:kv_cache_usage_perc")[0])
    assert values(b"a +Inf\nb -Inf\n", "a", "b") == [inf, -inf]


def test_a_family_that_begins_like_another_is_another():
    assert values(VLLM, "vllm:num_requests_waiting") == [6.0]


def test_a_family_that_is_not_there_has_no_samples():
    assert values(VLLM, "vllm:engine_sleep_state") == []


def test_without_a_type_line_samples_are_found_by_their_names():
    page = b"other 1\n" + SPEED.encode() + b'{pid="1"} 5\n' + SPEED.encode() + b"_ratio 7\n"
    assert values(page, SPEED) == [5.0]


def test_exemplars_timestamps_and_the_end_mark_of_openmetrics_are_left_out():
    assert values(OPENMETRICS, SPEED, "http_requests_total", "latency_seconds") == [
        3102542.88,
        4711,
        17,
    ]


def test_comments_and_empty_lines_may_stand_between_samples():
    page = f"# TYPE {SPEED} gauge\n\n# by hand\n{SPEED} 1\n# HELP {SPEED} Of it.\n{SPEED} 2\n"
    assert values(page.encode(), SPEED) == [1.0, 2.0]


def test_lines_may_end_as_on_windows():
    page = PRE_DOWNLOAD.replace(b"\n", b"\r\n")
    assert values(page, SPEED, REMAINING) == [3102542.88, 16512.4]


def test_an_empty_page_has_no_samples():
    assert values(b"", SPEED) == []


@pytest.mark.parametrize(
    "page",
    [
        b"<!DOCTYPE html>\n<html><body>Bad gateway</body></html>\n",
        b"\n\n  <html>\n",
        b'{"status": "ok"}\n',
        b"404 page not found\n",
        b"service is starting\n",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\n",
        b"\x00" * 100 + b"\n",
    ],
)
def test_what_is_no_page_of_metrics_is_an_error(page):
    assert why(page) == "it is not in the Prometheus text format"


@pytest.mark.parametrize("cut", [1, 5, 300, 900])
def test_a_page_that_is_cut_off_is_an_error(cut):
    assert "cut off" in why(PRE_DOWNLOAD[:-cut])


@pytest.mark.parametrize(
    "line",
    ["", "x", "1_000", "0x10", "1 2 3", "1 soon", '{a="b} 1', "{a=b} 1", '{a="1",a="2"} 1'],
)
def test_a_wanted_line_that_cannot_be_read_is_an_error(line):
    page = f"# TYPE {SPEED} gauge\n{SPEED} {line}\n"
    assert SPEED in why(page.encode())


def test_a_line_of_another_family_may_be_anything():
    page = b"# TYPE other gauge\nother {{{{ nonsense\n" + PRE_DOWNLOAD
    assert values(page, SPEED) == [3102542.88]


def test_a_page_of_two_megabytes_is_read():
    filler = b"".join(
        b'# TYPE f%d gauge\nf%d{handler="/v1/{id}"} %d\n' % (n, n, n) for n in range(45_000)
    )
    assert len(filler) > 2e6
    assert values(filler + PRE_DOWNLOAD, SPEED, "nothing") == [3102542.88]


def test_a_pod_cannot_make_us_keep_a_page_full_of_samples():
    many = b"".join(b'%s{n="%d"} 1\n' % (SPEED.encode(), n) for n in range(1001))
    assert "more than 1000" in why(many)
    assert "more than 1000" in why(b"# TYPE %s gauge\n" % SPEED.encode() + many)


NAME = SPEED.encode()
SEARCHED = {
    "names that begin like ours": b"other 1\n" + b'%b_x{a="b"} 1\n' % NAME * 90_000,
    "empty lines": b"\n" * 4_000_000,
    "comments": b"#\n" * 2_000_000,
    "its type again and again": b"# TYPE %b gauge\n" % NAME * 90_000,
}
PARSED = {
    "samples": NAME + b'{a="b"} 1\n' + b'%b{a="b"} 1\n' % NAME * 90_000,
    "samples without labels": b"%b 1\n" % NAME * 90_000,
    "escapes": (NAME + b'{a="' + b"\\\\" * 2000 + b'"} 1\n') * 900,
    "labels": (NAME + b"{" + b",".join(b'l%d=""' % n for n in range(500)) + b"} 1\n") * 900,
}


@pytest.mark.parametrize("page", SEARCHED.values(), ids=SEARCHED)
def test_a_page_is_searched_in_steps(page):
    assert len(page) > 3_000_000
    content, steps = finish(parse_page(page, [SPEED, REMAINING], ["vllm:"]))
    assert isinstance(content, MetricsContent)
    assert not content.samples
    assert steps >= 2 * (len(page) // limits.STEP_BYTES)


@pytest.mark.parametrize("page", PARSED.values(), ids=PARSED)
def test_the_samples_of_a_page_are_bounded_and_parsed_in_steps(page):
    content, steps = finish(parse_page(page, [SPEED, REMAINING], ["vllm:"]))
    assert isinstance(content, MalformedExposition)
    assert content.is_too_costly
    longest = max(map(len, page[:20_000].split(b"\n")))
    assert steps >= limits.MAX_SAMPLE_BYTES // (limits.STEP_SAMPLE_BYTES + longest)


def test_a_page_of_a_real_engine_is_one_step():
    page = metrics_pages.vllm()
    assert 60_000 < len(page) < 130_000
    families = (SPEED, REMAINING, "vllm:num_requests_waiting", "vllm:time_to_first_token_seconds")
    content, steps = finish(parse_page(page, families, ["vllm:"]))
    assert steps == 1
    assert isinstance(content, MetricsContent)
    assert {name: len(values_of(content, name)) for name in families} == {
        SPEED: 1,
        REMAINING: 1,
        "vllm:num_requests_waiting": 2,
        "vllm:time_to_first_token_seconds": 2,
    }


def test_a_step_may_end_anywhere_without_losing_a_line(monkeypatch):
    expected, _ = finish(parse_page(VLLM, [SPEED, "vllm:iteration_tokens_total"], ["vllm:", "no"]))
    for size in range(60, 400, 7):
        monkeypatch.setattr(limits, "STEP_BYTES", size)
        found, steps = finish(
            parse_page(VLLM, [SPEED, "vllm:iteration_tokens_total"], ["vllm:", "no"])
        )
        assert found == expected
        assert steps > 10


def test_samples_may_be_parsed_in_parts_without_losing_one(monkeypatch):
    families = ["vllm:iteration_tokens_total", "http_requests_total", "vllm:cache_config_info"]
    expected = content_of(VLLM, families)
    assert all(values_of(expected, name) for name in families)
    for size in (1, 64, 90, 200):
        monkeypatch.setattr(limits, "STEP_SAMPLE_BYTES", size)
        found, steps = finish(parse_page(VLLM, families))
        assert found == expected
        assert steps > 1


def test_a_page_of_many_engines_is_read():
    page = b"".join(
        b'a{engine="%d",model="a-long-name-of-a-model"} %d\n' % (n, n) for n in range(500)
    )
    content, steps = finish(parse_page(page, ["a"]))
    assert isinstance(content, MetricsContent)
    assert [(s.labels["engine"], s.value) for s in content.samples] == [
        (str(n), n) for n in range(500)
    ]
    assert steps == 1 + 500 * 64 // limits.STEP_SAMPLE_BYTES


def test_a_sample_counts_wherever_it_stands():
    page = f"# TYPE {SPEED} gauge\n{SPEED} 1\n# TYPE x gauge\n{SPEED} 2\n"
    assert values(page.encode(), SPEED) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("ending", "value"),
    [(" 7", 7), ("  7", 7), (" 7 ", 7), (" 7 1395066363000", 7), (' 7 # {trace="a } b"} 5', 7)],
)
def test_a_page_of_the_same_series_has_values_of_its_own(ending, value):
    """The first page makes the series known, and the last has lines that are written otherwise."""
    first, other = f'{SPEED}{{pid="1"}}', f'{SPEED}{{pid="2"}}'
    for values_before in ((1, 2), (3, 4)):
        page = "".join(
            f"{each} {n}\n" for each, n in zip((first, other), values_before, strict=True)
        )
        assert values(page.encode(), SPEED) == list(values_before)
    page = f"{first} 5\n{other}{ending}\n"
    assert values(page.encode(), SPEED) == [5, value]


def test_names_that_begin_alike_are_found_whatever_begins_how():
    names = ("a", "ab", "abc", "abd", "b:a", "b:ab")
    page = "".join(f"# TYPE {name} gauge\n{name} {at}\n" for at, name in enumerate(names))
    for text in (page, page.replace("# TYPE", "# HELP")):
        content = content_of(text.encode(), names)
        assert [value for name in names for value in values_of(content, name)] == [
            0,
            1,
            2,
            3,
            4,
            5,
        ]


def test_a_step_that_ends_within_a_name_is_not_the_end_of_it(monkeypatch):
    page = b"x 1\n" * 10 + b"vllm:a_b 7\n" + b"x 1\n" * 10
    for size in range(20, 80):
        monkeypatch.setattr(limits, "STEP_BYTES", size)
        content = content_of(page, ["vllm:a", "vllm:a_b"])
        assert [values_of(content, name) for name in ("vllm:a", "vllm:a_b")] == [[], [7]]


def test_a_line_has_a_longest():
    long = b'%s{n="%s"} 1\n' % (SPEED.encode(), b"x" * 10_000)
    assert "too long" in why(b"# TYPE %s gauge\n" % SPEED.encode() + long)


@pytest.mark.parametrize(
    ("page", "there"),
    [
        (VLLM, True),
        (VLLM.replace(b"# ", b"## "), True),
        (PRE_DOWNLOAD, False),
        (b"# TYPE vllm:num_requests_running gauge\n", True),
        (b"vllm:x 1\n", True),
        (b'other{note="vllm:x"} 1\n', False),
        (b"", False),
    ],
)
def test_whether_the_engine_has_families_of_its_own(page, there):
    assert has_family(page, "vllm:") is there


def test_what_the_stub_serves_is_read():
    assert values(metrics_pages.pre_download(3.1e6, 16512.5), SPEED, REMAINING) == [3.1e6, 16512.5]
    assert has_family(metrics_pages.engine(), "vllm:")


def test_buckets_make_no_page_too_costly():
    buckets = b"".join(b'vllm:a_bucket{le="%d"} 1\n' % each for each in range(40_000))
    page = b"# TYPE vllm:a histogram\n%bvllm:a_sum 9\nvllm:a_count 7\n" % buckets
    assert values(page, "vllm:a") == [7]
