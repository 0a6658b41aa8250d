"""The time over which the scaler averages a metric, from the scaling annotation."""

from datetime import timedelta

import pytest

from reporter.resources.scaling_annotations import longest_cache_window


GAUGE = "{name: queue, type: gauge, upthreshold: 2, downthreshold: 1}"
HISTOGRAM = "{name: time, type: histogram, upthreshold: 2, downthreshold: 1%s}"


@pytest.mark.parametrize(
    ("metrics", "seconds"),
    [
        ([], 0),
        ([GAUGE], 0),
        ([GAUGE, HISTOGRAM % ""], 300),
        ([HISTOGRAM % ", metricCacheWindow: 60", HISTOGRAM.replace("time", "b") % ", metriccachewindow: 90"], 90),
        ([HISTOGRAM % ", metriccachewindow: 0x3c"], 60),
        ([HISTOGRAM % ", metriccachewindow: 1e300"], 86_400),
        ([HISTOGRAM % ", metriccachewindow: soon"], 0),
    ],
)  # fmt: skip
def test_the_longest_window_of_the_histograms_counts(metrics, seconds):
    assert longest_cache_window(f"[{', '.join(metrics)}]") == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "{", "no list", "[1, 2]", "x" * 20_000])
def test_a_list_that_the_scaler_refuses_has_no_window(text):
    assert longest_cache_window(text) == timedelta(0)
