import pytest

from reporter.embedded.schema.api_errors import ApiError
from reporter.embedded.storage.selectors import (
    FieldRequirement,
    LabelRequirement,
    parse_fields,
    parse_labels,
)


def anything(field):
    return None


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
        ("in in (in)", [LabelRequirement("in", frozenset({"in"}))]),
    ],
)
def test_label_selector_is_parsed_into_requirements(text, terms):
    assert parse_labels(text) == tuple(terms)


@pytest.mark.parametrize("text", ["a b", "a=b,", "a in b", "=b", "a in (b", "a=b c"])
def test_invalid_label_selector_is_refused(text):
    with pytest.raises(ApiError) as refused:
        parse_labels(text)
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("selector", "labels", "met"),
    [
        ("a!=b", {}, True),
        ("a notin (b)", {}, True),
        ("a=b", {}, False),
        ("!a", {"a": ""}, False),
        ("a=", {"a": ""}, True),
        ("a", {"a": ""}, True),
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
    assert parse_fields(text, anything) == tuple(terms)


def test_a_field_selector_without_a_value_is_refused():
    with pytest.raises(ApiError) as refused:
        parse_fields("a", anything)
    assert refused.value.code == 400
