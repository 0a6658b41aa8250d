"""The digest whose change causes a rewrite."""

from tests.support.builders import a_trouble
from tests.unit.announcing.message_builders import digest


def test_counts_pods_and_foreign_text_do_not_change_the_digest():
    one = a_trouble(message_fields={"state": "1/3"}, foreign_text="a")
    two = a_trouble(message_fields={"state": "2/3"}, foreign_text="b")
    assert digest(one) == digest(two)


def test_causes_and_suffixes_change_the_digest():
    base = digest(a_trouble())
    assert base != digest(a_trouble(code="Other"))
    assert base != digest(a_trouble("other"))
    assert base != digest(a_trouble(), a_trouble("other"))
    assert base != digest(a_trouble(), other_reasons=("clusterX",))
    assert base != digest(a_trouble(), suppressed_reasons=("clusterX",), suppressed_namespaces=1)
    assert digest(a_trouble(), other_reasons=("x",)) != digest(
        a_trouble(), suppressed_reasons=("x",)
    )


def test_the_example_of_a_group_does_not_change_the_digest():
    assert digest(a_trouble("a"), grouped_names=("a", "b")) == digest(
        a_trouble("b"), grouped_names=("a", "b")
    )
