"""The verdicts about a Gateway's listeners."""

import pytest

from reporter.model.enums import TroubleKind
from tests.support.builders import an_observed_condition
from tests.support.gateways import (
    BAD_TLS,
    CERTIFICATE,
    REASON,
    UNMANNED,
    WAITS,
    assert_reported,
    gateway,
    listening,
    unassigned,
)
from tests.support.harness_builders import rendered_troubles, verdict_of


@pytest.mark.parametrize(
    ("made", "code", "kind", "text", "foreign"),
    [
        pytest.param(
            listening(an_observed_condition("Accepted"), CERTIFICATE, BAD_TLS),
            "Certificate",
            TroubleKind.FAILED,
            "programming failed (InvalidCertificateRef on listener http)",
            "secret team-a/c not found",
            id="a certificate, though the Gateway is programmed",
        ),
        pytest.param(
            listening(an_observed_condition("ResolvedRefs", "False", "RefNotPermitted"), BAD_TLS),
            "Certificate",
            TroubleKind.FAILED,
            "programming failed (RefNotPermitted on listener http)",
            "",
            id="no ReferenceGrant",
        ),
        pytest.param(
            listening(an_observed_condition("Conflicted", "True", "ProtocolConflict")),
            "Listener",
            TroubleKind.FAILED,
            "programming failed (ProtocolConflict on listener http)",
            "",
            id="a conflict is bad when True",
        ),
        pytest.param(
            listening(
                an_observed_condition("Accepted", "False", "UnsupportedProtocol"),
                an_observed_condition("Programmed"),
            ),
            "Listener",
            TroubleKind.FAILED,
            "programming failed (UnsupportedProtocol on listener http)",
            "",
            id="a protocol",
        ),
        pytest.param(
            listening(an_observed_condition("Programmed", "False", "Pending")),
            "NotProgrammed",
            TroubleKind.STARTING,
            "is not programmed yet (Pending on listener http)",
            "",
            id="a listener that waits",
        ),
        pytest.param(
            gateway(unassigned(UNMANNED), listener_conditions={"http": [CERTIFICATE]}),
            "Certificate",
            TroubleKind.FAILED,
            "programming failed (InvalidCertificateRef on listener http)",
            "secret team-a/c not found",
            id="a certificate besides",
        ),
        pytest.param(
            gateway(
                unassigned(WAITS),
                listener_conditions={
                    "http": [an_observed_condition("Programmed", "False", "Pending")]
                },
            ),
            "AddressPending",
            TroubleKind.STARTING,
            "has no address yet",
            WAITS,
            id="an address explains a listener that waits",
        ),
    ],
)
def test_a_listener_that_fails_is_reported(made, code, kind, text, foreign):
    assert_reported(made, code, kind, text, foreign)


def test_all_listeners_that_fail_are_named():
    conflict = an_observed_condition("Conflicted", "True", "HostnameConflict")
    listener_conditions = {"b": [CERTIFICATE], "a": [conflict], "c": [conflict], "d": [conflict]}
    verdict = verdict_of(
        REASON,
        gateway(listeners=tuple(listener_conditions), listener_conditions=listener_conditions),
    )
    assert rendered_troubles(verdict) == [
        (
            "Gateway team-a-gw programming failed (HostnameConflict on listener a,"
            " HostnameConflict on listener c, HostnameConflict on listener d and 1 more)"
        )
    ]
