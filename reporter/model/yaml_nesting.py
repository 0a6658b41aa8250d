"""
A limit for the nesting of YAML, to be checked before a parser of libyaml builds a tree.

That parser recurses in C for each level: some 30,000 of them overflow the stack, which ends the process.
Its events come one by one, whatever the nesting.
"""

from typing import Any

import yaml


MAX_LEVELS = 100
"""More than files and annotations that people write have."""

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class TooDeepError(yaml.MarkedYAMLError):
    """
    Raised for YAML with too many levels. *problem_mark*: where the first level too many begins.
    """


def check_nesting(text: str, levels: int = MAX_LEVELS) -> None:
    """Raise TooDeepError for nesting of more than *levels*, or another YAMLError for what is no YAML."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > levels:
                problem = f"it is nested deeper than {levels} levels"
                mark: Any = event.start_mark
                raise TooDeepError(problem=problem, problem_mark=mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
