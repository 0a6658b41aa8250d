"""Checks among the entries of a catalogue. Each is pure and yields every problem that it finds."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from reporter.catalogue.checks import (
    flags,
    messages,
    ranks,
    ready_reasons,
    remedies,
    required_keys,
    suppressions,
)
from reporter.catalogue.drafts import Drafts, KnownNames
from reporter.catalogue.problems import Problem


Check: TypeAlias = Callable[[Drafts, KnownNames], Iterable[Problem]]

CHECKS: tuple[Check, ...] = (
    required_keys.check_required_keys,
    ready_reasons.check_ready_reasons,
    ranks.check_ranks,
    messages.check_messages,
    remedies.check_remedies,
    flags.check_flags,
    suppressions.check_suppressions,
)
