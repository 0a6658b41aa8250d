"""The flags of what is announced, where, and what is not until when."""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reporter.model.enums import Emission, SuppressionMode
from reporter.settings.flags import RUN_AND_EVALUATION, FlagGroup, flag
from reporter.settings.parsers import choice_parser, parse_boolean, parse_optional_path


_events = partial(flag, FlagGroup.EVENTS, taken_by=RUN_AND_EVALUATION)


@dataclass(frozen=True, kw_only=True)  # a class cannot have two bases with slots
class AnnouncingSettings:
    """The settings of Events: which findings are announced, silenced or only printed."""

    dry_run: bool = _events(
        "false",
        parse_boolean,
        "Print Events, and write nothing; no election is joined.",
    )

    emission: Emission = _events(
        "primary",
        choice_parser(Emission),
        "Announce the highest-ranked finding of a subject (primary), or all.",
    )
    suppression: SuppressionMode = _events(
        "on",
        choice_parser(SuppressionMode),
        "Suppress what follows from an upstream that is out (on), or nothing (off).",
    )
    silence_file: Path | None = _events(
        "",
        parse_optional_path,
        "File of silences, read again when it changes; it need not exist yet.",
    )
    mirror_events: bool = _events(
        "false",
        parse_boolean,
        "Write Events about InferenceSets and Gateways beside these. Needs RBAC.",
    )
