"""Label and field selectors."""

import pytest

from tests.conformance.api import Json


LABELS = {
    "a": {"app": "web", "tier": "front"},
    "b": {"app": "web"},
    "c": {"app": "db", "tier": "back"},
    "d": {},
}


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("app=web", "ab"),
        ("app==web", "ab"),
        ("app!=web", "cd"),
        ("app", "abc"),
        ("!app", "d"),
        ("app=web,tier=front", "a"),
        ("app%20in%20(web,db)", "abc"),
        ("app%20in%20(db)", "c"),
        ("app%20notin%20(web)", "cd"),
        ("app,app%20notin%20(web)", "c"),
        ("tier%20in%20(front,%20back),app%20=%20db", "c"),
        ("app=", ""),
        ("", "abcd"),
    ],
)
async def test_label_selectors_select(api, selector, found):
    for name, labels in LABELS.items():
        await api.config_map(name, **labels)
    answer = await api.get(f"{api.with_path('configmaps')}?labelSelector={selector}")
    assert "".join(name for name in answer.names if name in LABELS) == found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("labelSelector=a%20b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("labelSelector=a=b,", "found '', expected: identifier after ','"),
        ("fieldSelector=metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
        (
            "fieldSelector=data.x=1",
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
    ],
)  # fmt: skip
async def test_selectors_that_make_no_sense_are_refused(api, query, text):
    answer = await api.get(f"{api.with_path('configmaps')}?{query}")
    assert (answer.status, answer.json["reason"], answer.message) == (400, "BadRequest", text)


EVENTS: dict[str, Json] = {
    "both": {"source": {"component": "one"}, "reportingComponent": "two", "reason": "A"},
    "reporter": {"reportingComponent": "three", "reason": "B", "type": "Warning"},
    "source": {"source": {"component": "four"}, "type": "Normal"},
    "other": {
        "involvedObject": {"kind": "Gateway", "name": "gw", "uid": "u1", "apiVersion": "g/v1"}
    },
}


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("source=one", ["both"]),
        ("source=two", []),
        ("source=three", ["reporter"]),
        ("reportingComponent=two", ["both"]),
        ("reportingComponent=three", ["reporter"]),
        ("source=four", ["source"]),
        ("reason=A", ["both"]),
        ("reason!=A", ["other", "reporter", "source"]),
        ("type=Warning", ["reporter"]),
        ("type!=Warning,source=four", ["source"]),
        ("involvedObject.kind=Gateway", ["other"]),
        ("involvedObject.name=gw,involvedObject.uid=u1", ["other"]),
        ("involvedObject.apiVersion=g/v1", ["other"]),
        ("involvedObject.kind=Pod,involvedObject.uid=", ["both", "reporter", "source"]),
        ("metadata.name=source", ["source"]),
    ],
)
async def test_field_selectors_of_events_select(api, selector, found):
    for name, fields in EVENTS.items():
        about = {"kind": "Pod", "name": "p", **fields.get("involvedObject", {})}
        about["namespace"] = api.namespace
        event = {"metadata": {"name": name}, **fields, "involvedObject": about}
        assert (await api.create(api.with_path("events"), event)).status == 201
    answer = await api.get(f"{api.with_path('events')}?fieldSelector={selector}")
    assert answer.names == found


async def test_a_field_that_events_have_not_is_refused(api):
    answer = await api.get(f"{api.with_path('events')}?fieldSelector=message=x")
    assert (answer.status, answer.message) == (400, "field label not supported: message")


async def test_pods_are_selected_by_phase_and_node(api):
    for name, node in (("p1", "n1"), ("p2", "n2")):
        spec = {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}
        pod = {"metadata": {"name": name}, "spec": spec}
        await api.until(
            api.with_path("serviceaccounts", "default"), lambda a: _default_account(api, a)
        )
        assert (await api.create(api.with_path("pods"), pod)).status == 201
    await api.patch(api.with_path("pods", "p2") + "/status", {"status": {"phase": "Running"}})
    by_node = await api.get(api.with_path("pods") + "?fieldSelector=spec.nodeName=n1")
    by_phase = await api.get(api.with_path("pods") + "?fieldSelector=status.phase=Running")
    assert (by_node.names, by_phase.names) == (["p1"], ["p2"])


def _default_account(api, answer):
    """Wait for the ServiceAccount: the real server admits no pod to a namespace without it."""
    return api.kind == "devcluster" or answer.status == 200
