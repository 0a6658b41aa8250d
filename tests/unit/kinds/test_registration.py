"""A kind consists of one module and one line of the list of kinds."""

import importlib
import pkgutil
from dataclasses import fields
from typing import get_type_hints

import pytest

from reporter import kinds
from reporter.evaluation.registry import PROBES
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS, WRITTEN_KINDS
from reporter.kinds.resource_kind import ResourceKind


ALL_KINDS = (*DEFAULT_KINDS, *OPTIONAL_KINDS)
(DEFAULT_INDEX_KEYS,) = (
    each.default for each in fields(ResourceKind) if each.name == "index_keys"
)
SPECS = [probe.spec for probe in PROBES.values()]


def name_of(kind: ResourceKind) -> str:
    return kind.group_resource


def test_every_kind_that_a_module_declares_is_listed():
    modules = pkgutil.walk_packages(kinds.__path__, f"{kinds.__name__}.")
    declared = {
        value
        for module in modules
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, ResourceKind)
    }
    assert declared == {*ALL_KINDS, *WRITTEN_KINDS}


def test_no_resource_is_listed_twice():
    assert len({kind.resource for kind in ALL_KINDS}) == len(ALL_KINDS)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_every_kind_that_a_probe_reads_is_listed(spec):
    listed = DEFAULT_KINDS if spec.source is None else ALL_KINDS
    assert {*spec.required_kinds, *spec.consulted_kinds, *spec.optional_kinds} <= set(listed)
    assert {k for group in spec.kinds_by_source.values() for k in group} <= set(OPTIONAL_KINDS)


@pytest.mark.parametrize("kind", ALL_KINDS, ids=name_of)
def test_every_listed_kind_is_read_by_a_probe(kind):
    read = {
        each
        for spec in SPECS
        for group in (
            spec.required_kinds,
            spec.consulted_kinds,
            spec.optional_kinds,
            *spec.kinds_by_source.values(),
        )
        for each in group
    }
    assert kind in read


@pytest.mark.parametrize("kind", ALL_KINDS, ids=name_of)
def test_the_functions_of_a_kind_take_its_type(kind):
    named = {kind.index_keys, kind.affects} - {DEFAULT_INDEX_KEYS}
    for function in named:
        hints = get_type_hints(function)
        hints.pop("return")
        (taken,) = hints.values()
        assert issubclass(kind.type, taken)
