"""Check the fields in braces of a text that is filled in when an Event is written."""

from collections.abc import Collection, Iterable
from string import Formatter

from reporter.catalogue.drafts import Draft
from reporter.catalogue.problems import Problem, suggest_name


def check_template(
    draft: Draft, template: str, allowed: Collection[str], *path: str
) -> Iterable[Problem]:
    """*path*: the keys of the template in its entry."""
    name = ".".join(path)
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as err:
        yield draft.problem(f"{name}: {err}; write {{{{ and }}}} for braces", *path)
        return
    for _, field, spec, how in parsed:
        if field is None:
            continue
        if spec or how or not field.isidentifier():
            text = f"{name}: `{{{field}}}` must be a plain name in braces, such as {{object}}"
            yield draft.problem(text, *path)
        elif field not in allowed:
            text = f"{name}: unknown field `{{{field}}}`: {suggest_name(field, allowed)}"
            yield draft.problem(text, *path)


def field_names(template: str) -> frozenset[str]:
    """Return the names in braces; none if the template cannot be parsed."""
    try:
        return frozenset(field for _, field, _, _ in Formatter().parse(template) if field)
    except ValueError:
        return frozenset()
