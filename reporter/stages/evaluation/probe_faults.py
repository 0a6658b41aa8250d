"""
The result of a probe that raises an exception, which is a fault of the program.

One odd object must cost its reason, and not what all other probes find.
"""

from collections.abc import Callable
from traceback import walk_tb
from typing import TypeAlias

from reporter.stages.probes.probe import ProbeRequest


FaultFunc: TypeAlias = Callable[[ProbeRequest, Exception], None]
"""Called with each exception of a probe; the exception that it raises ends the pass."""


def raise_fault(_: ProbeRequest, err: Exception) -> None:
    """End the pass. For stories and tests, where a fault must not pass for Unknown."""
    raise err


def describe_fault(err: Exception) -> str:
    """Return the type and the place of an exception; its text may quote what an object holds."""
    *_, (frame, line) = walk_tb(err.__traceback__)
    place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{line}"
    return f"its probe failed with {type(err).__name__} at {place}, a fault of the reporter"
