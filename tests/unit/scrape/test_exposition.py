"""Samples that are parsed from a page, and pages that are refused."""

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


def values(page: bytes, *families: str) -> list[float]:
    found = parse_samples(page, families)
    assert not isinstance(found, MalformedExposition), found
    return [sample.value for sample in found]


def why(page: bytes, *families: str) -> str:
    found = parse_samples(page, families or (SPEED,))
    assert isinstance(found, MalformedExposition), found
    return found.why


def test_families_are_returned_in_the_requested_order():
    assert values(PRE_DOWNLOAD, REMAINING, SPEED) == [16512.4, 3102542.88]


def test_every_series_of_a_family_is_read_with_its_labels():
    found = parse_samples(VLLM, [SPEED])
    assert not isinstance(found, MalformedExposition)
    assert [(s.name, s.labels, s.value) for s in found] == [
        (SPEED, {"pid": "57"}, 0.0),
        (SPEED, {"pid": "211"}, 0.0),
    ]


def test_a_histogram_is_its_count_and_its_sum():
    family = "vllm:iteration_tokens_total"
    assert values(VLLM, family) == [9120, 61877]


def test_a_line_without_a_type_is_of_the_family_with_the_longest_name():
    families = ("vllm:a", "vllm:a_b", "vllm:b")
    content, _ = finish(parse_page(b"vllm:a_b 1\nvllm:b 3\nvllm:a 2\nvllm:a_x 5\n", families))
    assert {name: [s.value for s in found] for name, found in content.families.items()} == {
        "vllm:a": [2],
        "vllm:a_b": [1],
        "vllm:b": [3],
    }


def test_a_family_that_cannot_be_read_spoils_no_other_one():
    page = f"# TYPE {SPEED} gauge\n{SPEED} x\n# TYPE {REMAINING} gauge\n{REMAINING} 7\n"
    for order in ((SPEED, REMAINING), (REMAINING, SPEED)):
        content, _ = finish(parse_page(page.encode(), order))
        assert isinstance(content.families[SPEED], MalformedExposition)
        assert [s.value for s in content.families[REMAINING]] == [7]


def test_braces_quotes_and_new_lines_in_labels_are_what_they_were():
    found = parse_samples(VLLM, ["vllm:cache_config_info"])
    assert not isinstance(found, MalformedExposition)
    note = 'a "quoted" {brace}, a back\\slash and\na new line'
    assert found[0].labels["note"] == note
    assert values(VLLM, "http_requests_total") == [12, 4711]


def test_values_need_not_be_finite():
    assert isnan(values(VLLM, "vllm:kv_cache_usage_perc")[0])
    assert values(VLLM, "http_request_duration_highr_seconds")[-1] == inf


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
        *(17, 324789.3),
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
TYPED = b"# TYPE %b gauge\n" % NAME
COSTLY = {
    "names that begin like ours": TYPED + b'%b_x{a="b"} 1\n' % NAME * 90_000,
    "the same without a type": b"other 1\n" + b'%b_x{a="b"} 1\n' % NAME * 90_000,
    "empty lines": TYPED + b"\n" * 4_000_000,
    "comments": TYPED + b"#\n" * 2_000_000,
    "help": TYPED + b"# HELP x\n" * 400_000,
    "its type again and again": TYPED * 80_000,
    "its block again and again": (TYPED + b"# TYPE x gauge\n") * 60_000,
    "escapes": TYPED + (NAME + b'{a="' + b"\\\\" * 2000 + b'"} 1\n') * 900,
    "labels": TYPED
    + (NAME + b"{" + b",".join(b'l%d=""' % n for n in range(500)) + b"} 1\n") * 900,
}


@pytest.mark.parametrize("page", COSTLY.values(), ids=COSTLY)
def test_the_work_for_a_page_is_bounded_and_comes_in_steps(page):
    """Each step has at most so many lines and bytes, so the number of steps is the work."""
    assert len(page) > 3_000_000
    content, steps = finish(parse_page(page, [SPEED, REMAINING], ["vllm:"]))
    assert isinstance(content, MalformedExposition)
    assert content.is_too_costly
    scanned = 5 * (len(page) // limits.STEP_BYTES + 1)
    assert steps <= scanned + limits.MAX_LINES // limits.STEP_LINES + (
        limits.MAX_SAMPLE_BYTES // limits.STEP_SAMPLE_BYTES
    )
    assert steps > 20


