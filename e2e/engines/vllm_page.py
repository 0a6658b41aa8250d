"""
Print the metrics page of one release of vLLM, made by that release's own classes.

Runs outside the project, with the sources of vLLM's wheel and a few of its dependencies on the path: the
classes of its metrics and the function that mounts them on its HTTP server are vLLM's. Requests, and the
statistics of each step, which come from a GPU, are those of the constants below.
"""

import ast
import asyncio
import dataclasses
import importlib
import importlib.abc
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


MODEL = "qwen"
FINISHED = {"stop": 18, "length": 3}
"""The requests that were answered, by the reason for which an answer ends."""

PROMPT_TOKENS, ANSWER_TOKENS, STEP_SECONDS = 244, 24, 0.02
CALLS = (
    *[("POST", "/v1/chat/completions", 200)] * sum(FINISHED.values()),
    ("POST", "/v1/chat/completions", 404),
    ("POST", "/v1/chat/completions", 500),
    ("POST", "/tokenize", 200),
    ("POST", "/v1/load_lora_adapter", 200),
    ("GET", "/v1/models", 200),
    ("GET", "/health", 200),
    ("GET", "/metrics", 200),
)
"""The requests to the HTTP server, with its answers."""

PROCESSES = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that makes prometheus_client share its numbers between processes, set before it is imported."""


# --------------------------------------------------------------------
# What is imported. In the place of all else stand empty modules.


VLLM_MODULES = re.compile(
    r"vllm\.(envs"
    r"|v1\.(engine|metrics\.(?!perf$|ray_wrappers$)\w+|spec_decode\.metrics)"
    r"|engine\.metrics(_types)?"
    r"|entrypoints\.serve\.instrumentator\.metrics)"
)
NOT_INSTALLED = frozenset({"torch", "ray", "numpy", "cloudpickle", "zmq", "uvloop"})


class _Anything(type):
    """The type of all that is in an empty module: called, subscripted or asked for more, it gives itself."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __call__(cls, *_: object, **__: object) -> Any:
        return cls


class Nothing(metaclass=_Anything):
    pass


class EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The finder of the modules that are left out, each a package, so that those below it can be imported."""

    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top not in NOT_INSTALLED | {"vllm"} or VLLM_MODULES.fullmatch(name):
            return None
        spec = ModuleSpec(name, self, is_package=True)
        places = (Path(each, *name.split(".")) for each in sys.path)
        spec.submodule_search_locations = [str(each) for each in places if each.is_dir()]
        return spec

    def exec_module(self, module: ModuleType) -> None:
        def give(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return Nothing

        module.__getattr__ = give  # type: ignore[method-assign]


# --------------------------------------------------------------------
# The engine.


CAPTURED = [1, 2, 4, *range(8, 257, 8)]
"""The sizes of batches that vLLM captures by default, which are buckets of the engine V0."""


class Off(SimpleNamespace):
    """Options that are off unless they are given."""

    def __getattr__(self, _: str) -> None:
        return None


def config() -> Any:
    """Return the configuration of a server without options, with a short one of its cache."""
    return Off(
        model_config=Off(served_model_name=MODEL, max_model_len=8192),
        observability_config=Off(),
        cache_config=Off(metrics_info=lambda: {"block_size": "16"}),
        compilation_config=Off(capture_sizes=CAPTURED, cudagraph_capture_sizes=CAPTURED),
    )


def steps() -> Iterator[tuple[int, int, str]]:
    """Yield the tokens of the prompt and of the answer in each step, and how a request ended in it."""
    for reason, number in FINISHED.items():
        for _ in range(number):
            yield PROMPT_TOKENS, 1, ""
            yield from ((0, 1, "") for _ in range(ANSWER_TOKENS - 2))
            yield 0, 1, reason


def run_v1(engines: int) -> None:
    """Record the steps of each engine with the logger of vLLM's engine V1."""
    loggers = importlib.import_module("vllm.v1.metrics.loggers")
    taken = inspect.signature(loggers.PrometheusStatLogger).parameters
    indexes = {"engine_indexes": list(range(engines))} if "engine_indexes" in taken else {}
    logger = loggers.PrometheusStatLogger(config(), **indexes)
    if hasattr(logger, "log_engine_initialized"):
        logger.log_engine_initialized()
    stats = importlib.import_module("vllm.v1.metrics.stats")
    takes_engine = "engine_idx" in inspect.signature(logger.record).parameters
    for engine in range(engines):
        which = {"engine_idx": engine} if takes_engine else {}
        for step in steps():
            scheduled = stats.SchedulerStats(num_running_reqs=1)
            logger.record(scheduled, _iteration(stats, *step), **which)
        logger.record(stats.SchedulerStats(), stats.IterationStats(), **which)


