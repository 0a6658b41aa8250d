"""A registry on this machine, which keeps images and charts in memory: that of crane."""

import http.client
import subprocess
from pathlib import Path
from typing import Self

from e2e.controlplane import assets, until
from tests.support.ports import free_port


STOP_SECONDS = 30


class Registry:
    """*folder*: for its log."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "registry.log"
        self._port = free_port()
        self.host = f"localhost:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        served = ("registry", "serve", f"--address=127.0.0.1:{self._port}")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [assets.program("crane"), *served],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            until(self._answers, within=60, what="the registry answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_SECONDS)

    def crane(self, command: str, reference: str) -> str:
        """Run a command of crane about an image of it, and return what it prints."""
        done = subprocess.run(
            [assets.program("crane"), command, f"{self.host}/{reference}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"crane {command} {reference} failed: {done.stderr}")
        return done.stdout.strip()

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request("GET", "/v2/")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()
