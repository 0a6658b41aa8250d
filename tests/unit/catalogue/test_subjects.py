"""The rules by which objects make subjects, and those that are refused with their place."""

from pathlib import Path

import pytest

from reporter.catalogue.declared_subjects import (
    known_kinds,
    read_definitions,
)
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.parsed_entries import entry_sources
from reporter.catalogue.problems import Problem
from reporter.catalogue.subject_definitions import NamespaceScope, SubjectDefinitions
from reporter.catalogue.yaml_nodes import compose
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.gateway_api import GATEWAYS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import Layer
from reporter.settings import FLAG_NAMES


HARNESS = "{ layer: modelharness, kind: Namespace, about: a, plain: true }"
MODEL = "{ layer: modeldeployment, kind: InferenceSet, about: a, plain: true }"


def read(tmp_path: Path, *entries: str) -> tuple[SubjectDefinitions, list[str]]:
    """
    Return the rules of one pack with these entries, one a line from line 2, and the problems.
    """
    file = tmp_path / "pack.yaml"
    file.write_text("subjects:\n" + "".join(f"  - {each}\n" for each in entries))
    problems: list[Problem] = []
    root = compose(file, problems)
    rules = read_definitions(entry_sources(root, "subjects", "mine"), known_kinds({}), problems)
    return rules, [str(each).replace(f"{tmp_path}/", "") for each in problems]


def test_the_pack_kaito_makes_subjects_of_labelled_namespaces_and_their_inferencesets():
    made = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES).subject_definitions
    harness, model = made.all
    assert (harness.layer, harness.kind, harness.plain) == (Layer.MODELHARNESS, NAMESPACES, True)
    assert dict(harness.labels) == {"productionstack.kaito.sh/managed-by": "modelharness"}
    assert (model.layer, model.kind, model.plain) == (Layer.MODELDEPLOYMENT, INFERENCE_SETS, True)
    assert model.scope is NamespaceScope.HARNESS
    assert made.deciding_kinds(harness) == (NAMESPACES, GATEWAYS)
    assert made.deciding_kinds(model) == (NAMESPACES, INFERENCE_SETS)


def test_rules_that_fit_are_ordered_by_layer(tmp_path):
    route = "{ layer: modeldeployment, kind: HTTPRoute, about: a }"
    rules, problems = read(tmp_path, MODEL, HARNESS, route)
    assert not problems
    assert [each.kind.kind for each in rules.all] == ["Namespace", "InferenceSet", "HTTPRoute"]
    assert [each.subject_kind for each in rules.all] == ["", "", "HTTPRoute"]
    assert [each.prefix for each in rules.all] == ["namespace", "inferenceset", "httproute"]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (
            ["{ layer: modeldeployment, kind: InferenceSett, about: a }"],
            "pack.yaml:2: subjects: unknown kind `InferenceSett`: did you mean `InferenceSet`?",
        ),
        (
            ["{ layer: modeldeployment, kind: HTTPRoute, about: a, needs: [Gatewy] }"],
            "pack.yaml:2: subjects: unknown kind `Gatewy`: did you mean `Gateway`?",
        ),
        (
            ["{ layer: cluster, kind: HTTPRoute, about: a }"],
            (
                "pack.yaml:2: subjects: HTTPRoute: the cluster is a subject by itself; "
                "choose another layer"
            ),
        ),
        (
            ["{ layer: modeldeployment, kind: Namespace, about: a, plain: true }"],
            (
                "pack.yaml:2: subjects: Namespace: namespaces are harnesses; "
                "write `layer: modelharness`"
            ),
        ),
        (
            ["{ layer: modelharness, kind: Namespace, about: a }"],
            (
                "pack.yaml:2: subjects: Namespace: a namespace has no kind in its name; "
                "add `plain: true`"
            ),
        ),
        (
            ["{ layer: modelharness, kind: Gateway, about: a, plain: true }"],
            (
                "pack.yaml:2: subjects: Gateway: only namespaces are plain in this layer; "
                "remove `plain`"
            ),
        ),
        (
            ["{ layer: modeldeployment, kind: HTTPRoute, about: a, namespaces: labelled }"],
            (
                "pack.yaml:2: subjects: HTTPRoute: `namespaces: labelled` and `namespace-labels` "
                "belong together"
            ),
        ),
        (
            ["{ layer: modeldeployment, kind: HTTPRoute, about: a, namespaces: harness }"],
            (
                "pack.yaml:2: subjects: HTTPRoute: pack mine has no harness; "
                "write `namespaces: all`, or add one"
            ),
        ),
        (
            [MODEL, "{ layer: modeldeployment, kind: HTTPRoute, about: a, plain: true }"],
            (
                "pack.yaml:3: subjects: HTTPRoute: InferenceSet (pack.yaml:2) is plain in layer "
                "modeldeployment; remove `plain`"
            ),
        ),
        (
            [MODEL, MODEL],
            (
                "pack.yaml:3: subjects: InferenceSet: makes subjects at pack.yaml:2 already; "
                "remove one"
            ),
        ),
        (
            [MODEL, "{ layer: modeldeployment, kind: HTTPRoute, about: a, prefix: inferenceset }"],
            (
                "pack.yaml:3: subjects: HTTPRoute: the prefix `inferenceset` is that of InferenceSet "
                "(pack.yaml:2); choose another"
            ),
        ),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_its_line(tmp_path, entries, expected):
    assert expected in read(tmp_path, *entries)[1]
