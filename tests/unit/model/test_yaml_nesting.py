"""YAML that would overflow the stack of libyaml's tree builder, wherever foreign YAML is read."""

import msgspec
import pytest
import yaml

from reporter.kinds.istio import MeshConfigMap
from reporter.model.yaml_nesting import MAX_LEVELS, TooDeepError, check_nesting
from reporter.resources.scaling_annotations import (
    MAX_PARSED_CHARS,
    find_metric_problems,
)


DEEP = 100_000


@pytest.mark.parametrize("opened", ["[", "{a: ", "- "])
def test_the_first_level_too_many_is_named(opened: str):
    check_nesting(f"{opened * MAX_LEVELS}1{{}}"[: MAX_LEVELS * len(opened)] + closed(opened))
    with pytest.raises(TooDeepError, match=f"deeper than {MAX_LEVELS} levels") as refused:
        check_nesting(opened * DEEP)
    assert refused.value.problem_mark is not None


def closed(opened: str) -> str:
    return {"[": "]", "{a: ": "}", "- ": ""}[opened] * MAX_LEVELS


def test_other_errors_are_those_of_the_parser():
    with pytest.raises(yaml.YAMLError) as refused:
        check_nesting("a: [")
    assert not isinstance(refused.value, TooDeepError)


def test_a_mesh_config_that_is_nested_deep_names_no_provider():
    raw = {"metadata": {"name": "istio"}, "data": {"mesh": "[" * DEEP}}
    found = msgspec.json.decode(msgspec.json.encode(raw), type=MeshConfigMap)
    assert found.providers is None


def test_an_annotation_that_is_nested_deep_is_no_list_of_metrics():
    assert find_metric_problems("[" * (MAX_PARSED_CHARS - 1)) == ("is no YAML, see its line 1",)
