from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from mkopo_test import CallFailed

if TYPE_CHECKING:
    from mkopo_test import Mkopo


# More than workers, so that each worker runs several, and each finds what the one before would have left.
@pytest.mark.parametrize("index", range(8))
def test_each_test_finds_its_own_start_and_sees_no_other(mkopo: Mkopo, index: int) -> None:
    assert abs(mkopo.clock.now() - datetime.now(timezone.utc)) < timedelta(minutes=10)
    assert mkopo.faults.list() == []
    assert mkopo.outbox.messages() == []
    assert mkopo.traffic.calls() == []
    assert mkopo.snapshots.list() == []
    assert mkopo.mobile_money.behaviour()["next"] == []
    assert "left@example.com" not in [account["email"] for account in mkopo.staff.list()]

    new_year = datetime(2030 + index, 1, 1, tzinfo=timezone.utc)
    mkopo.clock.freeze(new_year)
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=500 + index)
    mkopo.mobile_money.next("insufficient_funds")
    mkopo.staff.open("left@example.com")
    loan = mkopo.loans.approve(loan_id="LN-LEFT", amount=1000 + index)
    mkopo.snapshots.save("left")
    agent = mkopo.sessions.open("agent")
    with pytest.raises(CallFailed):
        agent.pay_out(loan)
    mkopo.portal.post("/api/v1/auth/request-signin-otp", json={"email": "agent@mkopo.test"})
    mkopo.outbox.code(to="agent")

    assert agent.http.get("/api/v1/auth/me").status_code == 500 + index
    assert mkopo.clock.now() == new_year
    assert [payout["amount"] for payout in mkopo.payouts.list(loan=loan)] == [1000 + index]
    # Payouts of the demo data settle when the time has come, too.
    assert len(mkopo.outbox.messages(to="agent")) == 1
    assert len(mkopo.faults.list()) == 1


@pytest.mark.mkopo(seed="empty", now="2026-11-14T09:00:00Z", frozen=True)
def test_the_marker_says_what_the_sandbox_starts_with(mkopo: Mkopo) -> None:
    assert mkopo.clock.now() == datetime(2026, 11, 14, 9, tzinfo=timezone.utc)
    assert mkopo.sessions.open("agent").pending_loans() == []


_names: set[str] = set()


@pytest.mark.mkopo(sandbox_per="test")
@pytest.mark.parametrize("_nth", ["first", "second"])
@pytest.mark.xdist_group("a sandbox for each test")
def test_each_test_may_have_a_sandbox_of_its_own(mkopo: Mkopo, _nth: str) -> None:
    assert mkopo.sandbox.name not in _names
    _names.add(mkopo.sandbox.name)