def test_a_page_of_a_real_engine_is_one_step():
    page = metrics_pages.vllm()
    assert 60_000 < len(page) < 130_000
    families = (SPEED, REMAINING, "vllm:num_requests_waiting", "vllm:time_to_first_token_seconds")
    content, steps = finish(parse_page(page, families, ["vllm:"]))
    assert steps == 1
    assert {name: len(found) for name, found in content.families.items()} == {
        SPEED: 1,
        REMAINING: 1,
        "vllm:num_requests_waiting": 2,
        "vllm:time_to_first_token_seconds": 2 * 2,
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


@pytest.mark.parametrize("name", ["STEP_SAMPLE_BYTES", "STEP_LINES"])
def test_a_block_may_be_parsed_in_parts_without_losing_a_line(monkeypatch, name):
    families = ["vllm:iteration_tokens_total", "http_requests_total", "vllm:cache_config_info"]
    expected, _ = finish(parse_page(VLLM, families))
    assert all(expected.families.values())
    for size in (1, 3, 20, 90, 400):
        monkeypatch.setattr(limits, name, size)
        found, steps = finish(parse_page(VLLM, families))
        assert found == expected
        assert steps > (1 if size <= 3 else 0)


def test_a_block_ends_where_another_family_begins():
    page = f"# TYPE {SPEED} gauge\n{SPEED} 1\n# TYPE x gauge\n{SPEED} 2\n"
    assert values(page.encode(), SPEED) == [1.0]


def test_names_that_begin_alike_are_found_whatever_begins_how():
    names = ("a", "ab", "abc", "abd", "b:a", "b:ab")
    page = "".join(f"# TYPE {name} gauge\n{name} {at}\n" for at, name in enumerate(names))
    for text in (page, page.replace("# TYPE", "# HELP")):
        content, _ = finish(parse_page(text.encode(), names))
        assert [s.value for name in names for s in content.families[name]] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("typed", [True, False])
def test_families_that_the_page_before_lacks_may_be_there_or_not(typed):
    """The guess saves time, and changes nothing."""
    names = ("a", "ab", "b", "c")
    page = "".join(f"{name} {at}\n" for at, name in enumerate(names) if name != "c")
    if typed:
        page = page.replace("ab ", "# TYPE ab gauge\nab ") + "a 7\nab 8\n"
    expected, _ = finish(parse_page(page.encode(), names))
    assert isinstance(expected, MetricsContent)
    assert [bool(expected.families[name]) for name in names] == [True, True, True, False]
    for missing in ((), ("c",), ("a", "b", "c"), names, ("a", "ab")):
        found, _ = finish(parse_page(page.encode(), names, missing=missing))
        assert found == expected


@pytest.mark.parametrize("missing", [(), (SPEED,)])
def test_lines_of_a_family_without_a_type_are_counted(missing):
    page = b"other 1\n" + f"{SPEED}_x 1\n".encode() * (limits.MAX_LINES + 1)
    content, steps = finish(parse_page(page, [SPEED], missing=missing))
    assert isinstance(content, MalformedExposition)
    assert content.is_too_costly
    assert steps >= limits.MAX_LINES // limits.STEP_LINES


def test_a_step_that_ends_within_a_name_is_not_the_end_of_it(monkeypatch):
    page = b"x 1\n" * 10 + b"vllm:a_b 7\n" + b"x 1\n" * 10
    for size in range(20, 80):
        monkeypatch.setattr(limits, "STEP_BYTES", size)
        content, _ = finish(parse_page(page, ["vllm:a", "vllm:a_b"]))
        assert isinstance(content, MetricsContent)
        assert [len(found) for found in content.families.values()] == [0, 1]


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


@pytest.mark.parametrize("missing", [(), ("vllm:a",)])
def test_what_another_page_lacks_makes_no_page_too_costly(missing):
    buckets = "".join(
        f'vllm:a_bucket{{le="{each}"}} 1\n' for each in range(limits.MAX_LINES // 2 + 1)
    )
    page = f"# TYPE vllm:a histogram\n{buckets}vllm:a_count 7\n".encode()
    content, _ = finish(parse_page(page, ["vllm:a"], missing=missing))
    assert isinstance(content, MetricsContent)
    assert [each.value for each in content.families["vllm:a"]] == [7]
