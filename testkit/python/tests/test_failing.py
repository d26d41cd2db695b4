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

import httpx
import pytest

from mkopo_test import VERSION, Addresses, Portal, start_portal
from mkopo_test.what_happened import what_happened

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

TESTS_THAT_FAIL_AROUND_THE_CALL = """
import pytest

@pytest.fixture
def fails_before(mkopo):
    mkopo.sessions.open("agent")
    raise RuntimeError("before")

@pytest.fixture
def fails_after(mkopo):
    yield
    raise RuntimeError("after")

def test_whose_fixture_fails(fails_before):
    pass

def test_whose_fixture_fails_at_its_end(mkopo, fails_after):
    mkopo.sessions.open("agent")

@pytest.mark.mkopo(sandbox_per="test")
def test_with_a_sandbox_of_its_own(mkopo, fails_after):
    mkopo.sessions.open("agent")

@pytest.mark.mkopo(settings={})
def test_with_a_portal_of_its_own(mkopo, fails_after):
    mkopo.sessions.open("agent")

def test_after_which_the_money_does_not_add_up(mkopo):
    mkopo.sessions.open("agent")
    mkopo.invariant = lambda: {"ok": False}

def test_that_passes(mkopo):
    pass
"""

TESTS_THAT_RUN_AGAIN = """
import pytest

runs = 0

@pytest.mark.mkopo(sandbox_per="test")
def test_that_passes_when_it_runs_again(mkopo):
    global runs
    runs += 1
    assert runs == 2

def test_that_fails_again(mkopo):
    mkopo.sessions.open("agent")
    assert 1 + 1 == 3

def test_without_a_sandbox():
    pass
"""

# As pytest-rerunfailures does it.
RUNS_AGAIN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    runtestprotocol(item, nextitem=nextitem, log=False)
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""

TESTS_THAT_REMOVE_THEIR_SANDBOX = """
import os
import pytest
from mkopo_test import Addresses, Portal

def remove(mkopo):
    names = ["MKOPO_URL", "MKOPO_CONSOLE_URL", "MKOPO_CONSOLE_TOKEN"]
    Portal(Addresses(*(os.environ[name] for name in names))).remove_sandbox(mkopo.sandbox.name)

@pytest.mark.mkopo(check_invariant=False)
def test_that_removes_the_sandbox_of_the_worker(mkopo):
    remove(mkopo)

@pytest.mark.mkopo(check_invariant=False, sandbox_per="test")
def test_that_removes_its_own(mkopo):
    remove(mkopo)

def test_that_follows(mkopo):
    mkopo.sessions.open("agent")

@pytest.mark.mkopo(check_invariant=False)
def test_that_is_the_last(mkopo):
    remove(mkopo)
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


@pytest.fixture
def environment(portal: Addresses) -> dict[str, str]:
    return {
        "MKOPO_URL": portal.url,
        "MKOPO_CONSOLE_URL": portal.console_url,
        "MKOPO_CONSOLE_TOKEN": portal.console_token,
        "MKOPO_BINARY": os.environ.get("MKOPO_BINARY", ""),
    }


def run(folder: Path, environment: dict[str, str], test: str = TEST_THAT_FAILS, *, exit_code: int = 1) -> str:
    """Run the test that fails; return what is printed."""
    (folder / "test_that_fails.py").write_text(test)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MKOPO_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_that_fails.py"]
    ended = subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == exit_code, ended.stdout
    return ended.stdout


def take_kept(portal: Addresses) -> dict[str, list[str]]:
    """Remove all sandboxes of the portal; return the paths of the calls that each has had, by name."""
    with httpx.Client(
        base_url=portal.console_url, headers={"Authorization": f"Bearer {portal.console_token}"}
    ) as console:

        def calls(name: str) -> list[str]:
            found = console.get("/console/api/traffic", headers={"Mkopo-Sandbox": name}).json()
            return [call["path"] for call in found]

        sandboxes = console.get("/console/api/sandboxes").json()
        kept = {name: calls(name) for sandbox in sandboxes if (name := sandbox["name"]) != "main"}
    for name in kept:
        Portal(portal).remove_sandbox(name)
    return kept


def test_a_failing_test_prints_what_the_portal_knew_and_keeps_its_sandbox(
    portal: Addresses, environment: dict[str, str], tmp_path: Path
) -> None:
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


def test_a_test_whose_fixtures_or_money_fail_prints_what_the_portal_knew_too(
    portal: Addresses, environment: dict[str, str], tmp_path: Path
) -> None:
    printed = run(tmp_path, environment, TESTS_THAT_FAIL_AROUND_THE_CALL)
    assert "5 passed, 5 errors" in printed
    assert printed.count("What the portal knew") == 5
    assert printed.count("POST /api/v1/auth/login  200") == 5
    assert "It could not be asked" not in printed
    assert 'NOT ACCOUNTED FOR: {"ok": false}' in printed
    assert printed.count("It ended with the test.") == 1
    kept = take_kept(portal)
    assert sorted(re.findall(r"It is kept: http://([^.]+)\.", printed)) == sorted(kept)
    assert list(kept.values()) == [["/api/v1/auth/login"]] * 4


def test_a_test_that_runs_again_prints_what_the_portal_knew_and_keeps_no_sandbox_once_it_passes(
    portal: Addresses, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(RUNS_AGAIN)
    printed = run(tmp_path, environment, TESTS_THAT_RUN_AGAIN)
    assert "1 failed, 2 passed" in printed
    assert printed.count("What the portal knew") == 1
    told = re.search(r"It is kept: http://([^.]+)\.", printed)
    assert told
    kept = take_kept(portal)
    # Of the runs, three have failed.
    assert len(kept) == 3
    assert kept[told.group(1)] == ["/api/v1/auth/login"]


def test_a_worker_whose_sandbox_was_removed_makes_another(
    portal: Addresses, environment: dict[str, str], tmp_path: Path
) -> None:
    printed = run(tmp_path, environment, TESTS_THAT_REMOVE_THEIR_SANDBOX, exit_code=0)
    assert "4 passed" in printed
    assert take_kept(portal) == {}


def test_what_the_portal_knew_has_no_fault_that_is_used_up(mkopo: Mkopo) -> None:
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=503, times=1)
    mkopo.portal.get("/api/v1/auth/me")
    assert "Faults that still apply" not in what_happened(mkopo)
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=504, times=2)
    mkopo.portal.get("/api/v1/auth/me")
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=505)
    faults = re.search(r"Faults that still apply:\n((?:  \{.*\n)+)", what_happened(mkopo))
    assert faults
    assert re.findall(r'"status": (\d+)', faults.group(1)) == ["505", "504"]


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
