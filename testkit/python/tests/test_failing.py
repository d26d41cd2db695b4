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

from mkopo_test import VERSION, Addresses, CallFailed, Portal, start_portal
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

RUN_THAT_NOTES_ITS_PORTAL = """
import signal, subprocess
from pathlib import Path

class Program(subprocess.Popen):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        Path("portal").write_text(str(self.pid))
        {then}

subprocess.Popen = Program
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

MARKERS_THAT_ARE_REFUSED = """
import pytest

@pytest.mark.story("lost-answer")
@pytest.mark.mkopo(seed=7)
def test_that_tells_a_story_with_a_start(mkopo):
    pass

@pytest.mark.story("lost-answer")
@pytest.mark.mkopo(sandbox_per="none")
def test_that_tells_a_story_without_sandboxes(mkopo):
    pass

@pytest.mark.story
def test_that_tells_no_story(mkopo):
    pass

@pytest.mark.story(name="lost-answer")
def test_that_names_the_name(mkopo):
    pass

@pytest.mark.mkopo(7)
def test_with_a_seed_without_its_name(mkopo):
    pass
"""

MORE_TESTS_THAT_FAIL_THAN_SANDBOXES = """
import pytest

@pytest.mark.mkopo(sandbox_per="test")
def test_that_fails(mkopo):
    assert 1 + 1 == 3

@pytest.mark.parametrize("index", range(2))
def test_that_fails_again(mkopo, index):
    assert 1 + 1 == 3

def test_that_passes(mkopo):
    pass
"""


@pytest.fixture(scope="module")
def portal() -> Iterator[Addresses]:
    addresses, stop = start_portal()
    yield addresses
    stop()


@pytest.fixture
def environment(portal: Addresses) -> dict[str, str]:
    return settings_of(portal) | {"MKOPO_BINARY": os.environ.get("MKOPO_BINARY", "")}


def settings_of(portal: Addresses) -> dict[str, str]:
    """Return the environment of a run against a portal."""
    return {
        "MKOPO_URL": portal.url,
        "MKOPO_CONSOLE_URL": portal.console_url,
        "MKOPO_CONSOLE_TOKEN": portal.console_token,
    }


def run(folder: Path, environment: dict[str, str], test: str = TEST_THAT_FAILS, *, exit_code: int = 1) -> str:
    """Run the test that fails; return what is printed."""
    (folder / "test_that_fails.py").write_text(test)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MKOPO_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_that_fails.py"]
    ended = subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == exit_code, ended.stdout
    return ended.stdout


def script(folder: Path, line: str) -> str:
    """Write a program; return its path."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)
    return str(file)


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
    kept = re.search(r"needs its place: http://([^.]+)\.", printed)
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
    assert sorted(re.findall(r"needs its place: http://([^.]+)\.", printed)) == sorted(kept)
    assert list(kept.values()) == [["/api/v1/auth/login"]] * 4


