"""Check Jobs: Jobs that check the stack, and whose status has a condition with the result."""

from reporter.kinds import objects
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


CHECK_LABEL = "reporter.productionstack.kaito.sh/check"
"""The label with the name of the check; Jobs without it are not watched."""


class JobStatus(objects.ApiStruct, frozen=True):
    """The status of a Job; its conditions include the one with the result of the check."""

    conditions: tuple[objects.Condition, ...] | None = ()


class Job(objects.ApiObject, frozen=True):
    """A run of a check. Annotations say where its result is and how long that counts."""

    metadata: objects.AnnotatedMetadata
    status: JobStatus = JobStatus()

    @property
    def check(self) -> str:
        """The name of the check, "" for a label without a value."""
        return self.metadata.label(CHECK_LABEL)

    @property
    def inference_set(self) -> str:
        """The name of the InferenceSet that is checked, "" for a check of something else."""
        meta = self.metadata
        return meta.label(objects.CREATED_BY_LABEL) or meta.label(objects.INFERENCE_SET_LABEL)


def job_keys(job: Job) -> tuple[str, ...]:
    """Index a Job by its namespace, and by the InferenceSet that it checks."""
    return (*objects.namespace_keys(job), *objects.inference_set_keys(job))


def job_affects(job: Job) -> tuple[Subject, ...]:
    """
    Return the cluster, the harness of the namespace and the InferenceSet that the Job names.

    A flag says which namespace is that of the cluster's checks. A harness notes which Jobs name an
    InferenceSet that does not exist.
    """
    subjects = (CLUSTER_SUBJECT, objects.harness_of(job))
    return (*subjects, objects.model_of(job, job.inference_set)) if job.inference_set else subjects


JOBS = ResourceKind(
    resource="jobs",
    group="batch",
    versions=("v1",),
    kind="Job",
    type=Job,
    index_keys=job_keys,
    affects=job_affects,
    label_selector=CHECK_LABEL,
    tracks_deletions=False,
)
