"""A round of queries against an engine over real sockets."""

import json
from collections import Counter
from contextlib import asynccontextmanager

import pytest

from reporter.hub.poller import Poller
from reporter.hub.queries import SERIES_LIMIT
from reporter.hub.query_client import QueryClient, QueryCredentials
from reporter.model.fleet_status import QueryName, QueryResult
from reporter.model.states import State
from reporter.process.clock import Clock
from tests.support.fleet.series import NOON, SourceSeries
from tests.support.settings import settings
from tests.support.stubs.metrics_engine import body, running_engine, success


CLUSTERS, TROUBLE, REVISIONS, HISTORY = QueryName
OF_A_ROUND = (CLUSTERS, TROUBLE, REVISIONS)


class ShiftedClock(Clock):
    """A clock that a test sets forward."""

    shift = 0.0

    def seconds(self) -> float:
        return super().seconds() + self.shift


WEST = SourceSeries(
    "west",
    "uid-2",
    states=(State.FAILED,),
    blocking=("clusterKaitoControllerNotReady", "Unavailable.Crash", "platform"),
    packages={("modelharness", "0.2.2", State.FAILED): 3},
)


@asynccontextmanager
async def asking(*flags: str):
    async with running_engine() as engine:
        engine.sources = lambda: [SourceSeries(), WEST]
        found = settings(*flags)
        client, clock = QueryClient(engine.url, QueryCredentials(found)), ShiftedClock()
        results: Counter[tuple[QueryName, QueryResult]] = Counter()
        poller = Poller(
            client,
            found,
            clock,
            count_result=lambda *each: results.update([each]),
            jitter=lambda: 0.0,
        )
        try:
            yield poller, engine, results, clock
        finally:
            await client.close()


async def test_three_queries_of_one_time():
    async with asking() as (poller, engine, results, _):
        answers = await poller.ask()
    assert answers.clusters.reports.keys() == {"prod", "west"}
    (trouble,) = answers.trouble["west"].values()
    assert trouble.blocking.reason == "clusterKaitoControllerNotReady"
    assert sum(answers.revisions["west"].values()) == 3
    forms = [form for form, _ in engine.requests]
    assert len(forms) == 3
    assert "time" not in forms[0]
    assert [form["time"] for form in forms[1:]] == [f"{NOON:.3f}"] * 2
    assert [form.get("limit") for form in forms] == [None, str(SERIES_LIMIT), str(SERIES_LIMIT)]
    assert results == Counter((name, QueryResult.COMPLETE) for name in OF_A_ROUND)
    assert [each.result for each in poller.entries] == [QueryResult.COMPLETE] * 3


async def test_without_clusters_nothing_else_is_asked_and_the_engine_has_a_rest():
    async with asking() as (poller, engine, results, clock):
        engine.replies["evaluated"] = body("", 500)
        for _ in range(3):
            assert (await poller.ask()).clusters is None
        assert len(engine.requests) == 1, "the back-off"
        engine.replies.clear()
        clock.shift += 120
        assert (await poller.ask()).clusters is not None
    assert results[CLUSTERS, QueryResult.FAILED] == 1


async def test_a_failed_query_delays_no_other_one():
    async with asking() as (poller, engine, results, _):
        engine.replies["blocking_info"] = body(success([], warnings=["partial"]))
        answers = await poller.ask()
    assert answers.clusters is not None
    assert answers.trouble is None
    assert answers.revisions is not None
    assert results[TROUBLE, QueryResult.PARTIAL] == 1
    (entry,) = (each for each in poller.entries if each.query is TROUBLE)
    assert (entry.result, entry.why) == (QueryResult.PARTIAL, "the answer is partial: partial")


class FailingEngine:
    """An engine in whose code is a fault."""

    async def ask(self, query, **_):
        raise KeyError(query)


async def test_an_answer_on_which_the_hub_fails_is_none(caplog):
    """A loop of rounds that ended instead would leave all states as they are."""
    results: Counter[tuple[QueryName, QueryResult]] = Counter()
    poller = Poller(
        FailingEngine(), settings(), Clock(), count_result=lambda *each: results.update([each])
    )
    assert (await poller.ask()).clusters is None
    assert results == Counter([(CLUSTERS, QueryResult.UNREADABLE)])
    assert poller.entries[0].why == "a fault of the hub: KeyError"
    assert "the answer to the query clusters cannot be read" in caplog.text


