"""
Objects that are not as they should be: of another shape than their schema says, or huge.
"""

from collections.abc import Iterator
from http import HTTPStatus

import pytest

from e2e import events
from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.faults import etcd, models
from e2e.faults.expense import expense
from e2e.faults.models import CURED, TROUBLE
from e2e.patience import AT_ONCE, QUICK, SETTLE
from e2e.reporter_process import ReporterProcess


ODD, HEALTHY, NEW, HUGE, SPARE = 0, 1, 7, 3, 5
CHANGES = 50
LARGE = 3_000_000
"""
Bytes of the large object: twice what etcd takes by default.
"""

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencesets.kaito.sh"


@pytest.fixture(scope="module")
def bare() -> Iterator[ControlPlane]:
    with models.bare(6, etcd_flags=etcd.ROOM) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    return models.untroubled(bare)


# ---------------------------------------------------------------- of another shape


@pytest.fixture
def untyped(plane: ControlPlane) -> Iterator[None]:
    """
    InferenceSets may be anything for a while.
    """
    versions = plane.client.get(CRD)["spec"]["versions"]
    anything = {
        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    }
    plane.client.patch(CRD, {"spec": {"versions": [{**v, "schema": anything} for v in versions]}})
    until(lambda: _takes_anything(plane), within=20, what="InferenceSets may be anything")
    yield
    plane.client.patch(CRD, {"spec": {"versions": versions}})
    until(lambda: _takes_anything(plane) is False, within=20, what="InferenceSets are typed again")


def test_object_that_cannot_be_decoded_hides_no_other_and_is_judged_when_it_can_be(
    plane: ControlPlane, untyped: None
) -> None:
    """
    One is odd in mid-episode and cured meanwhile, one was never anything else and is in trouble.
    """
    client = plane.client
    with ReporterProcess(plane, *QUICK) as reporter:
        models.misconfigure(client, ODD)
        models.wait_for(client, TROUBLE, ODD, within=AT_ONCE)
        with expense(reporter, f"{CHANGES} changes of an undecodable object") as spent:
            _spoil(plane, ODD)
            models.cure(client, ODD)
            client.create(models.GROUP + "/v1beta1/namespaces/team-0/inferencesets", _new(plane))
            for number in range(CHANGES):
                client.patch(models.path(ODD), _noted(number))
            models.until_state(reporter, ODD, "unknown", within=AT_ONCE)
            models.misconfigure(client, HEALTHY)
            models.wait_for(client, TROUBLE, HEALTHY, within=AT_ONCE)
            models.cure(client, HEALTHY)
            models.wait_for(client, CURED, HEALTHY, within=SETTLE + AT_ONCE)
        of_others = [(TROUBLE, "model-0"), (TROUBLE, "model-1"), (CURED, "model-1")]
        assert models.said(client) == of_others
        assert len(reporter.lines("cannot be decoded")) == 2
        assert spent.within(cpu=5, peak=16, lines=10)
        reporter.stop()
        reporter.start()
        models.until_state(reporter, ODD, "unknown", within=AT_ONCE)
        _mend(plane, ODD)
        _mend(plane, NEW)
        models.wait_for(client, CURED, ODD, within=SETTLE + AT_ONCE)
        models.wait_for(client, TROUBLE, NEW, within=AT_ONCE)
        later = [(CURED, "model-0"), (TROUBLE, "model-7")]
        assert sorted(models.said(client)) == sorted([*of_others, *later])
        assert all(each.count == 1 for each in events.ours(client))
    client.delete(models.path(NEW))


def _spoil(plane: ControlPlane, number: int) -> None:
    plane.client.patch(models.path(number), {"spec": {"nodeCountLimit": "three"}})


def _mend(plane: ControlPlane, number: int) -> None:
    plane.client.patch(models.path(number), {"spec": {"nodeCountLimit": None}})


def _new(plane: ControlPlane) -> Json:
    made = models.manifest(plane.client, HEALTHY)
    made["metadata"].update(name="model-7", annotations=models.WRONG)
    made["spec"]["nodeCountLimit"] = "three"
    return made


def _noted(number: int) -> Json:
    return {"metadata": {"annotations": {"e2e.example/change": str(number)}}}


def _takes_anything(plane: ControlPlane) -> bool | None:
    """
    The API server learns of a changed schema a moment after it was written. Until
    then it may also answer 429, as its storage begins anew.
    """
    try:
        _spoil(plane, SPARE)
        _mend(plane, SPARE)
    except ApiError as err:
        if err.status == HTTPStatus.TOO_MANY_REQUESTS:
            return None
        return False
    return True


# ---------------------------------------------------------------- huge


def test_object_of_three_megabytes_is_read_like_any_other_and_leaves_no_memory_behind(
    plane: ControlPlane,
) -> None:
    """
    Such an object never comes through an API server, whose client sends etcd 2 MiB at most. It
    comes by the watch: a list shows it as well, and would hide that the watch breaks at it.
    """
    client, small = plane.client, etcd.read(plane, _key(HUGE))
    with ReporterProcess(plane, *QUICK) as reporter:
        before = _lists(reporter)
        with expense(reporter, f"an object of {LARGE} bytes, 20 times") as spent:
            for number in range(20):
                etcd.write(plane, _key(HUGE), _large(small, models.WRONG, number))
            models.wait_for(client, TROUBLE, HUGE, within=2 * AT_ONCE)
            assert len(client.raw("GET", models.path(HUGE))) > LARGE
            etcd.write(plane, _key(HUGE), _large(small, {}, 20))
            models.wait_for(client, CURED, HUGE, within=SETTLE + 2 * AT_ONCE)
        assert _lists(reporter) == before
        reporter.stop()
        reporter.start()
        etcd.write(plane, _key(HUGE), small)
        models.misconfigure(client, HEALTHY)
        models.wait_for(client, TROUBLE, HEALTHY, within=AT_ONCE)
        assert models.said(client) == [
            (TROUBLE, "model-3"),
            (CURED, "model-3"),
            (TROUBLE, "model-1"),
        ]
    assert spent.within(cpu=10, peak=64, lines=10)


def _lists(reporter: ReporterProcess) -> float:
    return reporter.metric("relists_total", kind="inferencesets.kaito.sh")


def _key(number: int) -> str:
    return f"/registry/kaito.sh/inferencesets/{models.name(number)}"


def _large(small: Json, annotations: Json, number: int) -> Json:
    """
    By an annotation, which are kept: the worst that it may cost.
    """
    notes = {"e2e.example/notes": f"{number:010}" * (LARGE // 10)}
    return {**small, "metadata": {**small["metadata"], "annotations": annotations | notes}}
