"""
The fields that expressions read: too little would make them wrong, so what is unclear is read as a whole.
"""

import pytest

from reporter.cel.library import compile_expression
from reporter.cel.reads import NotConstantError, find_reads


def reads(text):
    """
    Return the paths that an expression reads, with ? after those of which only the presence matters.
    """
    found = find_reads(compile_expression(text).tree).fields
    whole = {each.path for each in found if each.is_whole}
    return {
        ".".join(part or "*" for part in each.path) + ("" if each.is_whole else "?")
        for each in found
        if each.is_whole or each.path not in whole
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("object.a.b == 1", {"object.a.b"}),
        ("has(object.a.b)", {"object.a.b?"}),
        ("object['a']['b-c'] == 1", {"object.a.b-c"}),
        ("object.?a.?b.orValue(object.c)", {"object.a.b", "object.c"}),
        ("object.l[0].x", {"object.l.*.x"}),
        ("object.m[parameters.key]", {"object.m.*"}),
        ("object.m[object.key]", {"object.m.*", "object.key"}),
        ("size(object.l) > 1", {"object.l.*?"}),
        ("object.l.size() > 1", {"object.l.*?"}),
        ("size(object.l.map(i, i.x)) > 1", {"object.l.*?", "object.l.*.x?"}),
        ("object.l.filter(i, i.ok).map(i, i.x).size() > 1", {"object.l.*?", "object.l.*.ok", "object.l.*.x?"}),
        ("[object.a, object.b].size() > 1", {"object.a?", "object.b?"}),
        ("object.m['a\"b'] == 1", {"object.m.*"}),
        ("object.m['a\\\\b'] == 1", {"object.m.*"}),
        ("object.m['a\\nb'] == 1", {"object.m.*"}),
        ("'x' in object.l", {"object.l"}),
        ("object.l.exists(c, c.type == 'R' && c.ok)", {"object.l.*?", "object.l.*.type", "object.l.*.ok"}),
        ("object.l.all(c, true)", {"object.l.*?"}),
        (
            "object.l.filter(c, c.type == 'R')[0].text",
            {"object.l.*?", "object.l.*.type", "object.l.*.text"},
        ),
        (
            "object.l.filter(c, c.ok).map(c, c.x + c.y).join(',')",
            {"object.l.*?", "object.l.*.ok", "object.l.*.x", "object.l.*.y"},
        ),
        ("object.l.filter(c, c.ok)", {"object.l.*"} | {"object.l.*.ok"}),
        ("(object.a ? object.b : object.c).d", {"object.a", "object.b.d", "object.c.d"}),
        ("[object.a, object.b].exists(x, x.c)", {"object.a?", "object.b?", "object.a.c", "object.b.c"}),
        ("{'k': object.a}.k", {"object.a"}),
        ("(object.a + object.b)[0].c", {"object.a.*.c", "object.b.*.c"}),
        ("dyn(object.a).b", {"object.a.b"}),
        ("object.l.exists(a, object.m.exists(b, a.x == b.y))", {"object.l.*?", "object.m.*?", "object.l.*.x", "object.m.*.y"}),
        ("string(object.a)", {"object.a"}),
        ("lookup('K', object.ns, 'n').x", {"object.ns", "K.x"}),
        ("lookup('K', 'n', 'm') == null", {"K?"}),
        ("object == object", {"object"}),
        ("now > timestamp(object.t)", {"object.t"}),
    ],
)  # fmt: skip
def test_reads_what_the_expression_names(text, expected):
    assert reads(text) == expected


def test_a_kind_that_is_computed_is_refused():
    with pytest.raises(NotConstantError):
        reads("lookup(object.kind, 'n', 'm').x")


def test_names_and_kinds_are_those_that_are_used():
    found = find_reads(compile_expression("now > now && lookup('K', 'a', 'b') == null").tree)
    assert (found.names, found.kinds) == ({"now"}, {"K"})
