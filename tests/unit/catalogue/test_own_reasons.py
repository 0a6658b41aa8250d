"""Reasons in CEL and the kinds that they read, as a catalogue is loaded."""

import json
import sys

import pytest

from reporter.catalogue.problems import CatalogueError
from reporter.cel import library
from reporter.cel.preparation import MAX_REASONS
from reporter.controller.permissions import PermissionNeeds, required_permissions
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.kube.access_review import Permission
from reporter.model.verdicts import Clear, Unknown
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.own_reasons import (
    REASON,
    SERVICE,
    a_reason,
    an_overlay,
    an_own_store,
    own_catalogue,
    ready,
)


def refused(overlay):
    """Return the problems of a refused overlay, without the name of its file."""
    with pytest.raises(CatalogueError) as refusal:
        own_catalogue(overlay)
    return [str(each).partition("overlay.yaml:")[2] for each in refusal.value.problems]


def texts(*entries, kinds=()):
    """Return the problems of entries without their places."""
    return [
        each.partition(f"{REASON}: ")[2] for each in refused(an_overlay(*entries, kinds=kinds))
    ]


def declared(overlay):
    kinds = kinds_to_watch(own_catalogue(overlay))
    return [kind for kind in kinds if kind.is_declared]


def test_a_kind_that_a_reason_reads_is_watched_after_all_others():
    catalogue = own_catalogue(an_overlay(a_reason()))
    *_, last = kinds_to_watch(catalogue)
    assert (last.group_resource, last.versions) == ("inferenceservices.serving.kserve.io", ())
    assert last.group_resource in crds_to_track(catalogue)


def test_a_declared_kind_that_no_enabled_reason_reads_is_not_watched():
    unused = {"kind": "Unused", "group": "example.com", "resource": "unuseds"}
    overlay = an_overlay(a_reason(enabled=False), kinds=[unused])
    assert not declared(overlay)


def test_the_selectors_version_and_namespace_of_a_declared_kind_limit_its_watch():
    given = {
        "kind": "Setting",
        "resource": "configmaps",
        "namespace": "kaito",
        "label-selector": "app=x",
        "field-selector": "metadata.name!=a",
    }
    overlay = an_overlay(a_reason(kind="Setting", current="object.data.ok == 'y'"), kinds=[given])
    (kind,) = declared(overlay)
    assert (kind.versions, kind.namespace) == (("v1",), "kaito")
    assert (kind.label_selector, kind.field_selector) == ("app=x", "metadata.name!=a")
    needed = required_permissions(own_catalogue(overlay), PermissionNeeds())
    for verb in ("list", "watch"):
        assert REASON in needed[Permission(verb, "", "configmaps", "kaito")]


def test_a_kind_that_the_program_reads_itself_has_a_table_of_its_own():
    given = {"kind": "Deployment", "group": "apps", "version": "v1", "resource": "deployments"}
    overlay = an_overlay(a_reason(kind="Deployment", current="object.status.ok"), kinds=[given])
    kinds = [k for k in kinds_to_watch(own_catalogue(overlay)) if k.kind == "Deployment"]
    assert [kind.table for kind in kinds] == ["deployments", "deployments.apps/declared"]
    assert len({kind.watch_name for kind in kinds}) == len(kinds)


