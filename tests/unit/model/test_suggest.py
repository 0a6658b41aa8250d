"""Suggestions instead of an unknown name."""

from reporter.model.suggest import did_you_mean, find_similar, suggest


KNOWN = ("status", "wait", "explain")


def test_the_most_similar_name_is_found():
    assert find_similar("statsu", KNOWN) == "status"
    assert find_similar("statsu", KNOWN, at_least=0.99) == ""
    assert find_similar("x", KNOWN) == ""


def test_a_question_has_the_form_of_the_names():
    assert suggest("wiat", KNOWN, form="--{}", otherwise="--help lists all") == (
        "did you mean --wait?"
    )
    assert suggest("x", KNOWN, otherwise="--help lists all") == "--help lists all"


def test_no_name_is_suggested_for_itself():
    assert did_you_mean("istio-sytem", ["istio-system"]) == ' (did you mean "istio-system"?)'
    assert did_you_mean("istio-system", ["istio-system"]) == ""
