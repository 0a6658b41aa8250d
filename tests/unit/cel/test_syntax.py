"""The syntax tree that is read of a compiled expression."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.cel.library import compile_expression
from reporter.cel.syntax import (
    Call,
    Constant,
    Construct,
    Loop,
    Name,
    Select,
    parse_checked,
    walk,
)


def tree(text):
    return compile_expression(text).tree


def test_every_kind_of_expression_is_read():
    assert tree("'a'") == Constant("a")
    assert tree("null") == Constant(None, is_null=True)
    assert tree("true") == Constant(None)
    assert tree("object.a") == Select(Name("object"), "a", is_test=False)
    assert tree("has(object.a)") == Select(Name("object"), "a", is_test=True)
    assert tree("size(object)") == Call("size", None, (Name("object"),))
    assert tree("[now, 1]") == Construct((Name("now"), Constant(None)), is_list=True)
    assert tree("{'a': now}") == Construct((Constant("a"), Name("now")), is_list=False)
    assert tree("'x'.startsWith('y')") == Call("startsWith", Constant("x"), (Constant("y"),))


def test_a_macro_is_a_loop():
    loop = tree("object.l.exists(c, c.ok)")
    assert isinstance(loop, Loop)
    assert (loop.variable, loop.over) == ("c", Select(Name("object"), "l", is_test=False))
    assert Select(Name("c"), "ok", is_test=False) in walk(loop)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(raw):
    with pytest.raises(ValueError):
        parse_checked(raw)
