"""Starting a portal for the tests."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mkopo_test.mkopo import Addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

_STARTS_WITHIN_S = 60
_STOPS_WITHIN_S = 30


def start_portal(settings: Mapping[str, str] | None = None) -> tuple[Addresses, Callable[[], None]]:
    """Start a portal with demo data; return its addresses and what stops it.

    It is the program that `MKOPO_BINARY` names or that is on the path, or else the stack of
    `docker-compose.yml` (`MKOPO_COMPOSE_FILE`). Nothing of it is kept.
    Its settings are such as `{"MKOPO_SCREENS": "live"}`; `mkopo serve --help` describes them.
    """
    further = dict(settings or {})
    binary = os.environ.get("MKOPO_BINARY") or shutil.which("mkopo")
    if binary:
        return _start_binary(binary, further)
    compose_file = os.environ.get("MKOPO_COMPOSE_FILE") or "docker-compose.yml"
    if Path(compose_file).exists():
        return _start_stack(compose_file, further)
    raise RuntimeError(
        "There is nothing to start a portal with. Set MKOPO_BINARY to the mkopo program, or run the tests "
        "where docker-compose.yml is. Tests without settings of their own can use a portal that runs: set "
        "MKOPO_URL, MKOPO_CONSOLE_URL and MKOPO_CONSOLE_TOKEN."
    )


def _start_binary(binary: str, further: dict[str, str]) -> tuple[Addresses, Callable[[], None]]:
    data = tempfile.TemporaryDirectory(prefix="mkopo-test-")
    token = secrets.token_urlsafe(24)
    settings = {
        "MKOPO_DEMO": "true",
        "MKOPO_DATA_DIR": data.name,
        "MKOPO_LISTEN": "127.0.0.1:0",
        "MKOPO_CONSOLE_LISTEN": "127.0.0.1:0",
        "MKOPO_CONSOLE_TOKEN": token,
    }
    _end_as_by_ctrl_c()
    # A signal between the start of the server and the line that knows how to stop it would leave it running.
    with _signals_held_back():
        server = subprocess.Popen(
            [binary, "serve"],
            env=_without_settings() | settings | _with_addresses(further),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

        def stop() -> None:
            atexit.unregister(stop)
            server.terminate()
            server.wait(timeout=_STOPS_WITHIN_S)
            data.cleanup()

        atexit.register(stop)

    assert server.stderr
    said: list[str] = []
    too_late = threading.Timer(_STARTS_WITHIN_S, server.kill)
    too_late.daemon = True
    try:
        too_late.start()
        for line in server.stderr:
            said.append(line)
            listening = _listening(line)
            if listening:
                # The server must not wait for somebody to read its log.
                threading.Thread(target=_drain, args=(server.stderr,), daemon=True).start()
                url, console = listening
                return Addresses(f"http://{url}", f"http://{console}", token), stop
        ended = server.wait()
        raise RuntimeError(f"{binary} ended with {ended}, and did not listen:\n{''.join(said)}")
    except BaseException:
        stop()
        raise
    finally:
        too_late.cancel()


def _end_as_by_ctrl_c() -> None:
    """Have the signals that end a process at once raise an exception in it, so that portals are stopped."""
    # Python allows it in the main thread only.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGHUP, signal.SIGTERM):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Have the signals that end a process act when the block ends, and not within it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def hold_back(number: int, _: FrameType | None) -> None:
        came.append(number)

    signals = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.signal(number, hold_back) for number in signals}
    try:
        yield
    finally:
        for restored, handler in handlers.items():
            signal.signal(restored, handler)
        for number in came:
            signal.raise_signal(number)


def _listening(line: str) -> tuple[str, str] | None:
    """Return the addresses that a line of the log names."""
    try:
        fields = json.loads(line).get("fields", {})
    except ValueError:
        return None
    if fields.get("message") == "listening" and "console" in fields:
        return fields["address"], fields["console"]
    return None


def _drain(log: IO[str]) -> None:
    for _ in log:
        pass


def _start_stack(file: str, further: dict[str, str]) -> tuple[Addresses, Callable[[], None]]:
    port, console_port = _free_ports()
    token = secrets.token_urlsafe(24)
    settings = {
        "COMPOSE_PROJECT_NAME": f"mkopo-test-{secrets.token_hex(6)}",
        # Profiles, and the file `.env` beside the stack's, are those of another deployment.
        "COMPOSE_PROFILES": "",
        "COMPOSE_ENV_FILES": "/dev/null",
        "MKOPO_DEMO": "true",
        "MKOPO_PORT": str(port),
        "MKOPO_CONSOLE_PORT": str(console_port),
        "MKOPO_CONSOLE_TOKEN": token,
        # Beside the stacks that may be running on this machine.
        "MKOPO_SUBNET": f"10.213.{79 + secrets.randbelow(177)}",
    }

    def compose(*args: str) -> None:
        environment = _without_settings() | settings | further
        subprocess.run(["docker", "compose", "--file", file, *args], env=environment, check=True)

    def stop() -> None:
        compose("down", "--volumes", "--remove-orphans")

    try:
        compose("up", "--build", "--wait")
    except subprocess.CalledProcessError:
        stop()
        raise
    return Addresses(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{console_port}", token), stop


def _with_addresses(settings: dict[str, str]) -> dict[str, str]:
    """Return settings with which the log says where the server listens, whatever else it says."""
    log = settings.get("MKOPO_LOG")
    return settings | {"MKOPO_LOG": f"{log},mkopo::commands::serve=info"} if log else settings


def _without_settings() -> dict[str, str]:
    """Return the environment without settings of another deployment, which may have real data."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MKOPO_") or name == "MKOPO_PORTAL_DIR"
    }


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