def test_a_test_that_runs_again_prints_what_the_portal_knew_and_keeps_no_sandbox_once_it_passes(
    portal: Addresses, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(RUNS_AGAIN)
    printed = run(tmp_path, environment, TESTS_THAT_RUN_AGAIN)
    assert "1 failed, 2 passed" in printed
    assert printed.count("What the portal knew") == 1
    told = re.search(r"needs its place: http://([^.]+)\.", printed)
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


def test_markers_are_refused_with_a_sentence_that_says_how_to_write_them(tmp_path: Path) -> None:
    printed = run(tmp_path, {}, MARKERS_THAT_ARE_REFUSED)
    assert "A story says what the sandbox starts with: leave out seed, now and frozen" in printed
    assert 'Only a sandbox tells a story: leave out sandbox_per="none"' in printed
    assert len(re.findall(r"E +TypeError: The marker story takes the name of a story alone", printed)) == 2
    assert re.search(r"E +TypeError: The marker mkopo takes its arguments by name, such as mkopo", printed)


def test_tests_that_fail_leave_no_sandbox_in_a_portal_of_the_run(tmp_path: Path) -> None:
    program = script(tmp_path, f"MKOPO_SANDBOXES=1 exec '{os.environ['MKOPO_BINARY']}' \"$@\"")
    printed = run(tmp_path, {"MKOPO_BINARY": program}, MORE_TESTS_THAT_FAIL_THAN_SANDBOXES)
    assert "3 failed, 1 passed" in printed
    assert printed.count("It ended with the test; with MKOPO_URL set, it would have been kept.") == 3


def test_a_test_whose_sandbox_finds_no_place_gets_that_of_the_oldest_one_that_is_kept(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    portal, stop = start_portal({"MKOPO_SANDBOXES": "2"})
    request.addfinalizer(stop)
    printed = run(tmp_path, settings_of(portal), MORE_TESTS_THAT_FAIL_THAN_SANDBOXES)
    assert "3 failed, 1 passed" in printed
    told = re.findall(
        r"It is kept for 24 hours, or until a later test needs its place: http://([^.]+)\.", printed
    )
    # The test that passed took the place of another, and removed its own sandbox.
    assert list(take_kept(portal)) == told[2:]


@pytest.mark.parametrize(
    ("then", "program"),
    [
        pytest.param(
            "signal.raise_signal(signal.SIGTERM)", "exec sleep 600", id="while it starts the portal"
        ),
        pytest.param("pass", "kill -TERM $PPID; exec sleep 600", id="while it waits for the portal"),
    ],
)
def test_a_run_that_is_ended_by_a_signal_stops_its_portal(tmp_path: Path, then: str, program: str) -> None:
    (tmp_path / "conftest.py").write_text(RUN_THAT_NOTES_ITS_PORTAL.format(then=then))
    printed = run(
        tmp_path,
        {"MKOPO_BINARY": script(tmp_path, program)},
        "def test_that_waits(mkopo): pass",
        exit_code=pytest.ExitCode.INTERRUPTED,
    )
    assert "KeyboardInterrupt" in printed
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "portal").read_text()), 0)


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ('{"info": {"version": "9.9.9"}}', f"is for portals of version {VERSION}, and URL has 9.9.9"),
        ("[]", "URL is not a Mkopo portal: it has no contract (HTTP 200)"),
        ("<p>It works</p>", "URL is not a Mkopo portal: it has no contract (HTTP 200)"),
    ],
)
def test_another_service_and_a_portal_of_another_version_are_refused_at_once(said: str, refusal: str) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.raises(RuntimeError, match=re.escape(refusal.replace("URL", url))):
        Portal(Addresses(url, url, "a token"))
    server.shutdown()


def test_a_call_that_gets_no_answer_says_so_without_the_lines_of_the_client() -> None:
    with pytest.raises(
        CallFailed, match=r"GET http://127.0.0.1:9/api/v1/openapi.json: no answer .*refused"
    ) as failed:
        Portal(Addresses("http://127.0.0.1:9", "http://127.0.0.1:9", "a token"))
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


def test_without_the_address_of_the_console_a_sandbox_says_what_may_be_wrong(portal: Addresses) -> None:
    with pytest.raises(
        RuntimeError, match=f"{portal.url}: it is not the address of the console, or MKOPO_SANDB"
    ):
        Portal(Addresses(portal.url, portal.url, portal.console_token)).make_sandbox()


def test_what_the_portal_knew_has_the_payouts_of_the_test_alone_whatever_its_clock(mkopo: Mkopo) -> None:
    mkopo.clock.set("2020-01-01T00:00:00Z")
    loan = mkopo.loans.approve(loan_id="LN-PAST")
    mkopo.sessions.open("agent").pay_out(loan)
    found = re.search(r"Payouts:\n((?:  .*\n)+)Calls:", what_happened(mkopo))
    assert found
    assert re.findall(r"LN-\S+", found.group(1)) == ["LN-PAST"]


@pytest.mark.mkopo(settings={"MKOPO_DEMO": "false"})
def test_what_the_portal_knew_leaves_out_what_its_console_refuses(mkopo: Mkopo) -> None:
    mkopo.portal.get("/api/v1/auth/me")
    assert re.search(r"GET /api/v1/auth/me {2}401 {2}\d+ ms {2}signed out", what_happened(mkopo))


def test_what_the_portal_knew_does_not_say_that_the_caller_of_a_failed_call_was_signed_out(
    mkopo: Mkopo,
) -> None:
    agent = mkopo.sessions.open("agent")
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=503)
    agent.http.get("/api/v1/auth/me")
    assert re.search(r"GET /api/v1/auth/me {2}503 {2}\d+ ms {2}fault: ", what_happened(mkopo))