def _iteration(stats: Any, prompt: int, answer: int, reason: str) -> Any:
    iteration = stats.IterationStats()
    iteration.num_generation_tokens = answer
    if hasattr(iteration, "prompt_token_stats"):
        iteration.prompt_token_stats.computed = iteration.prompt_token_stats.total = prompt
    else:
        iteration.num_prompt_tokens = prompt
    if prompt:
        iteration.time_to_first_tokens_iter.append(STEP_SECONDS)
    elif hasattr(iteration, "inter_token_latencies_iter"):
        iteration.inter_token_latencies_iter.append(STEP_SECONDS)
    else:
        iteration.time_per_output_tokens_iter.append(STEP_SECONDS)
    if reason:
        reasons = importlib.import_module("vllm.v1.engine").FinishReason
        finished = stats.FinishedRequestStats(reasons[reason.upper()])
        finished.num_prompt_tokens, finished.num_generation_tokens = PROMPT_TOKENS, ANSWER_TOKENS
        finished.max_tokens_param = ANSWER_TOKENS
        finished.e2e_latency = finished.inference_time = ANSWER_TOKENS * STEP_SECONDS
        iteration.finished_requests.append(finished)
    return iteration


def run_v0() -> None:
    """Record the steps with the recorder of vLLM's engine V0."""
    metrics = importlib.import_module("vllm.engine.metrics")
    types = importlib.import_module("vllm.engine.metrics_types")
    recorder = metrics.PrometheusStatLogger(
        local_interval=1e9, labels={"model_name": MODEL}, vllm_config=config()
    )
    recorder.info("cache_config", config().cache_config)
    idle: dict[str, Any] = {
        each.name: [] if str(each.type).startswith(("List", "typing.List")) else 0
        for each in dataclasses.fields(types.Stats)
        if each.default is dataclasses.MISSING
    }
    for prompt, answer, reason in steps():
        step = {
            **idle,
            "num_running_sys": 1,
            "num_prompt_tokens_iter": prompt,
            "num_generation_tokens_iter": answer,
            "num_tokens_iter": prompt + answer,
            "time_to_first_tokens_iter" if prompt else "time_per_output_tokens_iter": [
                STEP_SECONDS
            ],
        }
        if reason:
            step |= {"finished_reason_requests": [reason], "time_e2e_requests": [STEP_SECONDS]}
        recorder.log(types.Stats(**{key: step[key] for key in step if key in idle}))
    recorder.log(types.Stats(**idle))


# --------------------------------------------------------------------
# The HTTP server.


def mount_metrics(app: Any) -> None:
    """Mount the metrics on an application by vLLM's own function."""
    try:
        module = importlib.import_module("vllm.entrypoints.serve.instrumentator.metrics")
    except ModuleNotFoundError:
        _mount_function()(app)
    else:
        module.attach_router(app)


def _mount_function() -> Any:
    """Return the function of the earlier API server, whose module imports all of vLLM."""
    (file,) = (
        Path(each, "vllm/entrypoints/openai/api_server.py")
        for each in sys.path
        if Path(each, "vllm").is_dir()
    )
    tree, names = ast.parse(file.read_text("utf-8")), dict[str, Any]()
    for node in tree.body:
        wanted = getattr(node, "name", "") in {"PrometheusResponse", "mount_metrics"}
        if not (wanted or isinstance(node, ast.Import | ast.ImportFrom)):
            continue
        try:
            exec(compile(ast.Module([node], []), file.name, "exec"), names)
        except ImportError:  # of what the two do not need
            continue
    names["logger"] = Nothing
    return names["mount_metrics"]


async def call(app: Any, method: str, path: str, answer: int) -> bytes:
    """Ask an application for a page, and return its body."""
    body = b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal body
        body += message.get("body", b"")

    headers = [(b"x-answer", str(answer).encode())]
    where = {"type": "http", "method": method, "path": path, "raw_path": path.encode()}
    how = {"headers": headers, "query_string": b"", "root_path": "", "scheme": "http"}
    rest = {"http_version": "1.1", "server": ("127.0.0.1", 5000), "client": ("127.0.0.1", 1)}
    await app({**where, **how, **rest}, receive, send)
    return body


async def serve_calls() -> str:
    """Answer the calls with an application that has vLLM's paths, and return its metrics page."""
    from fastapi import (  # type: ignore[import-not-found]  # noqa: PLC0415  # after the finder is there
        FastAPI,
        Request,
        Response,
    )

    app = FastAPI()

    async def handler(request: Request) -> Response:
        return Response(status_code=int(request.headers["x-answer"]))

    for method, path in sorted({(method, path) for method, path, _ in CALLS}):
        if path != "/metrics":
            app.add_api_route(path, handler, methods=[method])
    mount_metrics(app)
    for each in CALLS:
        await call(app, *each)
    return (await call(app, "GET", "/metrics", 200)).decode()


def main() -> None:
    engine, engines, processes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.meta_path.insert(0, EmptyModules())
    with tempfile.TemporaryDirectory() as shared:
        if processes or engine == "v0":  # whose engine is a process of its own
            os.environ[PROCESSES] = shared
        run = run_v0 if engine == "v0" else lambda: run_v1(engines)
        for _ in range(processes - 1):
            child = os.fork()
            if not child:
                run()
                os._exit(0)
            os.waitpid(child, 0)
        run()
        sys.stdout.write(asyncio.run(serve_calls()))


if __name__ == "__main__":
    main()
