"""JUnit XML as CI systems parse it."""

from xml.etree import ElementTree as ET

import pytest

from reporter.status.junit import JUnitCase, render_junit


CASES = [
    JUnitCase("one", "stories/one.yaml"),
    JUnitCase("two", "stories/two.yaml", failure="it differs\n-a\n+b"),
    JUnitCase("three", "stories/three.yaml", error="three.yaml:1: no"),
]


def test_counts_and_texts_are_those_of_the_cases():
    suite = ET.fromstring(render_junit("stories", CASES)).find("testsuite")
    assert suite is not None
    assert suite.attrib == {"name": "stories", "tests": "3", "failures": "1", "errors": "1"}
    passed, failed, wrong = suite.findall("testcase")
    assert (passed.get("name"), passed.get("classname")) == ("one", "stories/one.yaml")
    assert list(passed) == []
    failure, error = failed.find("failure"), wrong.find("error")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("it differs", "it differs\n-a\n+b")
    assert error is not None
    assert error.get("message") == "three.yaml:1: no"


@pytest.mark.parametrize(
    "text", ["\x1b[31mred", "\x00", "\ufffe", "<&\"'>]]>", "\ud800", "tab\t", "é😀"]
)
def test_any_text_makes_a_valid_document(text: str):
    document = render_junit(text, [JUnitCase(text, text, failure=text)])
    root = ET.fromstring(document.encode())
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    kept = [each for each in text if each.isprintable() and each not in "\ufffe\ud800"]
    assert all(each in (failure.text or "") for each in kept)