def test_nothing_else_changes_with_a_reason_of_ones_own():
    catalogue = own_catalogue(an_overlay(a_reason()))
    for reason, entry in DEFAULT_CATALOGUE.entries.items():
        assert catalogue[reason] == entry


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"current": ""}, "is empty; write an expression that is true while all is well"),
        ({"current": "object.a ="}, "Syntax error: token recognition error at: '='"),
        ({"current": "objekt.a"}, "undeclared reference to"),
        ({"current": "'a' + 1 == 2"}, "found no matching overload for '_+_'"),
        ({"current": "'yes'"}, "is string, and must be true or false"),
        ({"text": "1 + 1"}, "is int, and must be a text"),
        ({"since": "true"}, "is bool, and must be a time"),
        ({"current": "object == null || object.a"}, ""),
        ({"current": "object == object"}, "reads all of object; name the fields that it needs"),
        ({"current": "object.metadata == {}"}, "reads all of object.metadata; name the fields"),
        ({"current": "object[parameters.key] == 1"}, "reads all of object; name the fields"),
        (
            {"current": "lookup(object.k, 'a', 'b') == null"},
            "the kind of a lookup must be written",
        ),
        ({"current": "lookup('Secret', 'a', 'b') == null"}, "unknown kind `Secret`: declare it"),
        ({"kind": "InferenceServise"}, "did you mean `InferenceService`?"),
        ({"current": "object.a == '" + "x" * 5000 + "'"}, "bytes, of at most 4096"),
        ({"failed": "object.a || " * 8_500 + "object.a"}, "has 102008 bytes, of at most 4096"),
        ({"text": "(" * 50_000 + "object.a" + ")" * 50_000}, "has 100008 bytes, of at most 4096"),
        ({"current": "[object.a]" + ".map(x, x + x)" * 9 + "[0] == ''"}, "times what it reads"),
        ({"current": "(" * 60 + "object.a" + ")" * 60}, "recursion limit exceeded"),
        ({"parameters": {"a": "x" * 20_000}}, "has more than 16384 bytes"),
        ({"subject": {"label": "a", "owner": "B"}}, "has a label and an owner"),
        ({"subject": {"owner": "B"}}, "an owner names a model"),
        ({"subject": {"owner": "B"}}, "the API group of the owner B is not known; add `group`"),
        ({"subject": {"label": "a", "group": "b.io"}}, "add the owner, or remove the group"),
        ({"neededBy": ["InferenceServise"]}, "did you mean `InferenceService`?"),
        ({"neededBy": ["InferenceService"]}, "InferenceService cannot need itself; remove it"),
        ({"neededBy": ["InferenceService"]}, "only the cluster needs an object; write `layer:"),
        ({"neededBy": "InferenceService"}, "it must be a list"),
        ({"curent": "true"}, "unknown key `curent`: did you mean `current`?"),
    ],
)
def test_a_wrong_expression_is_refused_with_what_to_do(changes, problem):
    overlay = an_overlay(a_reason(**changes))
    if not problem:
        assert own_catalogue(overlay)
        return
    assert any(problem in each for each in texts(a_reason(**changes)))


def test_a_problem_names_the_line_and_the_column(tmp_path):
    overlay = f"""\
kinds: [{json.dumps(SERVICE)}]
add:
  - reason: {REASON}
    layer: modelharness
    type: Warning
    owner: user
    rank: 80
    probe: cel
    parameters:
      kind: InferenceService
      current: >-
        object.status.ready &&
        now
      failed: |
        object.a == 1 ||
        objekt.b
      text: 'object.a.b'
      cause: "1 +"
    message: "{{namespace}}"
    remedy: {{ default: See it. }}
"""
    found = refused(overlay)
    assert [each.partition(" ")[0] for each in found] == ["12:29:", "16:15:", "18:18:"]


def test_a_kind_that_is_declared_twice_with_other_words_is_refused():
    again, selected = {**SERVICE, "kind": "Other"}, {**SERVICE, "label-selector": "a=b"}
    problems = refused(an_overlay(a_reason(), kinds=[SERVICE, again, selected]))
    assert len(problems) == 2, "the same words twice are those of two packs"
    assert any("inferenceservices.serving.kserve.io is declared at" in p for p in problems)
    assert any(": InferenceService is declared at" in p for p in problems)


def test_a_kind_with_other_selectors_has_another_name_and_a_table_of_its_own():
    again = {**SERVICE, "name": "Labelled", "label-selector": "a=b"}
    other = a_reason(reason="modelharnessOtherNotReady", rank=81, kind="Labelled")
    made = own_catalogue(an_overlay(a_reason(), other, kinds=[again]))
    watched = [each for each in kinds_to_watch(made) if each.kind == "InferenceService"]
    assert {each.label_selector for each in watched} == {"", "a=b"}
    assert len({each.table for each in watched}) == 2


