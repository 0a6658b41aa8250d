"""
Trouble of a Gateway's listeners, from the conditions of each listener.

Source: Gateway API, ListenerStatus and ListenerConditionReason.
"""

from collections.abc import Sequence

from msgspec import Struct

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.gateway_api.gateways import Gateway, ListenerStatus
from reporter.model.verdicts import Trouble
from reporter.stages.resources.conditions import reason_text, with_condition
from reporter.stages.resources.gateway.gateways import gateway_trouble
from reporter.stages.text.phrases import abbreviate_list


FAILING_STATUS = {
    "ResolvedRefs": "False",
    "Accepted": "False",
    "Conflicted": "True",
    "Programmed": "False",
}
"""
The status by which a listener's condition states trouble; causes come before their consequences.
"""

CERTIFICATE_REASONS = frozenset(
    {
        "InvalidCertificateRef",
        "RefNotPermitted",
        "InvalidCACertificateRef",
        "InvalidCACertificateKind",
        "NoValidCACertificate",
    }
)
"""
Reasons for a TLS certificate or CA bundle that is missing, malformed or not allowed to be used.
"""

PENDING = "Pending"


class ListenerFailure(Struct, frozen=True):
    """The condition that states the trouble of one listener."""

    listener: str
    condition: Condition

    @property
    def is_starting(self) -> bool:
        return self.condition.reason == PENDING


def find_listener_failures(gateway: Gateway) -> Sequence[ListenerFailure]:
    """
    Return the failures of a Gateway's listeners, ordered by name.

    The status may still have entries of listeners that were removed from the spec.
    """
    in_spec = {listener.name for listener in gateway.spec.listeners or ()}
    statuses = sorted(gateway.status.listeners or (), key=lambda each: each.name)
    conditions = ((each.name, _failing_condition(each)) for each in statuses)
    return [
        ListenerFailure(name, condition)
        for name, condition in conditions
        if condition is not None and name in in_spec
    ]


def _failing_condition(listener: ListenerStatus) -> Condition | None:
    for type_, failing_status in FAILING_STATUS.items():
        condition = find_condition(listener.conditions, type_)
        if condition is not None and condition.status == failing_status:
            return condition
    return None


def listener_trouble(gateway: Gateway, failures: Sequence[ListenerFailure]) -> Trouble | None:
    """Build one trouble from the failures of a Gateway's listeners; None without any failure."""
    if not failures:
        return None
    has_certificate_error = any(f.condition.reason in CERTIFICATE_REASONS for f in failures)
    is_starting = all(failure.is_starting for failure in failures)
    what = abbreviate_list(
        [f"{reason_text(each.condition)} on listener {each.listener}" for each in failures]
    )
    if is_starting:
        trouble = gateway_trouble(
            gateway, "NotProgrammed", TroubleKind.STARTING, f"is not programmed yet ({what})"
        )
        return with_condition(trouble, failures[0].condition, gateway.metadata)
    code = "Certificate" if has_certificate_error else "Listener"
    trouble = gateway_trouble(gateway, code, TroubleKind.FAILED, f"programming failed ({what})")
    return with_condition(trouble, failures[0].condition, gateway.metadata)
