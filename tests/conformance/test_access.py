"""Authentication and authorization: 401, 403 and the review of one's own permissions."""

from dataclasses import replace

import pytest


REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
TEXT = '{what} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API group "{group}" {where}'


async def test_a_token_that_is_not_known_is_401(api):
    answer = await replace(api, token="stolen").get("/api/v1/pods")
    assert (answer.status, answer.json["reason"], answer.message) == (
        401, "Unauthorized", "Unauthorized",
    )  # fmt: skip
    assert "details" not in answer.json


@pytest.mark.parametrize(
    ("method", "path", "fields", "details"),
    [
        (
            "GET", "/apis/apps/v1/deployments",
            {"what": "deployments.apps", "verb": "list", "resource": "deployments", "group": "apps"},
            {"group": "apps", "kind": "deployments"},
        ),
        (
            "GET", "/api/v1/pods?watch=1",
            {"what": "pods", "verb": "watch", "resource": "pods", "group": ""},
            {"kind": "pods"},
        ),
        (
            "PATCH", "/api/v1/namespaces/kube-system/events/x",
            {"what": 'events "x"', "verb": "patch", "resource": "events", "group": ""},
            {"name": "x", "kind": "events"},
        ),
        (
            "PUT", "/apis/apps/v1/namespaces/kube-system/deployments/x/scale",
            {"what": 'deployments.apps "x"', "verb": "update", "resource": "deployments/scale", "group": "apps"},
            {"name": "x", "group": "apps", "kind": "deployments"},
        ),
        (
            "GET", "/apis/no.such.group/v1/widgets",
            {"what": "widgets.no.such.group", "verb": "list", "resource": "widgets", "group": "no.such.group"},
            {"group": "no.such.group", "kind": "widgets"},
        ),
        (
            "DELETE", "/api/v1/namespaces/kube-system/events",
            {"what": "events", "verb": "deletecollection", "resource": "events", "group": ""},
            {"kind": "events"},
        ),
    ],
)  # fmt: skip
async def test_a_forbidden_request_is_answered_with_the_missing_permission(
    api, method, path, fields, details
):
    where = 'in the namespace "kube-system"' if "kube-system" in path else "at the cluster scope"
    answer = await api.as_unprivileged().request(method, path)
    assert (answer.status, answer.json["reason"]) == (403, "Forbidden")
    assert answer.message == TEXT.format(user=api.unprivileged[0], where=where, **fields)
    assert answer.json["details"] == details


@pytest.mark.parametrize(("who", "allowed"), [("admin", True), ("nobody", False)])
async def test_ones_own_rights_can_be_reviewed(api, who, allowed):
    asker = api if who == "admin" else api.as_unprivileged()
    wanted = {"verb": "list", "group": "apps", "resource": "deployments"}
    answer = await asker.create(REVIEWS, {"spec": {"resourceAttributes": wanted}})
    assert answer.status == 201
    assert answer.json["kind"] == "SelfSubjectAccessReview"
    assert answer.json["spec"] == {"resourceAttributes": wanted}
    assert answer.json["status"]["allowed"] is allowed


async def test_a_review_of_nothing_is_422_and_reviews_cannot_be_listed(api):
    empty = await api.create(REVIEWS, {"spec": {}})
    listed = await api.get(REVIEWS)
    assert empty.status == 422
    assert empty.message.endswith(
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    )
    assert (listed.status, listed.json["reason"]) == (405, "MethodNotAllowed")


RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"


@pytest.mark.parametrize(("who", "allowed"), [("admin", True), ("nobody", False)])
async def test_the_rules_for_a_namespace_have_those_for_the_whole_cluster(api, who, allowed):
    asker = api if who == "admin" else api.as_unprivileged()
    answer = await asker.create(RULES, {"spec": {"namespace": "kube-system"}})
    assert answer.status == 201
    assert answer.json["kind"] == "SelfSubjectRulesReview"
    found = [
        each
        for each in answer.json["status"]["resourceRules"]
        if {"pods", "*"} & set(each["resources"]) and {"list", "*"} & set(each["verbs"])
    ]
    assert bool(found) is allowed


async def test_rules_are_asked_for_in_a_namespace(api):
    answer = await api.create(RULES, {"spec": {}})
    assert (answer.status, answer.json["reason"]) == (400, "BadRequest")
    assert answer.message == "no namespace on request"
