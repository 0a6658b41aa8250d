"""
The reasons that check nothing, and those that are Unknown without a kind, as the passes have it.
"""

import json

import pytest

from reporter.announcing.announcement_state import AnnouncementState
from reporter.announcing.schedule import PublishContext
from reporter.controller.coverage import (
    find_unchecked,
    reasons_without,
)
from reporter.controller.permissions import PermissionNeeds, required_permissions
from reporter.evaluation.registry import SPECS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.observations import NotSynced
from reporter.settings import ScrapeMode
from reporter.status.diagnosis import render_diagnosis
from reporter.stories.story_replay import StoryReplay
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.replay import involved_for


PROVISIONER = "clusterNodeProvisionerNotReady"
STORE = "clusterHealthEventStoreFull"
SWITCHES = ("node-provisioner-name", "node-provisioner-namespace")

IDLE_ENGINE = {"Pod team-m/qwen-7rk2p-0": {"page": "vllm-v1"}}
"""The metrics page of the healthy stack's model, without which its engine is Unknown."""


def unchecked(**flags: str):
    changed = {name.replace("_", "-"): value for name, value in flags.items()}
    return find_unchecked(DEFAULT_CATALOGUE, SPECS, {**DEFAULT_FLAGS, **changed})


CHECKS = ("clusterCheckFailed", "modelharnessCheckFailed", "inferencesetCheckFailed")
"""The reasons of a source."""


def test_only_the_provisioner_check_jobs_and_the_store_are_checked_by_no_default():
    assert unchecked() == {
        PROVISIONER: f"set --{SWITCHES[0]} and --{SWITCHES[1]}",
        STORE: "set --store=healthevents",
        **dict.fromkeys(CHECKS, "add jobs to --sources"),
    }
    assert unchecked(sources="keda").keys() >= set(CHECKS)
    with_all = unchecked(
        node_provisioner_name="karpenter",
        node_provisioner_namespace="karpenter",
        sources="keda, jobs",
        store="healthevents",
    )
    assert with_all == {}


@pytest.mark.parametrize(
    ("flags", "reason", "what_to_set"),
    [
        ({"bbr_deployment": ""}, "clusterBBRNotReady", "set --bbr-deployment"),
        (
            {"weight_download_min_mbps": "0"},
            "inferencesetWeightDownloadSlow",
            "set --weight-download-min-mbps above 0",
        ),
    ],
)
def test_a_check_that_flags_switch_off_names_the_flag(flags, reason, what_to_set):
    assert unchecked(**flags)[reason] == what_to_set


def shown(replay: StoryReplay, **more) -> list[dict]:
    """Return the subjects of the page /status."""
    context = PublishContext(
        AnnouncementState(),
        replay.evaluation,
        DEFAULT_CATALOGUE,
        replay.settings,
        involved_for,
    )
    process = {"leading": True}
    chunks = render_diagnosis(
        context, replay.store.snapshot(), since=lambda *_: NOON, process=process, **more
    )
    return json.loads("".join(chunks))["subjects"]


def unknown_reasons(replay: StoryReplay) -> set[str]:
    return {
        verdict["reason"]
        for subject in shown(replay)
        for verdict in subject["verdicts"]
        if verdict["state"] == "unknown"
    }


@pytest.mark.parametrize("kind", DEFAULT_KINDS, ids=lambda kind: kind.resource)
def test_what_lacks_a_permission_is_unknown_in_the_status(kind):
    replay = StoryReplay({"given": {"pages": IDLE_ENGINE}, "story": [], "until": "1m"}).run()
    assert unknown_reasons(replay) == set()
    replay.store.set_watch_state(kind, NotSynced("forbidden", refused=True))
    replay.run_pass()
    always, partly, _ = reasons_without(kind, DEFAULT_CATALOGUE, ())
    assert always <= unknown_reasons(replay) <= always | partly
    purposes = {
        purpose
        for permission, purposes in required_permissions(
            DEFAULT_CATALOGUE, PermissionNeeds(mode=ScrapeMode.DIRECT)
        ).items()
        if (permission.verb, permission.resource) == ("list", kind.resource)
        for purpose in purposes
    }
    assert {each for each in purposes if "(" not in each} == always
    assert {each for each in purposes if "(in part)" in each} == {f"{r} (in part)" for r in partly}


def test_what_is_not_checked_is_not_shown_as_clear():
    replay = StoryReplay({"story": []}).run()
    page = shown(replay, unchecked=unchecked())
    not_checked = [each["notChecked"] for each in page]
    assert {reason: why for each in not_checked for reason, why in each.items()} == unchecked()
    (cluster,) = [s for s in page if s["layer"] == "cluster"]
    assert cluster["notChecked"].keys() == {PROVISIONER, CHECKS[0], STORE}
    assert PROVISIONER not in cluster["clear"]
    (cluster,) = [s for s in shown(replay) if s["layer"] == "cluster"]
    assert PROVISIONER in cluster["clear"]


@pytest.mark.parametrize("scope", ["off", "loading", "all"])
def test_pages_that_are_not_read_make_a_reason_not_checked_instead_of_unknown(scope):
    reason, replay = "inferencesetWeightDownloadSlow", a_replay_of_a_loading_pod(scope)
    assert (reason in unchecked(scrape=scope)) is (scope == "off")
    assert (reason in unknown_reasons(replay)) is (scope != "off")
    (model,) = [s for s in shown(replay, unchecked=unchecked(scrape=scope)) if s.get("name")]
    assert (reason in model.get("notChecked", {})) is (scope == "off")
    assert reason not in model["clear"]


def a_replay_of_a_loading_pod(scope: str) -> StoryReplay:
    pod = {"Pod team-m/qwen-7rk2p-0": {"model": "qwen", "ready": False}}
    return StoryReplay({"flags": {"scrape": scope}, "given": {"change": pod}, "story": []}).run()
