"""The status page in a browser: what it shows of a document."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.model.enums import Layer
from reporter.model.states import COUNTED_STATES, Actionability, State
from reporter.model.status_document import (
    AvailableCounts,
    ClusterCounts,
    NotAvailable,
    Suppressed,
)
from tests.integration.page.browser_page import BrowserPage
from tests.integration.page.documents import (
    CLOCK,
    KAITO_OUT,
    NO_PODS,
    a_cluster,
    a_document,
    a_namespace,
    an_inference_set,
    every_state,
    healthy,
    kaito_out,
    no_pods,
)
from tests.integration.page.served_document import serving_document


async def test_each_state_is_shown_by_sign_and_word_the_worst_first(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        rows = await page.rows()
        groups = [each for each in rows if each.startswith("group/")]
        assert groups == [
            "group/Failed",
            "group/Unknown",
            "group/InProgress",
            "group/Terminating",
            "group/Current",
        ]
        texts = {each.removeprefix("group/"): rows[each]["text"] for each in groups}
        signs = {text.partition(f" {State(state).word} ")[0][-1] for state, text in texts.items()}
        assert len(signs) == len(COUNTED_STATES)
        assert texts["Failed"].endswith("Failed 1 namespace")
        assert await page.log() == []


async def test_the_tree_has_cluster_components_namespaces_harness_and_sets(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        rows = await page.rows()
        levels = {id_: row["level"] for id_, row in rows.items()}
        assert levels["cluster"] == 1
        assert levels["component/kaito-system/kaito-workspace"] == 2
        assert levels["layer/modeldeployment"] == 2
        assert levels["namespace/team-failed"] == 2
        assert levels["harness/team-failed"] == levels["set/team-failed/llama"] == 3
        assert "ready 0/1" in rows["component/kaito-system/kaito-workspace"]["text"]
        llama = rows["set/team-failed/llama"]["text"]
        assert f"↳ {KAITO_OUT} 12m platform suppressed stalled" in llama
        assert "held" in rows["harness/team-held"]["text"]
        assert "last known: Ready" in rows["set/team-unknown/gemma"]["text"]


async def test_what_is_current_is_folded(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        rows = await page.rows()
        assert rows["group/Current"]["expanded"] == "false"
        assert "namespace/team-well" not in rows


async def test_a_current_model_that_is_not_available_is_open_and_marked(page: BrowserPage):
    cause = NotAvailable(
        reason="clusterBBRNotReady",
        code="ScaledToZero",
        layer=Layer.CLUSTER,
        message="It is scaled to zero.",
        actionability=Actionability.PLATFORM,
    )
    model = an_inference_set("qwen", available=False, not_available=cause)
    counts = AvailableCounts(unavailable=1)
    document = a_document(
        a_namespace("team-a", State.CURRENT, model, available_counts=counts),
        cluster=a_cluster(counts=ClusterCounts(available=counts)),
    )
    async with serving_document(document) as served:
        await page.open(served.url)
        rows = await page.rows()
        assert "1 not available" in rows["namespace/team-a"]["text"]
        shown = rows["set/team-a/qwen"]["text"]
        assert "not available: clusterBBRNotReady platform" in shown
        assert shown.endswith("✕ not available")
        assert "Available: 0 of 1" in " ".join((await page.text("#cluster")).split())


async def test_a_cause_has_who_must_act_since_when_and_what_to_do(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        first = " ".join((await page.text("#causes article")).split())
        for text in (
            f"Failed {KAITO_OUT}",
            "deployments.apps kaito-system/kaito-workspace",
            "acts: platform",
            "12m",
            f"↳ {NO_PODS} 1 suppressed",
            "↳ 1 model not available",
            "Blocks 2 subjects",
            "stalled",
            f"{KAITO_OUT} is out.",
            f"Remedy: Mend what {KAITO_OUT} names.",
        ):
            assert text in first


INDENT = """
const left = (selector) => document.querySelector(selector).getBoundingClientRect().left;
return left("#causes .follows summary") - left("#causes .title");
"""


async def test_what_is_suppressed_stands_indented_under_its_cause_with_its_number(
    page: BrowserPage,
):
    other = an_inference_set("phi", State.FAILED, suppressed=(no_pods(),), blocking=kaito_out())
    document = every_state()
    document = replace(
        document, namespaces=(*document.namespaces, a_namespace("team-b", State.FAILED, other))
    )
    async with serving_document(document) as served:
        await page.open(served.url)
        follows = await page.text("#causes article .follows")
        assert f"↳ {NO_PODS} 2 suppressed" in follows
        assert "team-failed/llama" not in follows
        assert await page.run(INDENT) > 0
        await page.click("#causes .follows summary")
        shown = await page.until_text("#causes .follows", "team-failed/llama")
        assert "No pod of the model is Ready." in shown


async def test_a_finding_that_follows_from_a_suppressed_one_stands_under_the_root(
    page: BrowserPage,
):
    further = Suppressed(reason="inferencesetRouteNotReady", code="x", by=(NO_PODS,))
    model = an_inference_set(
        "phi", State.FAILED, suppressed=(no_pods(), further), blocking=kaito_out(pointer=True)
    )
    cluster = a_cluster(State.FAILED, blocking=kaito_out())
    document = a_document(a_namespace("team-b", State.FAILED, model), cluster=cluster)
    async with serving_document(document) as served:
        await page.open(served.url)
        follows = await page.text("#causes article .follows")
        assert f"↳ {NO_PODS} 1 suppressed" in follows
        assert "↳ inferencesetRouteNotReady 1 suppressed" in follows


HINDERED = NotAvailable(
    reason="inferencesetCheckFailed",
    code="NoAnswer",
    layer=Layer.MODELDEPLOYMENT,
    object="jobs.batch team-a/smoke-1",
    message="the Gateway answered 503",
    remedy="Ask the Gateway.",
    actionability=Actionability.USER,
)


async def test_a_cause_that_hinders_requests_alone_is_shown_with_models_and_their_gateway(
    page: BrowserPage,
):
    model = an_inference_set(
        "qwen", available=False, not_available=HINDERED, gateways=("infra/shared-gw",)
    )
    async with serving_document(a_document(a_namespace("team-a", State.CURRENT, model))) as served:
        await page.open(served.url)
        card = " ".join((await page.text("#causes article")).split())
        assert card.startswith("✕ not available inferencesetCheckFailed jobs.batch team-a/smoke-1")
        assert "the Gateway answered 503" in card
        assert "Remedy: Ask the Gateway." in card
        await page.click("#causes .follows summary")
        await page.until_text("#causes", "team-a/qwen through Gateway infra/shared-gw")


async def test_the_details_say_why_a_model_is_not_available_and_the_way_of_its_requests(
    page: BrowserPage,
):
    model = an_inference_set(
        "qwen", available=False, not_available=HINDERED, gateways=("infra/shared-gw",)
    )
    document = a_document(
        a_namespace(
            "team-a",
            State.CURRENT,
            model,
            available_counts=AvailableCounts(unavailable=1),
        )
    )
    async with serving_document(document) as served:
        await page.open(served.url)
        await page.click("[data-id='set/team-a/qwen']")
        shown = " ".join((await page.text("#details")).split())
        for text in (
            "Available ✕ not available",
            "Gateway infra/shared-gw",
            "Why it is not available Reason inferencesetCheckFailed",
            "Message the Gateway answered 503",
            "Who must act user: the owner of the namespace",
            "Request path Gateway infra/shared-gw ✕ jobs.batch team-a/smoke-1 model qwen",
        ):
            assert text in shown


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({}, "✓ available"),
        ({"available": None}, "? availability unknown"),
        ({"available": False, "not_available": HINDERED}, "✕ not available"),
        (
            {"available": False, "not_available": replace(HINDERED, reason="", code="Unrouted")},
            "no route",
        ),
    ],
)
async def test_availability_stands_beside_the_state(page: BrowserPage, more, shown: str):
    model = an_inference_set("qwen", **more)
    counts = AvailableCounts(unavailable=1)  # so that the namespace is open
    document = a_document(a_namespace("team-a", State.CURRENT, model, available_counts=counts))
    async with serving_document(document) as served:
        await page.open(served.url)
        text = (await page.rows())["set/team-a/qwen"]["text"]
        assert text.startswith("✓ Ready qwen")
        assert text.endswith(shown)


async def test_what_is_held_is_folded_and_counted(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        assert "Held: 1 cause that may be a normal change" in await page.text("#causes")
        assert "modelharnessGatewayNotReady" not in await page.text("#causes")


async def test_a_subject_of_a_cause_is_a_way_to_its_row(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        await page.click("#causes > article > .fold > summary")
        await page.until_text("#causes", "team-failed/llama")
        await page.run(
            "[...document.querySelectorAll('#causes button.link')]"
            ".find((each) => each.textContent === 'team-failed/llama').click()"
        )
        assert await page.selected() == "set/team-failed/llama"
        details = await page.text("#details")
        assert "InferenceSet team-failed/llama" in details
        assert "Suppressed under this cause: 1 reason" in details


async def test_what_is_not_known_is_not_shown_as_health(page: BrowserPage):
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        notice = await page.text("#notices")
        assert "Not all subjects of the layer modeldeployment are known" in notice
        assert "may not list inferencesets" in notice
    lost = every_state().cluster.unlisted_layers
    nothing = a_document(cluster=a_cluster(State.CURRENT, unlisted_layers=lost))
    async with serving_document(nothing) as served:
        await page.open(served.url)
        assert "not all is known" in await page.text("#causes")
        assert "no workload namespace" not in await page.text("body")


async def test_a_healthy_stack_is_said_to_be_healthy(page: BrowserPage):
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        assert await page.text("#causes") == "Nothing blocks."
        assert "Ready" in await page.text("#cluster")
        assert await page.run("return document.querySelector('#banner').hidden")
        assert (await page.run("return document.title")).startswith("Ready")


async def test_a_state_that_the_page_does_not_know_is_shown_as_itself_and_not_as_health(
    page: BrowserPage,
):
    document = a_document(a_namespace("team-a", State.NOT_FOUND, an_inference_set("qwen")))
    async with serving_document(document) as served:
        await page.open(served.url)
        badge = await page.run(
            "const found = document.querySelector('[data-id=\"namespace/team-a\"] .badge');"
            "return [found.innerText, found.className]"
        )
        assert "NotFound" in badge[0]
        assert "state-Unknown" in badge[1]


async def test_before_the_first_pass_nothing_is_known(page: BrowserPage):
    document = a_document(evaluated_at=None, cluster=a_cluster(State.UNKNOWN))
    async with serving_document(document) as served:
        await page.open(served.url)
        assert "nothing is known yet" in await page.until_text("#banner", "first pass")
        assert "Unknown" in await page.text("#cluster")


async def test_a_stale_status_is_marked_as_stale_and_the_cluster_is_unknown(page: BrowserPage):
    old = CLOCK.now() - timedelta(minutes=10)
    document = a_document(a_namespace("team-a", State.CURRENT), evaluated_at=old)
    async with serving_document(document) as served:
        await page.open(served.url)
        assert "last known status" in await page.until_text("#banner", "The status is stale")
        assert "Unknown last known: Ready" in " ".join((await page.text("#cluster")).split())
        assert "Nothing blocks" not in await page.text("#causes")


async def test_a_pass_that_changes_nothing_ends_the_staleness(page: BrowserPage):
    old = CLOCK.now() - timedelta(minutes=10)
    async with serving_document(a_document(evaluated_at=old)) as served:
        served.longest_wait = 0.2
        await page.open(served.url)
        await page.until_text("#banner", "The status is stale")
        served.document = a_document()
        await page.until("return document.querySelector('#banner').hidden")
        assert "Ready" in await page.text("#cluster")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_texts_have_contrast_in_light_and_dark(page: BrowserPage, scheme: str, tmp_path):
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    await page.emulate(scheme=scheme)
    async with serving_document(every_state()) as served:
        await page.open(served.url)
        found = await page.run(CONTRASTS)
        assert len(found) > 20
        assert {text: ratio for text, ratio in found if ratio < 4.5} == {}
        paper = await page.run("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        await page.screenshot(tmp_path / f"{scheme}.png")
        assert (tmp_path / f"{scheme}.png").stat().st_size > 10_000


CONTRASTS = """
const channel = (c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const paper = (node) => {
  for (; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor);
    if (color.length === 3 || color[3] === 1) return color;
  }
  return [255, 255, 255];
};
const shown = [...document.querySelectorAll(".badge, .quiet, .mark, .name, .why, p, summary, h2")];
return shown.filter((each) => each.innerText && each.checkVisibility()).map((each) => {
  const [a, b] = [light(parse(getComputedStyle(each).color)), light(paper(each))];
  return [each.innerText.slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
});
"""


async def test_a_narrow_screen_needs_no_scrolling_sideways(page: BrowserPage):
    await page.emulate((360, 740))
    long = an_inference_set("a" * 63, State.FAILED, blocking=kaito_out(message="x" * 900))
    document = a_document(a_namespace("n" * 63, State.FAILED, long, blocking=long.blocking))
    async with serving_document(document) as served:
        await page.open(served.url)
        await page.click("[role=treeitem]")
        widths = "return [document.scrollingElement.scrollWidth, innerWidth]"
        content, window = await page.run(widths)
        assert content <= window == 360


async def test_texts_of_others_are_shown_as_text(page: BrowserPage):
    text = "<script>window.injected = 1</script><img src=x onerror='window.injected = 1'>"
    named = an_inference_set("qwen", State.FAILED, blocking=kaito_out(message=text, remedy=text))
    document = a_document(a_namespace("team-a", State.FAILED, named, blocking=named.blocking))
    async with serving_document(document) as served:
        await page.open(served.url)
        await page.click("[data-id='set/team-a/qwen']")
        assert text in await page.text("#causes")
        assert text in await page.text("#details")
        assert await page.run("return window.injected ?? null") is None
        assert await page.run("return document.querySelectorAll('img, script').length") == 1
        assert await page.log() == []


async def test_the_browser_refuses_what_the_page_could_not_want(page: BrowserPage):
    """The policy is in effect: HTML of a text, scripts in the page and other hosts are refused."""
    async with serving_document(healthy()) as served:
        await page.open(served.url)
        refused = await page.run(
            "try { document.body.innerHTML = '<p>'; return false } catch { return true }"
        )
        assert refused
        await page.run(
            "window.refused = [];"
            "document.addEventListener('securitypolicyviolation',"
            "  (event) => window.refused.push(event.effectiveDirective));"
            "const made = document.createElement('img'); made.src = 'http://127.0.0.2/';"
            "document.body.append(made);"
        )
        assert await page.until("return window.refused.length && window.refused") == ["img-src"]
        await page.until_logged("Content Security Policy")
