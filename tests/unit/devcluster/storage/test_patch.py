import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.storage.patch import apply_strategic_merge_patch
from reporter.stories.format import apply_merge_patch


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch_gives_the_results_of_the_rfc(target, patch, result):
    assert apply_merge_patch(target, patch) == result


values = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
patches = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(values, patches)
def test_a_merge_patch_applied_twice_changes_nothing_more(target, patch):
    once = apply_merge_patch(target, patch)
    assert apply_merge_patch(once, patch) == once


@given(values, patches)
def test_merge_patch_does_not_change_its_target(target, patch):
    before = repr(target)
    apply_merge_patch(target, patch)
    assert repr(target) == before


def test_a_strategic_patch_merges_known_lists_by_key_and_replaces_others():
    target = {
        "containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}],
        "args": ["one"],
    }
    patch = {
        "containers": [{"name": "a", "image": "2"}, {"name": "b", "image": "3"}],
        "args": ["two"],
    }
    assert apply_strategic_merge_patch(target, patch) == {
        "containers": [
            {"name": "b", "image": "3"},
            {"name": "a", "image": "2", "env": [{"name": "X", "value": "1"}]},
        ],
        "args": ["two"],
    }


def test_strategic_patch_deletes_items_with_a_delete_directive():
    target = {"conditions": [{"type": "A"}, {"type": "B"}]}
    patch = {"conditions": [{"type": "A", "$patch": "delete"}]}
    assert apply_strategic_merge_patch(target, patch) == {"conditions": [{"type": "B"}]}
