from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import httpx
import pytest

from mkopo_test import start_portal

if TYPE_CHECKING:
    from pathlib import Path

    from mkopo_test import Mkopo


def screens_of(url: str) -> object:
    return httpx.get(f"{url}/slices.json").json()["portal"].get("screens")


@pytest.mark.mkopo(settings={"MKOPO_SCREENS": "live", "MKOPO_LOG": "off"})
def test_a_portal_with_settings_is_started_for_the_test_whatever_its_log_has(mkopo: Mkopo) -> None:
    assert mkopo.sandbox.name == "main"
    assert screens_of(mkopo.sandbox.url) == "live"
    paid = mkopo.sessions.open("agent").pay_out(mkopo.loans.approve())
    assert paid["status"] == "COMPLETED"
    mkopo.clock.advance("40d")
    mkopo.reset()
    assert abs(mkopo.clock.now() - datetime.now(timezone.utc)) < timedelta(minutes=1)


@pytest.mark.mkopo(frozen=True, now="2026-11-14T09:00:00Z")
@pytest.mark.mkopo(settings={"MKOPO_SCREENS": "live"}, seed="empty", now="2026-11-15T09:00:00Z")
def test_a_portal_with_settings_starts_as_its_markers_say_together(mkopo: Mkopo) -> None:
    assert mkopo.clock.now() == datetime(2026, 11, 15, 9, tzinfo=timezone.utc)
    assert mkopo.sessions.open("agent").pending_loans() == []


def test_each_stack_is_apart_from_all_others_and_in_demo_mode_whatever_is_set_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called, file, docker = (tmp_path / name for name in ("called", "docker-compose.yml", "docker"))
    file.touch()
    docker.write_text(f'#!/bin/sh\nenv >>{called}\necho "FILE=$3" >>{called}\n')
    docker.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    others = {
        "MKOPO_BINARY": "",
        "MKOPO_COMPOSE_FILE": "",
        "MKOPO_DATABASE_URL": "postgres://real",
        "MKOPO_DEMO": "false",
        "COMPOSE_PROFILES": "postgres",
    }
    for name, value in {"PATH": f"{tmp_path}:/usr/bin:/bin", **others}.items():
        monkeypatch.setenv(name, value)
    for _, stop in [start_portal(), start_portal()]:
        stop()

    def values(name: str) -> list[str]:
        return re.findall(f"^{name}=(.*)$", called.read_text(), re.MULTILINE)

    one, other, *when_stopped = values("COMPOSE_PROJECT_NAME")
    assert one != other
    assert when_stopped == [one, other]
    assert set(values("FILE")) == {file.name}
    assert set(values("MKOPO_DEMO")) == {"true"}
    assert set(values("COMPOSE_ENV_FILES")) == {"/dev/null"}
    assert set(values("COMPOSE_PROFILES")) == {""}
    assert values("MKOPO_DATABASE_URL") == []


@pytest.mark.mkopo(sandbox_per="none")
def test_without_sandboxes_each_test_finds_the_portal_itself_at_its_start(mkopo: Mkopo) -> None:
    assert mkopo.sandbox.name == "main"
    for _ in range(2):
        assert "left@example.com" not in [account["email"] for account in mkopo.staff.list()]
        mkopo.staff.open("left@example.com")
        mkopo.reset()
