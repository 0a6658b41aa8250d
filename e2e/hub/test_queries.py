"""The queries of the hub on real engines: what each answers to the same page."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.hub.parts import pages
from e2e.hub.parts.engines import VictoriaMetrics, scraping
from e2e.support.metrics_process import MetricsProcess, Prometheus
from reporter.hub import queries as texts
from reporter.hub.cluster_reports import SourceReport
from reporter.hub.poller import Poller
from reporter.hub.queries import PREFIX
from reporter.hub.query_client import QueryClient, QueryCredentials, QueryFailed, Vector, decode
from reporter.hub.query_results import Answers, gather_history, gather_namespaces
from reporter.model.fleet_status import Dropped, QueryResult
from reporter.model.states import COUNTED_STATES, State
from reporter.process.clock import Clock
from tests.support.fleet.dashboard import QUERIES
from tests.support.fleet.series import NOON, SeriesSample, SourceSeries
from tests.support.settings import settings


pytestmark = pytest.mark.controlplane

WITHIN = 60.0
LIMIT = timedelta(seconds=20)
ODD = 'we"st \\ {é}'
BLOCKED = ("clusterKaitoControllerNotReady", "Unavailable.Crash", "platform")
PROD = replace(SourceSeries(), target={"job": "fleet", "pod": "a"})
WEST = SourceSeries(
    ODD,
    "uid-2",
    NOON + 0.125,
    (State.FAILED,),
    target={"job": "fleet", "pod": "b"},
    blocking=BLOCKED,
    namespaces={"team-a": State.FAILED},
    unobserved={"namespaces": 1, "layers": 0},
)
LOST = replace(SourceSeries(), label="", uid="uid-3", target={"job": "fleet", "pod": "c"})


class Page:
    """The page that an engine scrapes, with the zeros of state sets."""

    def __init__(self) -> None:
        self.sources = [PROD, WEST, LOST]

    def render(self) -> bytes:
        return pages.render_samples(s for each in self.sources for s in _samples(each))


def _samples(source: SourceSeries) -> Iterator[SeriesSample]:
    """Yield the series of a source as a reporter writes them, in which zeros are series too."""
    found = [*source.clusters(), *source.trouble(), *source.detail()]
    found = [each for each in found if not each.labels["__name__"].endswith("package_info")]
    known = {frozenset(labels.items()): SeriesSample(labels, value) for labels, value in found}
    yield from known.values()
    for labels, _ in found:
        if "state" in labels and "workload_namespace" not in labels:
            for each in COUNTED_STATES:
                zero = {**labels, "state": each.key}
                if frozenset(zero.items()) not in known:
                    known[frozenset(zero.items())] = SeriesSample(zero, "0")
                    yield SeriesSample(zero, "0")
    for name in source.namespaces:
        labels = {"workload_namespace": name, "package": "modelharness", "revision": "0.2.2"}
        own = {"__name__": f"{PREFIX}package_info", "cluster": source.label, **source.target}
        for each in COUNTED_STATES:
            value = float(each is source.namespaces[name])
            yield SeriesSample({**own, **labels, "state": each.key}, str(value))


@pytest.fixture(scope="module")
def page() -> Page:
    return Page()


def _prometheus(plane: ControlPlane, port: int) -> MetricsProcess:
    data = "--storage.tsdb.path={folder}/data"
    return Prometheus(plane, "asked-prometheus", scraping(port, seconds=1), data)


def _victoria_metrics(plane: ControlPlane, port: int) -> MetricsProcess:
    return VictoriaMetrics(plane, "asked-victoria-metrics", scraping(port, seconds=1))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(_prometheus, id="prometheus"),
        pytest.param(
            _victoria_metrics,
            id="victoriametrics",
            marks=[pytest.mark.second_engine, pytest.mark.slow],
        ),
    ],
)
def engine(
    request: pytest.FixtureRequest, control_plane: ControlPlane, page: Page
) -> Iterator[MetricsProcess]:
    with pages.served(page.render) as port:
        found: MetricsProcess = request.param(control_plane, port)
        found.start()
        try:
            _until(found, lambda answers: len(_reports(answers)) == 2)
            yield found
        finally:
            found.kill()


def _round(engine: MetricsProcess) -> Answers:
    """Ask a round as the hub does."""

    async def ask() -> Answers:
        found = settings(f"--hub-query-url={engine.url}")
        client = QueryClient(engine.url, QueryCredentials(found))
        try:
            poller = Poller(client, found, Clock(), count_result=lambda *_: None)
            answers = await poller.ask()
            assert {each.result for each in poller.entries} == {QueryResult.COMPLETE}, (
                poller.entries
            )
            return answers
        finally:
            await client.close()

    return asyncio.run(ask())


def _ask(engine: MetricsProcess, query: str, *, limit: int = 0, at: float | None = None) -> Vector:
    async def ask() -> bytes:
        client = QueryClient(engine.url, QueryCredentials(settings()))
        try:
            return await client.ask(query, time_limit=LIMIT, at=at, limit=limit)
        finally:
            await client.close()

    return decode(asyncio.run(ask()), limit=limit)


def _found(engine: MetricsProcess, query: str) -> Vector | None:
    """Return the answer if it has series."""
    answer = _ask(engine, query)
    return answer if answer.series else None


def _evaluated(answers: Answers) -> float:
    """Return the time of evaluation of the cluster that the tests change; 0 without its series."""
    report = _reports(answers).get("prod")
    return 0.0 if report is None else report.evaluated


def _reports(answers: Answers) -> dict[str, SourceReport]:
    assert answers.clusters is not None
    return {
        label: report
        for label, sources in answers.clusters.reports.items()
        for report in sources.values()
    }


def _until(engine: MetricsProcess, true: Callable[[Answers], bool]) -> Answers:
    """Ask until the answers are so, and return them."""

    def answered() -> Answers | None:
        answers = _round(engine)
        return answers if true(answers) else None

    return until(answered, within=WITHIN, what="the engine answers so")


def _whole_round(engine: MetricsProcess) -> Answers:
    """
    Return the answers of a round. There are none for a second in which a scrape took too long.
    """
    return _until(engine, lambda answers: _reports(answers).keys() == {"prod", ODD})


def test_a_round_has_what_the_page_has(engine: MetricsProcess) -> None:
    answers = _whole_round(engine)
    found = _reports(answers)
    assert found.keys() == {"prod", ODD}
    assert (found["prod"].uid, found["prod"].evaluated) == ("uid-1", NOON)
    assert (found[ODD].uid, found[ODD].evaluated) == ("uid-2", NOON + 0.125)
    assert (found["prod"].state, found[ODD].state) == (State.CURRENT, State.FAILED)
    assert found["prod"].counts == {**dict.fromkeys(COUNTED_STATES, 0), State.CURRENT: 3}
    assert found["prod"].version == "0.1.0"
    assert found["prod"].replicas is not None
    assert (found["prod"].replicas.desired, found["prod"].replicas.ready) == (4, 4)
    clusters = answers.clusters
    assert clusters is not None
    assert clusters.series == {"prod": 12, ODD: 12}, "zeros of state sets are left out"
    assert clusters.dropped.keys() == {Dropped.NO_LABEL}
    assert clusters.dropped[Dropped.NO_LABEL].series == 12
    assert clusters.time is not None
    assert abs(clusters.time - time.time()) < WITHIN


def test_which_clusters_have_been_there(engine: MetricsProcess) -> None:
    found = _ask(engine, texts.of_history("cluster", 14 * 86_400))
    ages = gather_history(found.series, "cluster", found.time)
    assert ages.keys() == {"prod", ODD}
    assert max(ages.values()) <= texts.RECENT, "however wrong the clock of the cluster is"


@pytest.mark.slow
def test_what_blocks_and_which_packages(engine: MetricsProcess) -> None:
    answers = _whole_round(engine)
    assert answers.trouble is not None
    (trouble,) = (each for each in answers.trouble[ODD].values())
    assert trouble.blocking is not None
    assert (trouble.blocking.reason, trouble.blocking.code) == BLOCKED[:2]
    assert [(each.name, each.state) for each in trouble.namespaces] == [("team-a", State.FAILED)]
    assert "prod" not in answers.trouble
    assert answers.revisions is not None
    assert answers.revisions[ODD] == {("modelharness", "0.2.2", State.FAILED): 1}


@pytest.mark.slow
def test_the_detail_of_one_cluster_whatever_its_name(engine: MetricsProcess) -> None:
    answers = _whole_round(engine)
    assert answers.clusters is not None
    ((source, _),) = answers.clusters.reports[ODD].items()
    query = texts.of_cluster("cluster", ODD)
    found = until(lambda: _found(engine, query), within=WITHIN, what="the detail")
    assert {each.labels["cluster"] for each in found.series} == {ODD}
    (namespace,) = gather_namespaces(found.series, source.source)
    assert (namespace.name, namespace.state) == ("team-a", State.FAILED)
    assert _ask(engine, texts.of_cluster("cluster", "prod")).series == []


@pytest.mark.slow
def test_an_answer_that_reaches_its_limit_is_truncated(engine: MetricsProcess) -> None:
    with pytest.raises(QueryFailed) as found:
        _ask(engine, texts.CLUSTERS, limit=3)
    assert found.value.result is QueryResult.TRUNCATED


@pytest.mark.slow
def test_a_query_that_cannot_be_parsed_is_no_answer(engine: MetricsProcess) -> None:
    with pytest.raises(QueryFailed) as found:
        _ask(engine, "sum(")
    assert found.value.result is QueryResult.REFUSED
    assert "sum(" in str(found.value) or "parse" in str(found.value)


@pytest.mark.slow
def test_the_time_that_is_asked_for_is_that_of_the_answer(engine: MetricsProcess) -> None:
    first = _ask(engine, texts.CLUSTERS)
    assert first.time is not None
    assert _ask(engine, texts.TROUBLE, at=first.time).time == pytest.approx(first.time, abs=0.01)


@pytest.mark.slow
def test_the_same_time_of_evaluation_is_the_same_number_again_and_again(
    engine: MetricsProcess, page: Page
) -> None:
    exact = replace(PROD, evaluated=1_767_268_831.123456)
    page.sources = [exact, WEST, LOST]
    try:
        _until(engine, lambda answers: _evaluated(answers) > NOON)
        seen = {_evaluated(_whole_round(engine)) for _ in range(10)}
        assert len(seen) == 1
        assert seen.pop() == pytest.approx(exact.evaluated, abs=0.0005)
    finally:
        page.sources = [PROD, WEST, LOST]
        _until(engine, lambda answers: _evaluated(answers) == NOON)


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_the_dashboard_of_the_fleet_is_answered(engine: MetricsProcess, query: str) -> None:
    shown = query.replace("$cluster", ".*")
    if "_hub_" in query:  # there is no hub here
        _ask(engine, shown)
    else:
        until(lambda: _found(engine, shown), within=WITHIN, what="series for the dashboard")


def test_series_that_end_are_gone_from_the_answers(engine: MetricsProcess, page: Page) -> None:
    page.sources = [WEST]
    try:
        _until(engine, lambda answers: _reports(answers).keys() == {ODD})
    finally:
        page.sources = [PROD, WEST, LOST]
        _until(engine, lambda answers: _reports(answers).keys() == {"prod", ODD})
