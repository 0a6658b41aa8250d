"""
An expression has the same value for the fields that are kept of an object as for the whole object.
"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.cel.declared_kinds import field_tree, object_type
from reporter.cel.library import (
    Bindings,
    EvaluationError,
    compile_expression,
    evaluate,
)
from reporter.cel.reads import find_reads
from reporter.kinds.objects import ApiObject
from tests.support.builders import NOON


EXPRESSIONS = [
    "object.a.b == 1",
    "has(object.a.b) && has(object.a.c.b)",
    "has(object.a) ? object.a : object.b",
    "object.?a.?b.orValue(object.b)",
    "object.?a[?0].?b.orValue(7)",
    "object.a[0].b == object.b[1]",
    "object.a[parameters.key]",
    "object.a[object.c]",
    "object['a']['b'] in object.b",
    "'b' in object.a",
    "size(object.a) + size(object.b)",
    "object.a == object.b",
    "object.a.c == null",
    "object.a.exists(x, x.b == 1)",
    "object.a.exists(x, x == 'b')",
    "object.a.all(x, has(x.b) && x.c != null)",
    "object.a.exists_one(x, x.b == x.c)",
    "object.a.filter(x, x.b == 1)[0].c",
    "object.a.filter(x, x.b == 1).map(x, x.c)",
    "object.a.map(x, x.b)",
    "object.a.map(x, [x.b, x.c]).exists(y, y[0] == y[1])",
    "object.a.filter(x, true).size()",
    "object.a.map(x, x.b).size()",
    "size(object.a.map(x, x.b.c))",
    "object.a.map(x, has(x.c), x.b).size()",
    "object.a.map(x, x.map(y, y.b).size()).exists(z, z == 1)",
    "size(object.a.map(x, x.b) + object.b.map(x, x.c))",
    "size([object.a.b, object.b.c])",
    "object.a.b.split('e').map(x, x + object.b.c).size()",
    "object.a['b\"c'] == object.a['b']",
    "object.a.map(x, x).filter(y, y.b == 1).size()",
    "object.a.exists(x, object.b.exists(y, x.b == y.c))",
    "[object.a, object.b].exists(x, x.b == 1)",
    "[object.a][0].b",
    "{'k': object.a}.k.b",
    "(object.a + object.b)[0].c",
    "(object.a + object.b).exists(x, x.b == 1)",
    "dyn(object.a).b == 1 || object.b.c == 1",
    "string(object.a.b) + string(object.a.c)",
    "type(object.a) == type(object.b)",
    "object.metadata.labels.b == 'c'",
    "object.metadata.annotations['b\"c'] == 'c'",
    "has(object.metadata.annotations) && 'b' in object.metadata.annotations",
    "object.a.b.c.b",
    "object.a.all(x, x.all(y, y.b == 1))",
]

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from(["b", "c", ""]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["b", "c", "d"]), inner)
    ),
    max_leaves=12,
)
METADATA = st.fixed_dictionaries(
    {"name": st.just("n")},
    optional={
        "labels": st.dictionaries(st.sampled_from(["b", "c"]), st.sampled_from(["b", "c"])),
        "annotations": st.dictionaries(st.sampled_from(["b", "c"]), st.sampled_from(["b", "c"])),
    },
)
OBJECTS = st.fixed_dictionaries(
    {"metadata": METADATA}, optional={"a": VALUES, "b": VALUES, "c": SCALARS, "d": VALUES}
)


def type_for(compiled) -> type[ApiObject]:
    reads = find_reads(compiled.tree).fields
    return object_type("Thing", field_tree([(each.path[1:], each.is_whole) for each in reads]))


COMPILED = {text: compile_expression(text) for text in EXPRESSIONS}
TYPES = {text: type_for(compiled) for text, compiled in COMPILED.items()}


def result(compiled, content):
    """Return the value as text, or None for an error, whose words may differ."""
    try:
        return repr(evaluate(compiled, Bindings(content, NOON, {"key": "b"}, None)))
    except EvaluationError:
        return None


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(whole=OBJECTS)
def test_the_kept_fields_decide_as_the_whole_object_does(text, whole):
    decoded = msgspec.json.decode(msgspec.json.encode(whole), type=TYPES[text])
    kept = msgspec.json.decode(msgspec.json.encode(decoded))
    assert result(COMPILED[text], kept) == result(COMPILED[text], whole)
