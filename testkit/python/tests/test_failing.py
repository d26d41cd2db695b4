from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mkopo_test import VERSION, Addresses, Portal, start_portal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkopo_test import Mkopo

TEST_THAT_FAILS = """
import base64, json

def test_that_fails(mkopo):
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve(loan_id="LN-FAILS", amount=4321)
    mkopo.mobile_money.next("insufficient_funds")
    try:
        agent.pay_out(loan)
    except Exception:
        pass
    mkopo.portal.post("/api/v1/auth/request-signin-otp", json={"email": "agent@mkopo.test"})
    # What must not be printed, for the test that reads this.
    secrets = [mkopo.outbox.code(to="agent"), agent.token, mkopo.sandbox.token]
    print("SECRETS", json.dumps([base64.b64encode(secret.encode()).decode() for secret in secrets]))
    assert 1 + 1 == 3
"""

STORIES_THAT_ARE_REFUSED = """
import pytest

pytestmark = pytest.mark.story("lost-answer")

@pytest.mark.mkopo(seed=7)
def test_with_a_start(mkopo):
    pass

@pytest.mark.mkopo(sandbox_per="none")
def test_without_sandboxes(mkopo):
    pass
"""


@pytest.fixture(scope="module")
def portal() -> Iterator[Addresses]:
    addresses, stop = start_portal()
    yield addresses
    stop()


def run(folder: Path, environment: dict[str, str], test: str = TEST_THAT_FAILS) -> str:
    """Run the test that fails; return what is printed."""
    (folder / "test_that_fails.py").write_text(test)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MKOPO_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_that_fails.py"]
    ended = subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stdout
    return ended.stdout


def test_a_failing_test_prints_what_the_portal_knew_and_keeps_its_sandbox(
    portal: Addresses, tmp_path: Path
) -> None:
    environment = {
        "MKOPO_URL": portal.url,
        "MKOPO_CONSOLE_URL": portal.console_url,
        "MKOPO_CONSOLE_TOKEN": portal.console_token,
    }
    printed = run(tmp_path, environment)
    assert re.search(r"LN-FAILS {2}FAILED {2}KES 4321 {2}by agent@mkopo\.test", printed)
    assert re.search(r"POST /api/v1/disbursements/LN-FAILS/disburse {2}422", printed)
    assert "email to agent@mkopo.test" in printed
    assert "••••••" in printed
    found = re.search(r"SECRETS (\[.*\])", printed)
    assert found
    told = printed.replace(found.group(), "")
    for secret in json.loads(found.group(1)):
        assert b64decode(secret).decode() not in told
    file = re.search(r"All calls, for the network panel of a browser: (.*)", printed)
    assert file
    har = Path(file.group(1)).read_text()
    log = json.loads(har)["log"]
    assert re.search(r"Seed: 1\. Start: .* Clock: .* Mobile money: \{.*\}\.", log["comment"])
    assert [entry["response"]["status"] for entry in log["entries"]] == [200, 422, 200]
    for secret in json.loads(found.group(1)):
        assert b64decode(secret).decode() not in har
    kept = re.search(r"It is kept: http://([^.]+)\.", printed)
    assert kept
    trace = re.search(r"Trace: http://(\S+)\.localhost:\d+/console/traces\?id=(\S+)", printed)
    assert trace
    assert trace.group(1) == kept.group(1)
    assert trace.group(2) in log["entries"][1]["comment"]
    Portal(portal).remove_sandbox(kept.group(1))


def test_without_a_portal_the_test_says_what_to_do(tmp_path: Path) -> None:
    printed = run(tmp_path, {"PATH": "/nowhere"})
    assert "Set MKOPO_BINARY to the mkopo program" in printed
    assert "set MKOPO_URL, MKOPO_CONSOLE_URL and MKOPO_CONSOLE_TOKEN" in " ".join(printed.split())


def test_a_story_is_refused_with_a_start_and_without_sandboxes(tmp_path: Path) -> None:
    printed = run(tmp_path, {}, STORIES_THAT_ARE_REFUSED)
    assert "A story says what the sandbox starts with: leave out seed, now and frozen" in printed
    assert 'Only a sandbox tells a story: leave out sandbox_per="none"' in printed


def test_a_portal_of_another_version_is_refused_at_once() -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"info": {"version": "9.9.9"}}')

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.raises(
        RuntimeError, match=re.escape(f"is for portals of version {VERSION}, and {url} has 9.9.9")
    ):
        Portal(Addresses(url, url, "a token"))
    server.shutdown()


def test_the_version_is_that_of_the_contract(mkopo: Mkopo) -> None:
    assert mkopo.portal.get("/api/v1/openapi.json").json()["info"]["version"] == VERSION
