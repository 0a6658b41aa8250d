"""Series gathered by cluster label and source."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reporter.hub import queries as labels
from reporter.hub.cluster_reports import MAX_NAMES, ClusterReportReader, KnownSeries
from reporter.hub.query_results import gather_namespaces, gather_revisions, gather_trouble
from reporter.hub.series import STATES, source_of
from reporter.metrics.declarations import (
    ROLLUP_BLOCKING_INFO,
    ROLLUP_CLUSTER_INFO,
    ROLLUP_EVALUATED,
    ROLLUP_INFERENCE_SETS,
    ROLLUP_MISSING_RIGHTS,
    ROLLUP_PACKAGE_INFO,
    ROLLUP_REPLICAS,
    ROLLUP_SILENCED_UNTIL,
    ROLLUP_STATE,
    ROLLUP_UNOBSERVED,
)
from reporter.metrics.rollups import UNKNOWN_NAMESPACES, UNLISTED_LAYERS
from reporter.model.fleet_status import Dropped
from reporter.model.states import State
from reporter.model.status_document import Unobserved
from reporter.rollup.records import NO_COUNTS
from tests.support.fleet.series import NOON, SeriesSample, SourceSeries, all_clusters, series_of


YEAR_2099 = datetime(2099, 1, 1, tzinfo=UTC).timestamp()


def gather(*sources: SourceSeries):
    return read(all_clusters(sources))


def read(samples: list[SeriesSample], reader: ClusterReportReader | None = None):
    return (reader or ClusterReportReader("cluster")).read(series_of(samples), NOON)


def test_names_and_labels_are_those_of_the_metrics():
    found = {
        labels.STATE: ROLLUP_STATE,
        labels.INFERENCE_SETS: ROLLUP_INFERENCE_SETS,
        labels.REPLICAS: ROLLUP_REPLICAS,
        labels.PACKAGE_INFO: ROLLUP_PACKAGE_INFO,
        labels.BLOCKING_INFO: ROLLUP_BLOCKING_INFO,
        labels.CLUSTER_INFO: ROLLUP_CLUSTER_INFO,
        labels.SILENCED_UNTIL: ROLLUP_SILENCED_UNTIL,
        labels.EVALUATED: ROLLUP_EVALUATED,
        labels.UNOBSERVED: ROLLUP_UNOBSERVED,
        labels.MISSING_RIGHTS: ROLLUP_MISSING_RIGHTS,
    }
    assert {labels.PREFIX + name: each.full_name for name, each in found.items()} == {
        each.full_name: each.full_name for each in found.values()
    }
    own = {label for each in found.values() for label in each.labels}
    assert own | {labels.NAME} == labels.METRIC_LABELS
    whats = (labels.UNKNOWN_NAMESPACES, labels.UNLISTED_LAYERS)
    assert whats == (UNKNOWN_NAMESPACES, UNLISTED_LAYERS)
    assert [*STATES] == ["current", "in_progress", "unknown", "failed", "terminating"]


def test_what_a_source_reports():
    answer = gather(SourceSeries())
    ((source, report),) = answer.reports["prod"].items()
    assert source.uid == report.uid == "uid-1"
    assert (report.evaluated, report.state, report.version) == (NOON, State.CURRENT, "0.1.0")
    assert report.counts == {**NO_COUNTS, State.CURRENT: 3}
    assert (report.replicas.desired, report.replicas.ready, report.replicas.updated) == (
        4,
        4,
        None,
    )
    assert answer.series == {"prod": 12}
    assert answer.dropped == {}


def test_sources_differ_by_the_labels_of_their_target():
    other = replace(SourceSeries(), target={"job": "reporter", "pod": "b"})
    assert len(gather(SourceSeries(), other).reports["prod"]) == 2
    assert len(gather(SourceSeries(), SourceSeries()).reports["prod"]) == 1


@pytest.mark.parametrize("turned", [False, True])
def test_sources_that_cannot_be_told_apart_have_no_state_and_one_time(turned):
    """
    The label version is none of a target, so two replicas that differ in it alone are one source.
    """
    one = list(SourceSeries().clusters())
    later = replace(SourceSeries(), evaluated=NOON + 7, counts={State.CURRENT: 4}).clusters()
    other = [SeriesSample({**each.labels, "version": "2"}, each.value) for each in later]
    samples = [*other, *one] if turned else [*one, *other]
    (report,) = read(samples).reports["prod"].values()
    assert (report.evaluated, report.state, report.counts) == (
        NOON + 7,
        None,
        {**NO_COUNTS, State.CURRENT: 4},
    )


def test_counts_of_which_some_are_missing_are_not_known():
    current = "inferencesets", State.CURRENT.key
    left = [s for s in SourceSeries().clusters() if not _is(s, *current)]
    (report,) = read(left).reports["prod"].values()
    assert (report.state, report.counts) == (State.CURRENT, {})


def _is(sample: SeriesSample, metric: str, state: str) -> bool:
    return sample.labels["__name__"].endswith(metric) and sample.labels.get("state") == state


def test_a_source_without_a_time_is_none():
    samples = [s for s in SourceSeries().clusters() if "cluster_uid" not in s.labels]
    assert read(samples).reports == {"prod": {}}


def test_what_no_reporter_writes_is_dropped_and_named():
    name = labels.PREFIX + labels.STATE
    samples = [
        SeriesSample({"__name__": name, "cluster": "a", "scope": "cluster", "state": "fine"}, "1"),
        SeriesSample({"__name__": labels.PREFIX + "replicas", "cluster": "b", "count": "x"}, "1"),
        SeriesSample(
            {"__name__": labels.PREFIX + "replicas", "cluster": "c", "count": "ready"}, "-1"
        ),
        SeriesSample({"__name__": "other", "cluster": "d"}, "1"),
        SeriesSample({"__name__": labels.PREFIX + labels.EVALUATED, "cluster": "e"}, "+Inf"),
        SeriesSample(
            {"__name__": name, "cluster": "a", "scope": "cluster", "state": "current"}, "0.5"
        ),
        SeriesSample({"__name__": name, "cluster": "f" * 254}, "1"),
        SeriesSample({"__name__": name, "cluster": "\x1b[31m", "pod": "\x1b"}, "1"),
    ]
    dropped = read(samples).dropped
    assert dropped.keys() == {Dropped.INVALID}
    assert dropped[Dropped.INVALID].series == len(samples)
    assert all(each.isprintable() for each in dropped[Dropped.INVALID].names)


def test_at_most_twenty_names_are_kept():
    many = [replace(SourceSeries(), label="", uid=f"uid-{number:03}") for number in range(100)]
    dropped = gather(*many).dropped[Dropped.NO_LABEL]
    assert dropped.series == 1200
    assert len(dropped.names) == MAX_NAMES


@pytest.mark.parametrize("turned", [False, True])
def test_a_series_that_is_there_twice_may_contradict_itself(turned):
    """An engine that answers for several copies may have each once, in any order."""
    one = list(SourceSeries().clusters())
    other = list(replace(SourceSeries(), evaluated=NOON + 7).clusters())
    answer = read([*other, *one] if turned else [*one, *other])
    (report,) = answer.reports["prod"].values()
    assert (report.evaluated, report.state) == (NOON + 7, None)
    assert answer.series == {"prod": len(one) + len(other)}
    numbers = list(replace(SourceSeries(), counts={State.CURRENT: 4}).clusters())
    (report,) = read([*numbers, *one] if turned else [*one, *numbers]).reports["prod"].values()
    assert (report.counts[State.CURRENT], report.state) == (4, None)


FIRST, OTHER = SourceSeries(), replace(SourceSeries(), label="west", uid="uid-2")
MOVED = replace(FIRST, target={"job": "reporter", "pod": "b"})
ANSWERS = {
    "the same": [FIRST, OTHER],
    "later": [replace(FIRST, evaluated=NOON + 7), replace(OTHER, evaluated=NOON + 8)],
    "another state": [OTHER, replace(FIRST, states=(State.FAILED,), counts={State.FAILED: 2})],
    "no numbers": [replace(FIRST, counts={}), replace(OTHER, unobserved={})],
    "one is gone": [OTHER],
    "nothing": [],
    "another source": [MOVED, OTHER],
    "two sources": [FIRST, MOVED],
    "no cluster label": [replace(FIRST, label=""), OTHER],
    "no time": [replace(FIRST, evaluated="NaN"), OTHER],
    "no number": [replace(FIRST, counts={State.CURRENT: -1}), OTHER],
    "two times": [FIRST, replace(FIRST, evaluated=NOON + 9, version="0.2.0"), OTHER],
}


@pytest.mark.parametrize("later", ANSWERS)
@pytest.mark.parametrize("earlier", ANSWERS)
def test_an_answer_means_the_same_whatever_was_answered_before(earlier, later):
    reader = ClusterReportReader("cluster")
    samples = all_clusters(ANSWERS[later])
    read(all_clusters(ANSWERS[earlier]), reader)
    assert read(samples, reader) == read(samples)
    assert read(samples, reader) == read(samples)


def test_labels_that_are_gone_are_forgotten():
    known = KnownSeries("cluster")
    for number in range(50):
        source = replace(SourceSeries(), target={"pod": f"pod-{number}"})
        series = series_of(source.clusters())
        assert len(list(known.read(series))) == len(series)
        assert len(known) <= 2 * len(series)


def test_trouble_by_source():
    failing = replace(
        SourceSeries(),
        blocking=("clusterKaitoControllerNotReady", "Crash", "platform"),
        namespaces={"team-b": State.FAILED, "team-a": State.IN_PROGRESS},
    )
    answer = gather_trouble(series_of(failing.trouble()), "cluster")
    (trouble,) = answer["prod"].values()
    assert trouble.blocking.reason == "clusterKaitoControllerNotReady"
    assert trouble.blocking.stalled
    assert [(each.name, each.state) for each in trouble.namespaces] == [
        ("team-a", State.IN_PROGRESS),
        ("team-b", State.FAILED),
    ]


def test_what_blocks_is_silenced_until_the_reported_time():
    silenced = replace(
        SourceSeries(),
        blocking=("clusterKaitoControllerNotReady", "Crash", "platform"),
        namespaces={"team-a": State.FAILED, "team-b": State.FAILED},
        silenced_until={"": NOON + 3600, "team-a": YEAR_2099},
    )
    (trouble,) = gather_trouble(series_of(silenced.trouble()), "cluster")["prod"].values()
    assert trouble.blocking.silenced_until == datetime(2026, 1, 1, 13, tzinfo=UTC)
    assert [each.name for each in trouble.namespaces] == ["team-a", "team-b"]
    not_silenced = replace(silenced, silenced_until={})
    (trouble,) = gather_trouble(series_of(not_silenced.trouble()), "cluster")["prod"].values()
    assert trouble.blocking.silenced_until is None


def test_the_detail_has_the_silence_of_each_namespace():
    cause = {"reason": "modelharnessGatewayDataPlaneNotReady", "code": "x", "stalled": "false"}
    series = replace(
        SourceSeries(),
        namespaces={"team-a": State.FAILED, "team-b": State.FAILED},
        silenced_until={"team-a": YEAR_2099},
    )
    samples = [
        *series.detail(),
        *(
            SeriesSample(
                {
                    "__name__": labels.PREFIX + labels.BLOCKING_INFO,
                    "cluster": "prod",
                    "scope": "namespace",
                    "workload_namespace": name,
                    **series.target,
                    **cause,
                },
                "1",
            )
            for name in series.namespaces
        ),
    ]
    source = source_of(samples[0].labels)
    ends = [each.blocking.silenced_until for each in gather_namespaces(series_of(samples), source)]
    assert ends == [datetime(2099, 1, 1, tzinfo=UTC), None]


@pytest.mark.parametrize("value", ["NaN", "-1", "1e300"])
def test_an_end_that_is_no_time_is_none(value):
    series = replace(
        SourceSeries(), blocking=("a", "b", "platform"), silenced_until={"": float(value)}
    )
    (trouble,) = gather_trouble(series_of(series.trouble()), "cluster")["prod"].values()
    assert trouble.blocking.silenced_until is None


def test_an_unknown_state_of_a_namespace_is_unknown():
    sample = SeriesSample(
        {
            "__name__": labels.PREFIX + labels.STATE,
            "cluster": "prod",
            "workload_namespace": "team-a",
            "state": "fine",
        },
        "1",
    )
    (trouble,) = gather_trouble(series_of([sample]), "cluster")["prod"].values()
    assert trouble.namespaces[0].state is State.UNKNOWN


def test_revisions_by_cluster():
    packages = {
        ("modelharness", "0.2.2", State.CURRENT): 3,
        ("modelharness", "0.2.1", State.FAILED): 1,
    }
    series = series_of(replace(SourceSeries(), packages=packages).revisions())
    assert gather_revisions(series, "cluster") == {"prod": packages}


def test_what_a_source_does_not_know_of_its_cluster():
    source = SourceSeries(
        counts={State.CURRENT: 1, State.UNKNOWN: 2},
        unobserved={"namespaces": 1, "layers": 1},
        rights=("watch pods", "list pods"),
    )
    (report,) = gather(source).reports["prod"].values()
    assert report.unobserved == Unobserved(
        namespaces=1, inference_sets=2, unlisted=True, missing_rights=("list pods", "watch pods")
    )
    (report,) = gather(SourceSeries()).reports["prod"].values()
    assert report.unobserved == Unobserved()
    (report,) = gather(SourceSeries(counts={})).reports["prod"].values()
    assert report.unobserved == Unobserved(unlisted=True), "numbers that are not reported"


def test_the_silence_of_an_earlier_release_is_not_that_all_is_known():
    (report,) = gather(SourceSeries(unobserved={})).reports["prod"].values()
    assert report.unobserved is None
    (report,) = gather(SourceSeries(unobserved={}, rights=("list pods",))).reports["prod"].values()
    assert report.unobserved == Unobserved(missing_rights=("list pods",))