@pytest.mark.parametrize("labels", ['{"cluster": 7}', "[]", "7"])
@pytest.mark.parametrize("word", ["cluster_info", "blocking_info"])
async def test_labels_that_are_no_texts_make_an_answer_unreadable(word, labels):
    series = {"metric": json.loads(labels), "value": [NOON, "1"]}
    answer = {"status": "success", "data": {"resultType": "vector", "result": [series]}}
    query = TROUBLE if word == "blocking_info" else CLUSTERS
    async with asking() as (poller, engine, results, _):
        engine.replies[word] = body(answer)
        answers = await poller.ask()
    assert (answers.clusters is None, answers.trouble) == (query is CLUSTERS, None)
    assert results[query, QueryResult.UNREADABLE] == 1
    (entry,) = (each for each in poller.entries if each.query is query)
    assert entry.why.startswith("not the answer of a query API")


async def test_a_query_that_fails_in_the_same_way_is_logged_once(caplog):
    async with asking() as (asker, engine, _, clock):
        engine.replies["blocking_info"] = body(success([], warnings=["partial"]))
        for _ in range(3):
            await asker.ask()
            clock.shift += 3600
        engine.replies["blocking_info"] = body({"status": "error", "errorType": "e", "error": ""})
        await asker.ask()
    logged = [each for each in caplog.messages if "has no complete answer" in each]
    assert len(logged) == 2


async def test_too_many_clusters_are_refused():
    async with asking("--hub-max-clusters=1") as (poller, _, results, _):
        assert (await poller.ask()).clusters is None
    assert results[CLUSTERS, QueryResult.TOO_MANY] == 1
    assert "2 clusters" in poller.entries[0].why


async def test_the_cluster_label_is_that_of_the_flag():
    async with asking("--hub-cluster-label=prometheus") as (poller, engine, _, _):
        engine.sources = lambda: [SourceSeries("", target={"prometheus": "east", "pod": "a"})]
        answers = await poller.ask()
    assert set(answers.clusters.reports) == {"east"}
    assert "by (prometheus,package" in engine.queries[2]


async def test_the_history_is_asked_for_once_and_says_when_each_cluster_was_last_there():
    async with asking("--hub-forget-seconds=604800") as (poller, engine, results, _):
        answers = await poller.ask(with_history=True)
        assert (await poller.ask()).history is None
    assert answers.history == {"prod": 0.0, "west": 0.0}
    (query,) = (each for each in engine.queries if "max_over_time" in each)
    assert "[604800s:1800s]" in query
    assert "[7200s]" in query, "what was there for minutes alone is not missed"
    assert results[HISTORY, QueryResult.COMPLETE] == 1


async def test_a_history_that_fails_is_none():
    async with asking() as (poller, engine, results, _):
        engine.replies["max_over_time"] = body(success([], warnings=["partial"]))
        answers = await poller.ask(with_history=True)
    assert answers.clusters is not None
    assert answers.history is None
    assert results[HISTORY, QueryResult.PARTIAL] == 1


async def test_a_history_that_fails_again_and_again_is_asked_for_less_of_the_past(caplog):
    async with asking() as (poller, engine, _, clock):
        engine.replies["s:3600s]"] = body("", 503)
        engine.replies["[86400s:"] = body("", 503)
        answers = [await poller.ask(with_history=True)]
        while answers[-1].history is None and len(answers) < 30:
            clock.shift += 150
            answers.append(await poller.ask(with_history=True))
    forms = [form for form, _ in engine.requests if "max_over_time" in form["query"]]
    found = [form["query"].partition("s:")[0].rpartition("[")[2] for form in forms]
    assert found == ["1209600"] * 10 + ["86400"] * 10 + ["3600"]
    assert {form["timeout"] for form in forms} == {"60"}
    assert answers[-1].history == {"prod": 0.0, "west": 0.0}
    assert "the history is that of the last 3600 s" in caplog.text
