"""
Render results as JUnit XML, as the test reports of CI systems read it.

The format is that of Apache Ant's junitreport: a testsuite with testcases, of which one that did not
pass has a failure, and one that could not be run has an error.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from msgspec import Struct


_INVALID = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 cannot have (section 2.2), and carriage returns."""


class JUnitCase(Struct, frozen=True):
    """
    One result. *failure*, *error*: the first line is the message, all of it the text; empty for none.
    """

    name: str
    classname: str
    failure: str = ""
    error: str = ""


def render_junit(suite: str, cases: Sequence[JUnitCase]) -> str:
    """
    Return JUnit XML with one suite of these cases, with a line break at its end.

    Characters that XML 1.0 does not allow are replaced with U+FFFD.
    """
    root = ET.Element("testsuites")
    counts = {
        "tests": len(cases),
        "failures": sum(bool(each.failure) for each in cases),
        "errors": sum(bool(each.error) for each in cases),
    }
    attributes = {name: str(number) for name, number in counts.items()}
    element = ET.SubElement(root, "testsuite", {"name": _valid(suite), **attributes})
    for each in cases:
        _add(element, each)
    ET.indent(root)
    text: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add(suite: ET.Element, case: JUnitCase) -> None:
    names = {"classname": _valid(case.classname), "name": _valid(case.name)}
    element = ET.SubElement(suite, "testcase", names)
    for tag, text in (("failure", case.failure), ("error", case.error)):
        if text:
            message = _valid(text.partition("\n")[0])
            ET.SubElement(element, tag, {"message": message}).text = _valid(text)


def _valid(text: str) -> str:
    return _INVALID.sub("\N{REPLACEMENT CHARACTER}", text)
