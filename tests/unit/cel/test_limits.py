"""Expressions that may cost too much are refused, and ordinary ones are not."""

import pytest

from reporter.cel.library import compile_expression
from reporter.cel.limits import MAX_NODES, why_too_costly


def why(text):
    return why_too_costly(compile_expression(text).tree)


@pytest.mark.parametrize(
    "text",
    [
        "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
        "object.status.conditions.filter(c, c.status != 'True').map(c, c.type + '=' + c.status + ' (' + c.reason + ': ' + c.message + ')').join(', ')",
        "object.status.l.map(i, object.metadata.name + '/' + i.name).join(', ')",
        "object.spec.a.replace('-', '_')",
        "'%s of %d'.format([object.a, size(object.l)])",
        "object.spec.x.all(a, object.spec.y.exists(b, a.name == b.name))",
    ],
)
def test_ordinary_expressions_are_cheap(text):
    assert why(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "[object.a]" + ".map(x, x + x)" * 9 + "[0]",
        "['a']" + ".map(x, x + x + x + x)" * 6 + "[0]",
        "object.a.replace('', object.a)",
        "object.l.join(object.separator)",
        "object.l.map(x, object.a + object.b + object.c + object.d + object.e)",
    ],
)
def test_texts_that_multiply_are_refused(text):
    assert "times what it reads" in why(text)


def test_regular_expressions_count_as_many_parts():
    text = " && ".join(f"object.a.matches('x+{i}')" for i in range(7))
    assert f"parts, of at most {MAX_NODES}" in why(text)


def test_an_expression_of_many_parts_is_refused():
    numbers = ", ".join(["1"] * MAX_NODES)
    assert f"parts, of at most {MAX_NODES}" in why(f"size([{numbers}]) > 0")
