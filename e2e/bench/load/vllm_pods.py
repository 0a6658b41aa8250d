"""Model pods as large as real ones, as most of a listed pod is never used."""

from typing import Any


Json = dict[str, Any]

_ENVIRONMENT = {
    "VLLM_USE_V1": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "VLLM_LOGGING_LEVEL": "INFO",
    "HF_HOME": "/workspace/weights",
    "HF_HUB_ENABLE_HF_TRANSFER": "1",
    "NCCL_DEBUG": "WARN",
    "NCCL_SOCKET_IFNAME": "eth0",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "TOKENIZERS_PARALLELISM": "false",
}
_VOLUMES = {"dshm": "/dev/shm", "weights": "/workspace/weights", "config": "/mnt/config"}
_COMMAND = (
    'if [ "${POD_INDEX}" = "0" ]; then /workspace/vllm/multi-node-serving.sh leader'
    " --ray_cluster_size=3 --ray_port=6379; python3 /workspace/vllm/inference_api.py"
    " --tensor-parallel-size=1 --pipeline-parallel-size=3 --gpu-memory-utilization=0.84"
    " --max-model-len=32768 --served-model-name=qwen2.5-coder-7b-instruct --dtype=bfloat16"
    " --kaito-config-file=/mnt/config/inference_config.yaml --download-dir=/workspace/weights;"
    " else /workspace/vllm/multi-node-serving.sh worker --ray_address=leader --ray_port=6379; fi"
)


def as_vllm(pod: Json) -> Json:
    """
    Add what KAITO's StatefulSet and webhooks put into a vLLM pod, about 8 KB with managed fields.
    """
    spec = pod["spec"]
    containers = [{**container, **_container()} for container in spec["containers"]]
    return {**pod, "spec": {**spec, **_placement(), "containers": containers}}


def _container() -> Json:
    environment = [{"name": name, "value": value} for name, value in _ENVIRONMENT.items()]
    index = {"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"}
    gpu = {"cpu": "12", "memory": "220Gi", "nvidia.com/gpu": "1"}
    return {
        "command": ["/bin/sh", "-c", _COMMAND],
        "env": [*environment, {"name": "POD_INDEX", "valueFrom": {"fieldRef": index}}],
        "ports": [{"containerPort": 5000}, {"containerPort": 6379, "name": "ray"}],
        "resources": {"requests": gpu, "limits": gpu},
        "livenessProbe": _probe("/health", 600),
        "readinessProbe": _probe("/health", 30),
        "startupProbe": _probe("/v1/models", 10),
        "volumeMounts": [{"name": name, "mountPath": path} for name, path in _VOLUMES.items()],
    }


def _probe(path: str, delay: int) -> Json:
    get = {"path": path, "port": 5000}
    return {"httpGet": get, "initialDelaySeconds": delay, "periodSeconds": 10, "timeoutSeconds": 5}


def _placement() -> Json:
    gpu = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    requirement = {"key": "apps", "operator": "In", "values": ["qwen2.5-coder-7b-instruct"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    return {
        "volumes": [{"name": name, "emptyDir": {"sizeLimit": "64Gi"}} for name in _VOLUMES],
        "tolerations": [gpu, {**gpu, "key": "nvidia.com/gpu"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        "terminationGracePeriodSeconds": 30,
    }
