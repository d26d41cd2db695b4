from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from mkopo_test import Mkopo


def screens_of(url: str) -> object:
    return httpx.get(f"{url}/slices.json").json()["portal"].get("screens")


@pytest.mark.mkopo(settings={"MKOPO_SCREENS": "live"})
def test_a_portal_with_settings_is_started_for_the_test(mkopo: Mkopo) -> None:
    assert mkopo.sandbox.name == "main"
    assert screens_of(mkopo.sandbox.url) == "live"
    paid = mkopo.sessions.open("agent").pay_out(mkopo.loans.approve())
    assert paid["status"] == "COMPLETED"
    mkopo.clock.advance("40d")
    mkopo.reset()
    assert abs(mkopo.clock.now() - datetime.now(timezone.utc)) < timedelta(minutes=1)


@pytest.mark.mkopo(settings={"MKOPO_SCREENS": "live"}, seed="empty", now="2026-11-14T09:00:00Z", frozen=True)
def test_a_portal_with_settings_starts_as_the_marker_says(mkopo: Mkopo) -> None:
    assert mkopo.clock.now() == datetime(2026, 11, 14, 9, tzinfo=timezone.utc)
    assert mkopo.sessions.open("agent").pending_loans() == []


@pytest.mark.mkopo(sandbox_per="none")
def test_without_sandboxes_each_test_finds_the_portal_itself_at_its_start(mkopo: Mkopo) -> None:
    assert mkopo.sandbox.name == "main"
    for _ in range(2):
        assert "left@example.com" not in [account["email"] for account in mkopo.staff.list()]
        mkopo.staff.open("left@example.com")
        mkopo.reset()
