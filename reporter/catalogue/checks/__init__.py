"""
What must hold among the entries of a catalogue; each check is pure and tells all it finds.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from reporter.catalogue.checks import (
    flags,
    messages,
    ranks,
    ready,
    remedies,
    shapes,
    suppressions,
)
from reporter.catalogue.drafts import Drafts, Known
from reporter.catalogue.problems import Problem


Check: TypeAlias = Callable[[Drafts, Known], Iterable[Problem]]

CHECKS: tuple[Check, ...] = (
    shapes.check,
    ready.check,
    ranks.check,
    messages.check,
    remedies.check,
    flags.check,
    suppressions.check,
)
