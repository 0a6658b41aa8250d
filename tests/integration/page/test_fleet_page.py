"""The page of a hub in a browser: clusters as the first level."""

from reporter.model.enums import Engage
from reporter.model.fleet_status import (
    ClusterEntry,
    Dropped,
    DroppedEntry,
    FleetBlocking,
    FleetCode,
    FleetDocument,
    FleetNamespace,
    FleetPackage,
    FleetStatus,
    QueryEntry,
    QueryName,
    QueryResult,
)
from reporter.model.states import Mode, State
from reporter.model.status_document import Counts, Unobserved
from tests.integration.page.browser_page import BrowserPage
from tests.integration.page.documents import CLOCK
from tests.integration.page.served_document import serving_document


SILENT = FleetBlocking(
    code=FleetCode.SILENT,
    message="The cluster has not reported an evaluation for longer than the stale time.",
    remedy="Check the cluster.",
    actionability="platform",
)
KAITO_OUT = "clusterKaitoControllerNotReady"


def a_fleet(*clusters: ClusterEntry, **more) -> FleetDocument:
    states = [each.state for each in clusters]
    known = {
        "state": max(states, key=lambda each: each.severity),
        "engage": Engage.LISTED,
        "counts": Counts.of({state: states.count(state) for state in states}),
    }
    return FleetDocument(
        schema="v1",
        scope="fleet",
        mode=Mode.WATCHING,
        evaluated_at=CLOCK.now(),
        fleet=FleetStatus(**{**known, **more}),
        clusters=clusters,
    )


def every_cluster(**more) -> FleetDocument:
    kaito = FleetBlocking(reason=KAITO_OUT, code="Crash", actionability="platform", stalled=True)
    gateway = FleetBlocking(reason="modelharnessGatewayNotReady", code="x", actionability="user")
    return a_fleet(
        ClusterEntry(
            name="west",
            label="west",
            state=State.FAILED,
            blocking=kaito,
            namespaces=(FleetNamespace(name="team-a", state=State.FAILED, blocking=gateway),),
            packages=(
                FleetPackage(name="harness", revision="0.2.2", state=State.FAILED, namespaces=3),
            ),
        ),
        ClusterEntry(
            name="north",
            label="n",
            state=State.UNKNOWN,
            last_known=State.CURRENT,
            blocking=SILENT,
            version="0.1.0",
        ),
        ClusterEntry(
            name="east", label="east", state=State.CURRENT, skewed=True, skew_seconds=3600.0
        ),
        **more,
    )


async def test_clusters_are_the_first_level_by_state(page: BrowserPage):
    async with serving_document(every_cluster()) as served:
        await page.open(served.url)
        rows = await page.rows()
        groups = [each for each in rows if each.startswith("group/")]
        assert groups == ["group/Failed", "group/Unknown", "group/Current"]
        assert rows["group/Failed"]["text"].endswith("1 cluster")
        assert rows["member/west"]["level"] == 2
        assert rows["member/west/team-a"]["level"] == 3
        assert KAITO_OUT in rows["member/west"]["text"]
        assert "last known: Ready" in rows["member/north"]["text"]
        head = " ".join((await page.text("#cluster")).split())
        assert head.endswith("Clusters: 1 Failed, 1 Unknown, 1 Ready")
        assert await page.log() == []


async def test_what_blocks_a_cluster_and_what_its_namespaces(page: BrowserPage):
    async with serving_document(every_cluster()) as served:
        await page.open(served.url)
        causes = await page.text("#causes")
        for text in (KAITO_OUT, "modelharnessGatewayNotReady", "Silent", "Check the cluster."):
            assert text in causes
        await page.click("[data-id='member/west']")
        details = await page.until_text("#details", "Packages")
        assert "harness 0.2.2: 3 Failed" in " ".join(details.split())
        assert "undefined" not in await page.text("body")


async def test_what_is_not_known_below_a_cluster_is_among_its_details(page: BrowserPage):
    parts = Unobserved(
        namespaces=2, inference_sets=1, unlisted=True, missing_rights=("list pods", "watch pods")
    )
    clusters = [
        ClusterEntry(name=name, label=name, state=State.FAILED, unobserved=unobserved)
        for name, unobserved in (("west", parts), ("east", None), ("north", Unobserved()))
    ]
    expected = {"west": f"Not known {parts.describe()}", "east": "Not known not reported"}
    async with serving_document(a_fleet(*clusters)) as served:
        await page.open(served.url)
        for name in ("west", "east", "north"):
            await page.click(f"[data-id='member/{name}']")
            details = " ".join((await page.until_text("#details", name)).split())
            assert expected.get(name, "") in details
            assert ("Not known" in details) == (name in expected)


async def test_what_the_hub_does_not_know_is_a_notice(page: BrowserPage):
    dropped = DroppedEntry(why=Dropped.NO_LABEL, series=6, names=("cluster_uid=uid-9",))
    query = QueryEntry(
        query=QueryName.TROUBLE,
        result=QueryResult.PARTIAL,
        at=CLOCK.now(),
        why="the answer is partial: store is down",
    )
    document = every_cluster(dropped=(dropped,), queries=(query,))
    async with serving_document(document) as served:
        await page.open(served.url)
        notices = await page.until_text("#notices", "left out")
        assert "6 series are left out (no_label): cluster_uid=uid-9." in notices
        assert "The query trouble has no complete answer: the answer is partial" in notices
