"""Ask the API server what a user may read (authorization.k8s.io/v1, SubjectAccessReview)."""

from datetime import timedelta

import msgspec

from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_json
from reporter.kube.errors import Unreachable
from reporter.kube.token_review import UserInfo


SUBJECT_ACCESS_REVIEWS = ("authorization.k8s.io", "subjectaccessreviews")
PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
OPERATION = "review the access of a user"
VERB = "get"
"""The verb of rules for a path. It stands for HEAD too, which shows less."""


class _Status(msgspec.Struct):
    allowed: bool = False
    denied: bool = False


class _SubjectAccessReview(msgspec.Struct):
    status: _Status


_DECODER = msgspec.json.Decoder(_SubjectAccessReview)


async def may_get_path(
    api: RestClient, user: UserInfo, path: str, *, time_limit: timedelta
) -> bool:
    """
    Return whether rules allow the user this path (nonResourceURLs). Raises KubeError without an answer.
    """
    response = await api.call(
        "POST",
        PATH,
        body={
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.username,
                "uid": user.uid,
                "groups": list(user.groups),
                "extra": {name: list(values) for name, values in user.extra.items()},
                "nonResourceAttributes": {"path": path, "verb": VERB},
            },
        },
        timeout=time_limit,
        operation=OPERATION,
    )
    try:
        status = decode_json(_DECODER, response.body).status
    except msgspec.DecodeError as err:
        raise Unreachable(OPERATION, status=response.status, message=str(err)) from err
    return status.allowed and not status.denied
