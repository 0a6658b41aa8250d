"""Shared inputs of the tests of model pods."""

from tests.support.model_builders import WAITING_CONDITIONS, a_model, a_workspace


REASON = "inferencesetModelPodsNotReady"
PENDING = {"InferenceReady": WAITING_CONDITIONS["InferenceReady"]}
LOOP = {"waiting": "CrashLoopBackOff", "last_exit": 1, "restarts": 6}


def broken(reason: str, message: str = "", **others) -> dict:
    return {"InferenceReady": ("False", reason, message), **others}


def multi(*pods, **changes) -> list:
    """Return a model with one replica of two nodes."""
    return a_model(a_workspace(nodes=2, **changes), *pods)
