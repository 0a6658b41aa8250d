"""The reviews of our permissions while they are taken away and given back, and their log lines."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.controller import permission_review
from reporter.controller.permission_review import PermissionReview, ReviewTiming
from reporter.controller.permissions import PermissionNeeds, required_permissions
from reporter.kube.access_review import Permission
from reporter.kube.client import RestClient
from reporter.kube.errors import Refused
from reporter.kube.watch_context import WatchContext
from reporter.process.clock import Clock
from reporter.settings import ScrapeMode
from tests.integration.kube.test_elector import api, server
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


__all__ = ["api", "server"]

REVIEWS = "selfsubjectaccessreviews"
UNABLE = status_response(503, "ServiceUnavailable", "unable")
WITHIN = 30.0
"""Seconds that bound a hang."""

SOON, NEVER = timedelta(milliseconds=50), timedelta(hours=1)
ONCE = ReviewTiming(
    interval=NEVER, retry_interval=NEVER, forbidden_interval=SOON, confirmation=SOON
)
NEEDED = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds())
LIST_PODS = Permission("list", "", "pods")
CREATE = Permission("create", "", "events", "kube-system")


@asynccontextmanager
async def reviewing(
    api: RestClient,
    timing: ReviewTiming = ONCE,
    *,
    needed=NEEDED,
    mode: ScrapeMode = ScrapeMode.PROXY,
) -> AsyncIterator[PermissionReview]:
    """Run the reviews, as the process does."""
    context = WatchContext(api, Clock())
    review = PermissionReview(context, needed, mode=mode, timing=timing)
    api.forbidden.subscribe(review.record_forbidden)
    task = asyncio.create_task(review.run())
    try:
        yield review
        assert not task.done(), "the reviews ended"
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WITHIN):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def reviewed(review: PermissionReview) -> None:
    await until(lambda: review.states.reviewed_at is not None and not review.states.unknown)


def reviews(server: DevCluster) -> int:
    return sum(path.endswith(REVIEWS) for _, path in server.requests)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == permission_review.__name__]


async def list_pods(api: RestClient) -> None:
    await api.call("GET", "/api/v1/pods", operation="list pods")


# ------------------------------------------------------------ when they are reviewed


async def test_all_are_reviewed_once_and_then_none_until_the_interval_ends(
    server: DevCluster, api: RestClient
):
    timing = ReviewTiming(
        interval=NEVER, retry_interval=SOON, forbidden_interval=SOON, confirmation=SOON
    )
    async with reviewing(api, timing) as review:
        await reviewed(review)
        assert reviews(server) == len(NEEDED)
        await asyncio.sleep(10 * SOON.total_seconds())
        assert reviews(server) == len(NEEDED), "nothing is missing: nothing is asked"


async def test_all_are_reviewed_again_after_the_interval(server: DevCluster, api: RestClient):
    timing = ReviewTiming(
        interval=SOON, retry_interval=NEVER, forbidden_interval=NEVER, confirmation=SOON
    )
    async with reviewing(api, timing) as review:
        await reviewed(review)
        server.deny("list", "", "pods")
        await until(lambda: review.states.missing == {LIST_PODS})


async def test_a_forbidden_request_brings_a_review_that_finds_all_that_was_taken_away(
    server: DevCluster, api: RestClient
):
    async with reviewing(api) as review:
        await reviewed(review)
        server.deny("list", "", "pods")
        server.deny("create", "", "events", "kube-system")
        with pytest.raises(Refused):
            await list_pods(api)
        await until(lambda: review.states.missing)
        assert review.states.missing == {LIST_PODS, CREATE}
        assert reviews(server) == 2 * len(NEEDED) + 2, "all, and a confirmation of each denial"


async def test_a_forbidden_watch_brings_a_review(server: DevCluster, api: RestClient):
    async with reviewing(api) as review:
        await reviewed(review)
        server.deny("watch", "", "pods")
        with pytest.raises(Refused):
            async with api.open_watch("/api/v1/pods", [("watch", "1")], idle_timeout=NEVER):
                pass
        await until(lambda: review.states.missing == {Permission("watch", "", "pods")})


async def test_requests_that_go_on_being_forbidden_bring_no_further_review(
    server: DevCluster, api: RestClient
):
    async with reviewing(api) as review:
        await reviewed(review)
        server.deny("list", "", "pods")
        for _ in range(5):
            with pytest.raises(Refused):
                await list_pods(api)
            await until(lambda: review.states.missing)
            await asyncio.sleep(SOON.total_seconds())
        assert reviews(server) == 2 * len(NEEDED) + 1


async def test_a_denial_that_the_next_review_does_not_confirm_is_not_believed(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    """Deny once, as an API server does that has just started and has not read the roles yet."""
    async with reviewing(api) as review:
        await reviewed(review)
        denial = server.deny("list", "", "pods")
        with pytest.raises(Refused):
            await list_pods(api)
        await until(lambda: reviews(server) == 2 * len(NEEDED))
        server.allow(denial)
        await until(lambda: reviews(server) == 2 * len(NEEDED) + 1)
        await reviewed(review)
        assert review.states.missing == frozenset()
    assert not [line for line in lines(caplog) if "missing" in line]


async def test_reviews_after_forbidden_requests_are_rate_limited(
    server: DevCluster, api: RestClient
):
    """A proxy that forbids what RBAC grants must not make one review for each request."""
    timing = ReviewTiming(
        interval=NEVER, retry_interval=NEVER, forbidden_interval=NEVER, confirmation=SOON
    )
    forbidden = status_response(403, "Forbidden", "not today")
    server.faults.add(forbidden, path="^/api/v1/pods")
    async with reviewing(api, timing) as review:
        await reviewed(review)
        for _ in range(5):
            with pytest.raises(Refused):
                await list_pods(api)
            await until(lambda: reviews(server) >= 2 * len(NEEDED) and not review.states.unknown)
            await asyncio.sleep(SOON.total_seconds())
        assert review.states.missing == frozenset()
        assert reviews(server) == 2 * len(NEEDED)


async def test_what_nothing_needs_is_not_reviewed_when_it_is_forbidden(
    server: DevCluster, api: RestClient
):
    async with reviewing(api) as review:
        await reviewed(review)
        server.deny("get", "", "secrets")
        with pytest.raises(Refused):
            await api.call("GET", "/api/v1/namespaces/default/secrets/some")
        await asyncio.sleep(4 * SOON.total_seconds())
        assert reviews(server) == len(NEEDED)


async def test_a_permission_that_is_given_back_is_found_without_another_refusal(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    timing = ReviewTiming(
        interval=NEVER, retry_interval=SOON, forbidden_interval=NEVER, confirmation=SOON
    )
    denial = server.deny("create", "", "events", "kube-system")
    async with reviewing(api, timing) as review:
        await until(lambda: review.states.missing == {CREATE})
        asked = reviews(server)
        server.allow(denial)
        await until(lambda: not review.states.missing)
        assert reviews(server) - asked < len(NEEDED), "only those that are missing"
    assert lines(caplog)[-2:] == [
        "create events in kube-system is granted again",
        f"all {len(NEEDED)} permissions that are needed are granted",
    ]


async def test_reviews_that_fail_leave_what_was_known_and_say_so(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    timing = ReviewTiming(
        interval=NEVER, retry_interval=SOON, forbidden_interval=NEVER, confirmation=SOON
    )
    denial = server.deny("list", "", "pods")
    async with reviewing(api, timing) as review:
        await until(lambda: review.states.missing == {LIST_PODS})
        rule = server.faults.add(UNABLE, path=REVIEWS)
        server.allow(denial)
        await until(lambda: review.states.unknown == {LIST_PODS})
        assert review.states.missing == {LIST_PODS}
        server.faults.clear(rule)
        await until(lambda: not review.states.pending)


# ------------------------------------------------------------ the rules


RULES = "selfsubjectrulesreviews"
OFTEN = ReviewTiming(
    interval=NEVER,
    retry_interval=NEVER,
    forbidden_interval=NEVER,
    confirmation=SOON,
    rules_interval=SOON,
)


def looks_at_rules(server: DevCluster) -> int:
    return sum(path.endswith(RULES) for _, path in server.requests)


async def test_a_permission_that_is_taken_away_is_noticed_by_the_rules_without_a_refusal(
    server: DevCluster, api: RestClient
):
    async with reviewing(api, OFTEN) as review:
        await reviewed(review)
        server.deny("watch", "", "pods", "")
        server.deny("create", "", "events", "kube-system")
        wanted = {Permission("watch", "", "pods"), CREATE}
        await until(lambda: review.states.missing == wanted)


async def test_rules_that_stay_as_they_are_take_one_request_a_namespace_and_no_review(
    server: DevCluster, api: RestClient
):
    async with reviewing(api, OFTEN) as review:
        await reviewed(review)
        before = looks_at_rules(server)
        assert before == 1, "events in kube-system are all that is needed in a namespace"
        await until(lambda: looks_at_rules(server) >= before + 5)
        assert reviews(server) == len(NEEDED)


async def test_after_a_change_of_the_rules_all_are_reviewed_twice(
    server: DevCluster, api: RestClient
):
    """The second time another API server may know what the first one did not."""
    async with reviewing(api, OFTEN) as review:
        await reviewed(review)
        server.deny("delete", "", "pods")
        await until(lambda: reviews(server) >= 3 * len(NEEDED))
        looks = looks_at_rules(server)
        await until(lambda: looks_at_rules(server) >= looks + 3)
        assert reviews(server) == 3 * len(NEEDED)


async def test_rules_that_cannot_be_read_prove_nothing(server: DevCluster, api: RestClient):
    async with reviewing(api, OFTEN) as review:
        await reviewed(review)
        rule = server.faults.add(UNABLE, path=RULES)
        looks = looks_at_rules(server)
        await until(lambda: looks_at_rules(server) >= looks + 3)
        assert reviews(server) == len(NEEDED)
        server.deny("list", "", "pods")
        server.faults.clear(rule)
        await until(lambda: review.states.missing == {LIST_PODS})


# ------------------------------------------------------------ the log lines


async def test_granted_permissions_are_logged_in_one_line(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    async with reviewing(api) as review:
        await reviewed(review)
    assert lines(caplog) == [f"all {len(NEEDED)} permissions that are needed are granted"]


async def test_missing_permissions_are_one_table_with_the_unknown_reasons(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    server.deny("watch", "apps", "deployments")
    server.deny("create", "", "events", "kube-system")
    timing = ReviewTiming(
        interval=SOON, retry_interval=SOON, forbidden_interval=SOON, confirmation=SOON
    )
    async with reviewing(api, timing) as review:
        await reviewed(review)
        await until(lambda: reviews(server) >= 3 * len(NEEDED))
    logged = lines(caplog)
    assert (
        logged[0] == "RBAC permissions are missing; what needs them stays Unknown or lacks detail:"
    )
    assert logged[1].split() == ["MISSING", "ON", "UNKNOWN", "REASONS"]
    assert logged[2].split()[:4] == ["create", "events", "in", "kube-system"]
    table = "\n".join(logged[2:])
    assert "watch" in table
    assert "deployments.apps" in table
    assert "clusterBBRNotReady" in table
    assert "list" not in table
    assert table.count("deployments.apps") == 1, "once, however often it is reviewed"
    assert {record.levelname for record in caplog.records} == {"ERROR"}


async def test_what_could_not_be_asked_is_unknown_and_not_called_missing(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    server.faults.add(UNABLE, path=REVIEWS, times=2)
    async with reviewing(api) as review:
        await until(lambda: review.states.reviewed_at is not None)
        assert len(review.states.unknown) == 2
        assert review.states.missing == frozenset()
    assert lines(caplog) == [f"2 of {len(NEEDED)} permissions could not be checked."]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


async def test_a_server_that_answers_nothing_is_asked_again(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    timing = ReviewTiming(
        interval=NEVER, retry_interval=SOON, forbidden_interval=NEVER, confirmation=SOON
    )
    server.faults.add(UNABLE, path=REVIEWS, times=2 * len(NEEDED))
    async with reviewing(api, timing) as review:
        await reviewed(review)
    assert lines(caplog) == [
        f"{len(NEEDED)} of {len(NEEDED)} permissions could not be checked.",
        f"all {len(NEEDED)} permissions that are needed are granted",
    ]


async def test_the_proxys_permission_is_missed_softly_where_it_may_never_be_used(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    every = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(mode=ScrapeMode.AUTO))
    server.deny("get", "", "pods/proxy")
    async with reviewing(api, needed=every, mode=ScrapeMode.AUTO) as review:
        await reviewed(review)
        assert review.states.missing == frozenset()
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert lines(caplog)[0].startswith("get pods/proxy is not granted")
    assert lines(caplog)[1] == f"all {len(every) - 1} permissions that are needed are granted"
    caplog.clear()
    async with reviewing(api, needed=every, mode=ScrapeMode.PROXY) as review:
        await reviewed(review)
        assert {str(each) for each in review.states.missing} == {"get pods/proxy"}
    assert {record.levelname for record in caplog.records} == {"ERROR"}
