"""The verdicts about API keys, whose messages never quote a key."""

import pytest

from reporter.kinds.kaito import API_KEYS
from reporter.model.enums import TroubleKind
from reporter.model.observations import NotServed
from reporter.model.verdicts import Clear, ObjectRef, Unknown
from tests.support.builders import LONG_AGO, NOON, an_observed_condition
from tests.support.harness_builders import (
    EPOCH,
    TEAM,
    a_harness_store,
    an_api_key,
    rendered_troubles,
    verdict_of,
)
from tests.support.probe_verdicts import only_trouble


REASON = "modelharnessAPIKeyReconcileFailed"
CONFLICT = an_observed_condition("Ready", "False", "SecretConflict", "secret llm-api-key exists")


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([], id="auth is off"),
        pytest.param([an_api_key("default", an_observed_condition("Ready"))], id="active"),
        pytest.param([an_api_key()], id="active without conditions"),
        pytest.param(
            [an_api_key("default", an_observed_condition("Ready"), phase="")], id="without a phase"
        ),
        pytest.param([an_api_key("default", CONFLICT, deleted=NOON)], id="being deleted"),
        pytest.param(
            [
                an_api_key(
                    "default",
                    an_observed_condition("Ready"),
                    an_observed_condition("Rotating", "False", "Idle"),
                )
            ],
            id="a condition that is well when False",
        ),
        pytest.param(
            [an_api_key("trial", CONFLICT, phase="Expired", labels=None)],
            id="someone's own key ran out",
        ),
        pytest.param(
            [an_api_key("default", an_observed_condition("Ready", "Unknown"))],
            id="Unknown is not False",
        ),
    ],
)
def test_api_keys_that_work_are_clear(keys):
    assert isinstance(verdict_of(REASON, *keys), Clear)


@pytest.mark.parametrize(
    ("key", "code", "kind", "text", "foreign"),
    [
        pytest.param(
            an_api_key("default", CONFLICT),
            "NotReconciled",
            TroubleKind.FAILED,
            "APIKey default is not reconciled (SecretConflict)",
            "secret llm-api-key exists",
            id="any condition that is False",
        ),
        pytest.param(
            an_api_key("default", CONFLICT, phase="Pending"),
            "NotReconciled",
            TroubleKind.FAILED,
            "APIKey default is not reconciled (SecretConflict)",
            "secret llm-api-key exists",
            id="why it is pending",
        ),
        pytest.param(
            an_api_key("mine", CONFLICT, labels=None),
            "NotReconciled",
            TroubleKind.FAILED,
            "APIKey mine is not reconciled (SecretConflict)",
            "secret llm-api-key exists",
            id="someone's own key",
        ),
        pytest.param(
            an_api_key(phase="Expired"),
            "Expired",
            TroubleKind.FAILED,
            "APIKey default has expired",
            "",
            id="expired",
        ),
        pytest.param(
            an_api_key(phase="Pending"),
            "Pending",
            TroubleKind.STARTING,
            "APIKey default is still Pending",
            "",
            id="pending",
        ),
        pytest.param(
            an_api_key(phase=""),
            "Pending",
            TroubleKind.STARTING,
            "APIKey default is still Pending",
            "",
            id="never taken up",
        ),
    ],
)
def test_an_api_key_that_does_not_work_is_reported(key, code, kind, text, foreign):
    verdict = verdict_of(REASON, key)
    trouble = only_trouble(verdict)
    assert (trouble.cause.code, trouble.kind, trouble.foreign_text) == (code, kind, foreign)
    assert rendered_troubles(verdict) == [text]


@pytest.mark.parametrize(
    "secret",
    [
        "sk-Ab3dEf6hIj9kLm2n",
        "team-9fJ2mQx7LpW4sVz8",
        "deadbeefdeadbeefdeadbeef",
        "TWFnaWNLZXk0Mg+/abc==",
    ],
)
def test_a_key_in_the_operators_message_is_removed(secret):
    failed = an_observed_condition(
        "Synced", "False", "Conflict", f"cannot store {secret} in secret llm-api-key"
    )
    foreign = only_trouble(verdict_of(REASON, an_api_key("default", failed))).foreign_text
    assert secret not in foreign
    assert foreign == "cannot store [removed] in secret llm-api-key"


def test_each_key_is_a_cause_of_its_own():
    verdict = verdict_of(REASON, an_api_key("b", CONFLICT), an_api_key("a", phase="Pending"))
    assert [t.cause.object.name for t in verdict.troubles] == ["a", "b"]


def test_a_default_time_is_none_so_it_failed_since_it_was_made():
    assert (
        only_trouble(
            verdict_of(
                REASON, an_api_key("default", an_observed_condition("Ready", "False", since=EPOCH))
            )
        ).since
        == LONG_AGO
    )


def test_an_old_key_may_have_begun_to_wait_just_now():
    assert only_trouble(verdict_of(REASON, an_api_key(phase="Pending"))).since is None


def test_a_status_of_an_api_key_older_than_its_spec_is_unknown():
    assert isinstance(verdict_of(REASON, an_api_key("default", CONFLICT, generation=2)), Unknown)


def test_without_the_crd_auth_is_off():
    store = a_harness_store(an_api_key("default", CONFLICT))
    store.set_watch_state(API_KEYS, NotServed())
    assert isinstance(verdict_of(REASON, store=store), Clear)


def test_an_api_key_that_cannot_be_decoded_is_unknown():
    store = a_harness_store(an_api_key())
    store.mark_undecodable(API_KEYS, TEAM, "default")
    assert isinstance(verdict_of(REASON, store=store), Unknown)


def test_a_current_condition_of_an_api_key_counts_beside_one_of_an_older_spec():
    rotated = an_observed_condition("Synced", "False", "Refused", "no", NOON, 2)
    key = an_api_key("default", an_observed_condition("Ready"), rotated, generation=2)
    assert only_trouble(verdict_of(REASON, key)).cause.code == "NotReconciled"


def test_a_key_that_cannot_be_decoded_hides_no_other():
    store = a_harness_store(an_api_key("a", CONFLICT), an_api_key("b", CONFLICT))
    store.mark_undecodable(API_KEYS, TEAM, "a")
    verdict = verdict_of(REASON, store=store)
    assert only_trouble(verdict).cause.object.name == "b"
    assert verdict.why_partial == "APIKey team-a/a could not be decoded"


def test_a_key_that_cannot_be_evaluated_leaves_only_itself_open():
    store = a_harness_store(an_api_key("a", CONFLICT), an_api_key("b", CONFLICT))
    store.mark_undecodable(API_KEYS, TEAM, "a")
    verdict = verdict_of(REASON, store=store)
    refs = [ObjectRef(API_KEYS.group_resource, TEAM, name) for name in "abc"]
    assert [verdict.leaves_open(ref) for ref in refs] == [True, False, False]
