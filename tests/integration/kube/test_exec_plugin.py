"""Credential plugins of a kubeconfig, as processes of their own."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from reporter.kube.connect import connect
from reporter.kube.credentials import RefreshPolicy
from reporter.kube.errors import Refused
from reporter.kube.exec_plugin import MAX_OUTPUT_BYTES, ExecPlugin, run_exec_plugin, run_program
from reporter.settings.errors import ConfigurationError
from tests.integration.kube.credentials_fixture import (
    ALWAYS,
    SELDOM,
    a_plugin,
    only,
    printing,
    who,
)
from tests.support.stubs.api_servers import (
    a_kubeconfig,
    connected,
    serving,
)


async def test_a_plugin_beside_the_kubeconfig_is_run_with_what_it_needs(tmp_path):
    script = f'echo "$1 $COLOUR $KUBERNETES_EXEC_INFO" > {tmp_path}/given\n' + printing(
        token="one"
    )
    _, handler = only("one")
    async with serving(handler) as server:
        user = a_plugin(tmp_path, script)
        user["exec"]["provideClusterInfo"] = True
        async with connected(a_kubeconfig(tmp_path, server.url, user=user)) as api:
            assert await who(api) == "one"
        argument, colour, info = (tmp_path / "given").read_text().split(" ", 2)
        spec = json.loads(info)["spec"]
    assert (argument, colour) == ("--a", "red")
    assert spec == {"interactive": False, "cluster": {"server": server.url}}


async def test_a_plugin_that_writes_much_to_stderr_is_no_problem(tmp_path):
    script = "head -c 400000 /dev/zero | tr '\\0' x >&2\n" + printing(token="one")
    _, handler = only("one")
    async with serving(handler) as server:
        kubeconfig = a_kubeconfig(tmp_path, server.url, user=a_plugin(tmp_path, script))
        environ = {"PATH": "/usr/bin:/bin"}
        async with connected(kubeconfig, environ=environ) as api:
            assert await who(api) == "one"


async def test_a_plugin_runs_again_when_its_token_expires(tmp_path):
    _, handler = only("one", "two")
    async with serving(handler) as server:
        user = a_plugin(
            tmp_path, printing(token="one", expirationTimestamp="2026-05-01T12:00:00Z")
        )
        async with connected(
            a_kubeconfig(tmp_path, server.url, user=user), refresh_policy=ALWAYS
        ) as api:
            assert await who(api) == "one"
            a_plugin(tmp_path, printing(token="two", expirationTimestamp="2026-05-01T13:00:00Z"))
            assert await who(api) == "two"
            a_plugin(tmp_path, "exit 1")
            assert await who(api) == "two"


async def test_a_plugin_runs_again_after_a_401(tmp_path):
    known, handler = only("one")
    async with serving(handler) as server:
        user = a_plugin(tmp_path, printing(token="one"))
        async with connected(
            a_kubeconfig(tmp_path, server.url, user=user), refresh_policy=SELDOM
        ) as api:
            assert await who(api) == "one"
            known[:] = ["two"]
            a_plugin(tmp_path, printing(token="two"))
            assert await who(api) == "two"


async def test_a_plugin_that_fails_later_is_logged_and_run_again(tmp_path):
    _, handler = only("one", "two")
    async with serving(handler) as server:
        user = a_plugin(
            tmp_path, printing(token="one", expirationTimestamp="2026-05-01T11:00:00Z")
        )
        async with connected(
            a_kubeconfig(tmp_path, server.url, user=user), refresh_policy=ALWAYS
        ) as api:
            assert await who(api) == "one"
            a_plugin(tmp_path, "echo 'login expired' >&2; exit 3")
            with pytest.raises(Refused, match="exit code 3: login expired"):
                await who(api)
            a_plugin(tmp_path, printing(token="two"))
            assert await who(api) == "two"


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            "echo 'Bearer abcdefg1: no such login' >&2; exit 7",
            r"exit code 7: Bearer \[removed\] no such",
        ),
        ("exit 1", "exit code 1: it wrote nothing"),
        ("echo hello", "printed no ExecCredential"),
        (printing(), "neither a token nor a certificate"),
        (printing(clientCertificateData="pem"), "without its key"),
        (printing(token="x").replace("io/v1", "io/v1beta1"), "instead of"),
    ],
)
async def test_a_plugin_that_fails_stops_the_start_with_its_own_words(tmp_path, script, complaint):
    kubeconfig = a_kubeconfig(tmp_path, "http://api", user=a_plugin(tmp_path, script))
    with pytest.raises(ConfigurationError, match=complaint):
        await connect(kubeconfig, environ={})


async def test_a_child_that_a_plugin_leaves_behind_does_not_hold_us(tmp_path):
    script = f"sleep 600 & echo $! > {tmp_path}/pid\n" + printing(token="one")
    _, handler = only("one")
    async with serving(handler) as server:
        kubeconfig = a_kubeconfig(tmp_path, server.url, user=a_plugin(tmp_path, script))
        try:
            async with connected(kubeconfig, environ={"PATH": "/usr/bin:/bin"}) as api:
                assert await who(api) == "one"
        finally:
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_a_plugin_that_prints_without_end_takes_little_memory(tmp_path):
    plugin = ExecPlugin(("yes",), {"PATH": "/usr/bin:/bin"}, {"apiVersion": "v1"})
    with pytest.raises(ConfigurationError, match="gave no credentials within 1 s"):
        await run_exec_plugin(plugin, limit=timedelta(seconds=1))
    output = await run_program(("seq", "1000000"), plugin.env, limit=timedelta(seconds=30))
    assert (output.exit_code, len(output.stdout)) == (0, MAX_OUTPUT_BYTES)
    assert output.stdout.endswith(b"\n1000000\n")


PAST, SOON = "2026-05-01T11:00:00Z", "2026-05-01T12:00:05Z"
EARLY = RefreshPolicy(
    expiry_margin=timedelta(minutes=1),
    min_plugin_interval=timedelta(0),
    max_wait=timedelta(milliseconds=200),
)


async def test_a_plugin_that_hangs_before_the_token_ends_delays_no_request(tmp_path):
    _, handler = only("one")
    async with serving(handler) as server:
        user = a_plugin(tmp_path, printing(token="one", expirationTimestamp=SOON))
        kubeconfig = a_kubeconfig(tmp_path, server.url, user=user)
        async with (
            connected(kubeconfig, environ={"PATH": "/usr/bin:/bin"}, refresh_policy=EARLY) as api,
            asyncio.timeout(60),
        ):
            assert await who(api) == "one"
            a_plugin(tmp_path, "exec sleep 600")
            for _ in range(3):
                assert await who(api) == "one"


async def test_a_plugin_that_hangs_after_the_token_ended_delays_one_request_for_a_moment(tmp_path):
    _, handler = only("one", "two")
    async with serving(handler) as server:
        user = a_plugin(tmp_path, printing(token="one", expirationTimestamp=PAST))
        kubeconfig = a_kubeconfig(tmp_path, server.url, user=user)
        async with (
            connected(kubeconfig, environ={"PATH": "/usr/bin:/bin"}, refresh_policy=EARLY) as api,
            asyncio.timeout(60),
        ):
            assert await who(api) == "one"
            go = a_plugin_that_waits(tmp_path)
            for _ in range(50):
                with pytest.raises(Refused, match=r"no new credentials within 0\.2 s"):
                    await who(api)
            go.touch()
            await until_accepted(api, "two")
            assert (tmp_path / "runs").read_text() == "x\n"


async def test_a_request_that_is_given_up_does_not_end_the_plugin(tmp_path):
    _, handler = only("one", "two")
    async with serving(handler) as server:
        user = a_plugin(tmp_path, printing(token="one", expirationTimestamp=PAST))
        kubeconfig = a_kubeconfig(tmp_path, server.url, user=user)
        async with connected(
            kubeconfig, environ={"PATH": "/usr/bin:/bin"}, refresh_policy=ALWAYS
        ) as api:
            assert await who(api) == "one"
            go = a_plugin_that_waits(tmp_path)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await who(api)
            go.touch()
            await until_accepted(api, "two")
            assert (tmp_path / "runs").read_text() == "x\n"


def a_plugin_that_waits(folder: Path) -> Path:
    """Make a plugin that counts its runs and prints token "two" once the returned file exists."""
    go = folder / "go"
    wait = f"echo x >> {folder}/runs; until [ -e {go} ]; do sleep 0.05; done\n"
    a_plugin(folder, wait + printing(token="two"))
    return go


async def until_accepted(api, token):
    async with asyncio.timeout(60):
        while True:
            with suppress(Refused):
                assert await who(api) == token
                return
            await asyncio.sleep(0.01)


async def test_a_plugin_that_is_not_installed_is_refused_with_how_to_get_it(tmp_path):
    user = a_plugin(tmp_path, "")
    user["exec"] |= {"command": "no-such-plugin-anywhere", "installHint": "brew install it"}
    with pytest.raises(ConfigurationError, match=r"cannot be run: .*brew install it"):
        await connect(a_kubeconfig(tmp_path, "http://api", user=user), environ={})


async def test_a_plugin_that_waits_for_a_terminal_is_refused(tmp_path):
    user = a_plugin(tmp_path, "")
    user["exec"]["interactiveMode"] = "Always"
    with pytest.raises(ConfigurationError, match="demands a terminal"):
        await connect(a_kubeconfig(tmp_path, "http://api", user=user), environ={})
