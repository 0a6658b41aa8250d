"""Each label of a metric is explained, and so is each value of a closed set."""

import pytest

from docs.generators.label_texts import CLOSED_SETS, LABEL_TEXTS
from reporter.metrics.declarations import METRICS


def explanations(label: str, metric) -> int:
    """Return how many texts are about a label of a metric."""
    texts = [each for each in LABEL_TEXTS if label in each.labels]
    own = [each for each in texts if metric in each.metrics]
    closed = [each for each in CLOSED_SETS if each.label == label and metric in each.metrics]
    return len(own) + len(closed) or len([each for each in texts if not each.metrics])


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_each_label_is_explained_once(metric):
    assert {label: explanations(label, metric) for label in metric.labels} == dict.fromkeys(
        metric.labels, 1
    )


@pytest.mark.parametrize("closed", CLOSED_SETS, ids=lambda each: each.heading)
def test_each_value_of_a_closed_set_is_explained(closed):
    values = [*closed.values]
    assert [each for each in type(values[0]) if each not in values] == []
    assert all(text for texts in closed.values.values() for text in texts)
