"""
Recognize in a Status that admission refused a request, whatever the code.

A webhook chooses its code and reason (400 by default), and so does a ValidatingAdmissionPolicy (422
Invalid by default), so only the text says who refused. Validation of the object itself always names
the fields. Sources: k8s.io/apiserver, pkg/admission/plugin/webhook/errors/statuserror.go,
pkg/admission/plugin/policy/validating/dispatcher.go; k8s.io/apimachinery, pkg/api/errors (NewInvalid).
"""

import re
from http import HTTPStatus

from reporter.kube.wire.api_status import Status


_REFUSED_BY_ADMISSION = re.compile(
    r"^admission webhook \".*\" (?:denied the request|attempted to modify the object)"
    r"|failed (?:calling|to call) webhook"
    r"|(?:Validating|Mutating)AdmissionPolicy '.*' with binding '"
    r"|^(?:[^:]*: )?policy '.*' with binding '",
    re.DOTALL,
)


def is_admission_refusal(status: Status, code: int) -> bool:
    """
    Return whether a webhook or policy refused, or could not be asked.

    A 422 without the fields that are invalid is not from validation.
    """
    if _REFUSED_BY_ADMISSION.search(status.message or ""):
        return True
    return code == HTTPStatus.UNPROCESSABLE_ENTITY and not status.has_invalid_fields
