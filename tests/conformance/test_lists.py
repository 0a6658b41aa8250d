"""Lists: pages, versions, and expired versions."""

import pytest


INVALID = 'ListOptions.meta.k8s.io "" is invalid: '
UNLESS = "resourceVersionMatch is forbidden unless resourceVersion is provided"
EXACT = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'


async def test_pages_together_are_the_list(api):
    for number in range(5):
        await api.config_map(f"c{number}")
    path = (
        api.with_path("configmaps")
        + "?labelSelector=!none&fieldSelector=metadata.name!=kube-root-ca.crt"
    )
    found, token = [], ""
    while True:
        page = await api.get(f"{path}&limit=2&continue={token}")
        found += page.names
        token = page.json["metadata"].get("continue", "")
        if not token:
            break
    assert found == [f"c{number}" for number in range(5)]


async def test_a_page_has_the_remaining_item_count_unless_a_selector_was_given(api):
    for number in range(5):
        await api.create(api.with_path("events"), _event(api, f"e{number}"))
    plain = await api.get(api.with_path("events") + "?limit=2")
    selected = await api.get(api.with_path("events") + "?limit=2&fieldSelector=reason=R")
    assert plain.json["metadata"]["remainingItemCount"] == 3
    assert "remainingItemCount" not in selected.json["metadata"]
    assert selected.json["metadata"]["continue"]


async def test_later_pages_show_the_state_of_the_first(api):
    for number in range(4):
        await api.config_map(f"c{number}", some="label")
    path = api.with_path("configmaps") + "?labelSelector=some&limit=2"
    first = await api.get(path)
    await api.delete(api.with_path("configmaps", "c3"))
    await api.config_map("c9", some="label")
    second = await api.get(f"{path}&continue={first.json['metadata']['continue']}")
    assert second.names == ["c2", "c3"]
    assert second.version == first.version


async def test_a_page_that_is_too_old_is_410_with_a_token_to_go_on_inconsistently(api):
    for number in range(3):
        await api.create(api.with_path("events"), _event(api, f"e{number}"))
    path = api.with_path("events") + "?limit=1"
    first = await api.get(path)
    await api.create(api.with_path("events"), _event(api, "e9"))
    await api.compact_history()
    expired = await api.get(f"{path}&continue={first.json['metadata']['continue']}")
    assert expired.status == 410
    assert expired.json["reason"] == "Expired"
    assert expired.message.startswith("The provided continue parameter is too old to display")
    rest = await api.get(f"{path}&continue={expired.json['metadata']['continue']}")
    assert (rest.status, rest.names) == (200, ["e1"])


async def test_an_exact_version_that_is_too_old_is_410(api):
    first = await api.get(api.with_path("events"))
    await api.create(api.with_path("events"), _event(api, "e1"))
    await api.compact_history()
    query = f"?resourceVersion={first.version}&resourceVersionMatch=Exact"
    answer = await api.get(api.with_path("events") + query)
    assert (answer.status, answer.json["reason"]) == (410, "Expired")
    assert answer.message == "The resourceVersion for the provided list is too old."


async def test_an_exact_version_shows_what_was(api):
    await api.config_map("old", some="label")
    path = api.with_path("configmaps") + "?labelSelector=some"
    before = await api.get(path)
    await api.config_map("new", some="label")
    then = await api.get(f"{path}&resourceVersion={before.version}&resourceVersionMatch=Exact")
    assert (then.names, then.version) == (["old"], before.version)


async def test_a_list_not_older_than_a_write_shows_it(api):
    await api.config_map("old", some="label")
    path = api.with_path("configmaps") + "?labelSelector=some"
    new = await api.config_map("new", some="label")
    # An earlier version would allow a list of before the write, from the watch cache.
    # https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
    now = await api.get(f"{path}&resourceVersion={new.version}&resourceVersionMatch=NotOlderThan")
    assert now.names == ["new", "old"]
    assert int(now.version) >= int(new.version)


async def test_a_version_from_the_future_is_504_with_retry_after(api):
    answer = await api.get(api.with_path("configmaps") + "?resourceVersion=99999999")
    assert (answer.status, answer.json["reason"]) == (504, "Timeout")
    assert answer.message.startswith("Timeout: Too large resource version: 99999999, current: ")
    assert answer.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert answer.headers["Retry-After"] == "1"


async def test_version_zero_comes_from_the_cache_and_ignores_the_limit(api):
    for number in range(3):
        await api.config_map(f"c{number}", some="label")
    path = api.with_path("configmaps") + "?labelSelector=some&limit=1"
    await api.until(path + "&resourceVersion=0", lambda answer: len(answer.names) == 3)
    from_cache = await api.get(path + "&resourceVersion=0")
    assert "continue" not in from_cache.json["metadata"]


async def test_items_of_built_in_kinds_carry_no_kind(api):
    await api.config_map("c1")
    answer = await api.get(api.with_path("configmaps"))
    assert answer.json["kind"] == "ConfigMapList"
    assert answer.json["apiVersion"] == "v1"
    assert all("kind" not in item and "apiVersion" not in item for item in answer.json["items"])


async def test_a_list_of_a_namespace_that_is_not_there_is_empty(api):
    answer = await api.get("/api/v1/namespaces/never-there/pods")
    assert (answer.status, answer.json["items"]) == (200, [])


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("continue=zzz", 400, "invalid continue token: continue key is not valid: "),
        ("resourceVersion=abc", 400, 'invalid resource version: resourceVersion: Invalid value: "abc"'),
        (
            "resourceVersionMatch=Exact", 422,
            f"{INVALID}resourceVersionMatch: Forbidden: {UNLESS}",
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact", 422,
            f"{INVALID}resourceVersionMatch: Forbidden: {EXACT}",
        ),
        (
            "sendInitialEvents=true&resourceVersion=1&resourceVersionMatch=NotOlderThan", 422,
            f"{INVALID}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
    ],
)  # fmt: skip
async def test_what_makes_no_sense_is_refused(api, query, status, text):
    answer = await api.get(f"{api.with_path('configmaps')}?{query}")
    assert answer.status == status
    assert answer.message.startswith(text)


async def test_a_version_beside_a_continue_token_is_refused(api):
    for number in range(2):
        await api.config_map(f"c{number}")
    page = await api.get(api.with_path("configmaps") + "?limit=1")
    query = f"continue={page.json['metadata']['continue']}&resourceVersion=5"
    answer = await api.get(f"{api.with_path('configmaps')}?{query}")
    assert answer.status == 400
    assert answer.message == "specifying resource version is not allowed when using continue"


def _event(api, name):
    about = {"kind": "Pod", "apiVersion": "v1", "name": "p", "namespace": api.namespace}
    return {"metadata": {"name": name}, "involvedObject": about, "reason": "R", "message": "m"}