def test_a_status_of_an_older_generation_counts_for_a_kind_that_does_not_observe_its_own():
    for observes in (True, False):
        kinds = [{**SERVICE, "name": "Any", "observes-generation": observes}]
        store = an_own_store(a_reason(kind="Any"), kinds=kinds)
        store.put(metadata={"generation": 2}, status={"observedGeneration": 1, **ready("True")})
        assert isinstance(store.verdict(), Unknown if observes else Clear)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ({"kind": "thing", "resource": "things"}, "`kinds[1].kind` is `thing`; it must be a name"),
        ({"kind": "Thing"}, "`kinds[1].resource` is missing"),
        ({"kind": "Thing", "resource": "a/b"}, "`kinds[1].resource` is `a/b`"),
        ({"kind": "Thing", "resource": "things", "version": "1"}, "it must be a version"),
        ({"kind": "Thing", "resource": "things", "group": "../x"}, "it must be an API group"),
        ({"kind": "Thing", "resource": "things", "verb": "get"}, "unknown key `kinds[1].verb`"),
        ({"kind": "Secret", "resource": "secrets"}, "Secrets are never read"),
        ({"kind": "YamlNode", "resource": "nodes"}, "has none; add `namespaced: false`"),
        (
            {"kind": "ConfigMap", "resource": "configmaps", "namespaced": False},
            "ConfigMap is declared without namespaces, and has them; remove `namespaced: false`",
        ),
        (
            {"kind": "Thing", "resource": "things", "namespaced": False, "namespace": "a"},
            "Thing has no namespaces",
        ),
        (
            {"kind": "Thing", "resource": "things", "namespace": "a/secrets"},
            "`kinds[1].namespace` is `a/secrets`; it must be the name of a namespace",
        ),
        (
            {"kind": "Thing", "resource": "things", "label-selector": "app in x"},
            "kinds: `label-selector` is no selector: unable to parse requirement: found 'app in x'",
        ),
        (
            {"kind": "Thing", "resource": "things", "field-selector": "metadata.name"},
            "kinds: `field-selector` is no selector: invalid selector: 'metadata.name'",
        ),
    ],
)
def test_a_wrong_kind_is_refused(kind, problem):
    assert any(problem in each for each in refused(an_overlay(kinds=[kind])))


def test_a_kind_without_namespaces_needs_a_label_for_them():
    node = {"kind": "Machine", "group": "example.com", "resource": "machines", "namespaced": False}
    reason = a_reason(kind="Machine", current="object.ok")
    assert "have no namespace; add the label" in texts(reason, kinds=[node])[0]
    model = reason | {"layer": "modeldeployment", "reason": "inferencesetMachineLost"}
    model["message"] = "{namespace}/{inferenceset}"
    assert "a model has one" in refused(an_overlay(model, kinds=[node]))[0]
    of_team = a_reason(kind="Machine", current="object.ok", subject={"label": "team"})
    assert own_catalogue(an_overlay(of_team, kinds=[node]))


def test_too_many_reasons_are_refused_before_any_is_compiled():
    letters = "ABCDEFGHIJ"
    names = [
        f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in "abcdefghij"
    ]
    reasons = [
        a_reason(reason=f"modelharness{name}", rank=1000 + i, current="((")
        for i, name in enumerate(names[: MAX_REASONS + 1])
    ]
    (problem,) = refused(an_overlay(*reasons))
    assert f"{MAX_REASONS + 1} reasons have this probe, of at most {MAX_REASONS}" in problem


@pytest.fixture
def without_library(monkeypatch):
    """Let Python not find the library, as where it is not installed."""
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    library.environment.cache_clear()
    yield
    library.environment.cache_clear()


@pytest.mark.usefixtures("without_library")
def test_without_the_library_it_says_what_to_install():
    (problem,) = texts(a_reason())
    assert problem == f"probe: {library.MISSING_LIBRARY}"
    assert "productionstack-status-reporter[cel]" in problem


def test_the_group_of_an_owner_is_that_of_the_only_declared_kind_of_that_name():
    first = {"kind": "Model", "group": "first.io", "resource": "models"}
    second = {**first, "name": "Second", "group": "second.io"}
    reason = a_reason(
        reason="inferencesetModelLost",
        layer="modeldeployment",
        message="{namespace}/{inferenceset}",
        subject={"owner": "Model"},
    )
    assert own_catalogue(an_overlay(reason, kinds=[first]))
    (problem,) = refused(an_overlay(reason, kinds=[first, second]))
    assert "owner Model may be 'first.io' or 'second.io'; add `group`" in problem
    reason["parameters"]["subject"] = {"owner": "Model", "group": "second.io"}
    assert own_catalogue(an_overlay(reason, kinds=[first, second]))
