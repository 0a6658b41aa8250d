"""Label and field selectors."""

import pytest

from reporter.kinds.resource_kind import (
    FieldRequirement,
    LabelRequirement,
    ObjectSelector,
    SelectorError,
    parse_fields,
    parse_labels,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("a", [LabelRequirement("a", None)]),
        ("!a", [LabelRequirement("a", None, wanted=False)]),
        ("a=b", [LabelRequirement("a", frozenset({"b"}))]),
        ("a == b", [LabelRequirement("a", frozenset({"b"}))]),
        ("a!=b", [LabelRequirement("a", frozenset({"b"}), wanted=False)]),
        ("a=", [LabelRequirement("a", frozenset({""}))]),
        ("a in (b, c)", [LabelRequirement("a", frozenset({"b", "c"}))]),
        ("a notin (b)", [LabelRequirement("a", frozenset({"b"}), wanted=False)]),
        (
            "x.io/a-b=c.d,e",
            [LabelRequirement("x.io/a-b", frozenset({"c.d"})), LabelRequirement("e", None)],
        ),
        ("a>1", [LabelRequirement("a", None, bound=1)]),
        ("a < 2", [LabelRequirement("a", None, wanted=False, bound=2)]),
        ("in in (in)", [LabelRequirement("in", frozenset({"in"}))]),
    ],
)
def test_label_selector_is_parsed_into_requirements(text, terms):
    assert parse_labels(text) == tuple(terms)


@pytest.mark.parametrize("text", ["a b", "a=b,", "a in b", "=b", "a in (b", "a=b c"])
def test_invalid_label_selector_is_refused(text):
    with pytest.raises(SelectorError):
        parse_labels(text)


@pytest.mark.parametrize(
    ("selector", "labels", "met"),
    [
        ("a!=b", {}, True),
        ("a notin (b)", {}, True),
        ("a=b", {}, False),
        ("!a", {"a": ""}, False),
        ("a=", {"a": ""}, True),
        ("a", {"a": ""}, True),
        ("a>1", {"a": "2"}, True),
        ("a>1", {"a": "1"}, False),
        ("a>1", {"a": "x"}, False),
        ("a<1", {"a": "0"}, True),
        ("a<1", {}, False),
    ],
)
def test_missing_label_matches_negative_requirements_only(selector, labels, met):
    (term,) = parse_labels(selector)
    assert term.matches(labels) is met


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("a.b=c", [FieldRequirement("a.b", "c", wanted=True)]),
        (
            "a==c,d!=e",
            [FieldRequirement("a", "c", wanted=True), FieldRequirement("d", "e", wanted=False)],
        ),
        ("a=", [FieldRequirement("a", "", wanted=True)]),
        (r"a=b\,c\=d\\", [FieldRequirement("a", "b,c=d\\", wanted=True)]),
    ],
)
def test_field_selector_is_parsed_into_requirements(text, terms):
    assert parse_fields(text) == tuple(terms)


def test_a_field_selector_without_a_value_is_refused():
    with pytest.raises(SelectorError):
        parse_fields("a")


A_POD = {
    "metadata": {"name": "a", "namespace": "team", "labels": {"app": "x"}},
    "spec": {"nodeName": "n1", "hostNetwork": True},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("namespace", "labels", "fields", "is_selected"),
    [
        ("", "", "", True),
        ("team", "app=x", "metadata.name=a,status.phase!=Failed", True),
        ("other", "", "", False),
        ("", "app!=x", "", False),
        ("", "", "metadata.name!=a", False),
        ("", "", "metadata.namespace=team", True),
        ("", "", "spec.hostNetwork=true", True),
        ("", "", "spec.unschedulable=false", True),
        ("", "", "status.nominatedNodeName=", True),
        ("", "", "spec.nodeName=", False),
        ("", "", "spec.nodeName.x=", True),
    ],
)
def test_an_object_is_selected_as_by_the_api_server(namespace, labels, fields, is_selected):
    assert ObjectSelector.parse(namespace, labels, fields).matches(A_POD) is is_selected


def test_an_object_without_metadata_has_no_labels():
    assert not ObjectSelector.parse("", "a", "").matches({"metadata": {"labels": ["a"]}})
    assert ObjectSelector.parse("", "!a", "").matches({})
