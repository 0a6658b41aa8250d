"""Leases: their times, numbers and versions."""

import pytest


SPEC = {
    "holderIdentity": "me",
    "leaseDurationSeconds": 15,
    "acquireTime": "2026-11-21T08:00:00.000000Z",
    "renewTime": "2026-11-21T08:00:00.000000Z",
    "leaseTransitions": 0,
}
UNREADABLE = 'Lease in version "v1" cannot be handled as a Lease: '
GROUP = "coordination.k8s.io/v1"


def lease(name="l1", **spec):
    return {"metadata": {"name": name}, "spec": {**SPEC, **spec}}


async def test_a_lease_is_kept_as_it_is(api):
    answer = await api.create(api.with_path("leases", group=GROUP), lease())
    assert answer.status == 201
    assert answer.json["spec"] == SPEC
    assert "generation" not in answer.json["metadata"]


async def test_a_lease_may_have_no_holder_or_an_empty_spec(api):
    released = await api.create(api.with_path("leases", group=GROUP), lease(holderIdentity=""))
    empty = await api.create(api.with_path("leases", group=GROUP), {"metadata": {"name": "l2"}})
    assert (released.status, released.json["spec"]["holderIdentity"]) == (201, "")
    assert (empty.status, empty.json["spec"]) == (201, {})


TIME = "2026-11-21T08:00:00Z"
NOT_MICRO = (
    f'parsing time "{TIME}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
)
NOT_INT = "json: cannot unmarshal {} into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"renewTime": TIME}, NOT_MICRO),
        ({"leaseDurationSeconds": "15"}, NOT_INT.format("string")),
        ({"leaseDurationSeconds": 1.5}, NOT_INT.format("number 1.5")),
    ],
    ids=["time in seconds", "duration as text", "half a second"],
)
async def test_what_does_not_fit_is_400(api, spec, text):
    answer = await api.create(api.with_path("leases", group=GROUP), lease(**spec))
    assert (answer.status, answer.message) == (400, UNREADABLE + text)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"leaseDurationSeconds": 0},
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        ),
        (
            {"leaseTransitions": -1},
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        ),
    ],
)
async def test_what_makes_no_sense_is_422(api, spec, text):
    answer = await api.create(api.with_path("leases", group=GROUP), lease(**spec))
    assert answer.status == 422
    assert answer.message == f'Lease.coordination.k8s.io "l1" is invalid: {text}'
    assert answer.json["details"]["group"] == "coordination.k8s.io"


async def test_an_update_must_name_the_version_that_it_replaces(api):
    created = await api.create(api.with_path("leases", group=GROUP), lease())
    path = api.with_path("leases", "l1", group=GROUP)
    without_version = await api.put(path, lease(holderIdentity="you"))
    assert without_version.status == 422
    assert without_version.message == (
        'leases.coordination.k8s.io "l1" is invalid: metadata.resourceVersion: '
        "Invalid value: 0: must be specified for an update"
    )
    body = created.json
    body["spec"]["holderIdentity"] = "you"
    taken = await api.put(path, body)
    assert (taken.status, taken.json["spec"]["holderIdentity"]) == (200, "you")
    late = await api.put(path, body)
    assert (late.status, late.json["reason"]) == (409, "Conflict")
    assert late.json["details"] == {
        "name": "l1",
        "group": "coordination.k8s.io",
        "kind": "leases",
    }


async def test_a_patch_with_a_bad_time_is_422_on_the_patch(api):
    await api.create(api.with_path("leases", group=GROUP), lease())
    patch = {"spec": {"renewTime": "2026-11-21T08:00:00Z"}}
    answer = await api.patch(api.with_path("leases", "l1", group=GROUP), patch)
    assert answer.status == 422
    assert [cause["field"] for cause in answer.json["details"]["causes"]] == ["patch"]
    assert answer.message.endswith('cannot parse "Z" as ".000000"')
