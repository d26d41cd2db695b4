from __future__ import annotations

from datetime import datetime, timedelta, timezone
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from mkopo_test import Addresses, CallFailed, Portal

if TYPE_CHECKING:
    from mkopo_test import FaultKind, Mkopo, Sandbox


def test_the_next_payouts_have_the_outcomes_that_were_queued(mkopo: Mkopo) -> None:
    mkopo.mobile_money.next("insufficient_funds", "bad_number")
    assert mkopo.mobile_money.behaviour()["next"] == ["insufficient_funds", "bad_number"]
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve(amount=25_000, customer_first_name="Wanjiku")
    with pytest.raises(CallFailed, match="422 mobile_money_refused") as refused:
        agent.pay_out(loan)
    assert (refused.value.code, refused.value.body["result_code"]) == ("mobile_money_refused", "1")
    with pytest.raises(CallFailed):
        agent.pay_out(loan)
    paid = agent.pay_out(loan)
    assert (paid["status"], paid["amount"]) == ("COMPLETED", 25_000)
    assert [payout["status"] for payout in mkopo.payouts.list(loan=loan)] == ["COMPLETED", "FAILED", "FAILED"]
    assert agent.history()[0]["id"] == paid["id"]
    mkopo.mobile_money.always("maximum_balance")
    other = mkopo.loans.approve_many(3)[0]
    with pytest.raises(CallFailed) as full:
        agent.pay_out(other)
    assert full.value.body["result_code"] == "8"
    mkopo.mobile_money.reset()
    assert agent.pay_out(other)["status"] == "COMPLETED"


def test_a_payout_is_awaited_until_it_has_settled(mkopo: Mkopo) -> None:
    mkopo.mobile_money.change(latency_ms=60_000)
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve()
    assert agent.pay_out(loan)["status"] == "PENDING"
    with pytest.raises(AssertionError, match="has settled within 1s"):
        mkopo.payouts.settled(loan, wait="1s")
    mkopo.clock.advance("2m")
    assert mkopo.payouts.settled(loan)["status"] == "COMPLETED"


def test_settled_waits_for_the_payout_that_follows_whatever_has_settled_before(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve()

    def pay_out() -> None:
        """Pay out as a page does: the kit knows nothing of it."""
        body = {
            "agent_id": 1,
            "amount": loan["total_loan_amount"],
            "phone_number": loan["customer_phone_number"],
        }
        agent.http.post(f"/api/v1/disbursements/{loan['loan_id']}/disburse", json=body)

    mkopo.mobile_money.next("insufficient_funds", "bad_number")
    pay_out()
    pay_out()
    assert "balance" in (mkopo.payouts.settled(loan)["error_message"] or "")
    assert "operator" in (mkopo.payouts.settled(loan)["error_message"] or "")
    with pytest.raises(AssertionError, match=r"No other payout .* within 1s"):
        mkopo.payouts.settled(loan, wait="1s")
    Thread(target=pay_out).start()
    assert mkopo.payouts.settled(loan)["status"] == "COMPLETED"


def test_settled_returns_no_payout_of_the_demo_data_of_the_past_or_before_a_skip(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")
    tried = {payout["loan_id"] for payout in mkopo.payouts.list(settled=True)}
    loan = next(loan for loan in agent.pending_loans() if loan["loan_id"] in tried)

    def has_none() -> None:
        with pytest.raises(AssertionError, match="No other payout"):
            mkopo.payouts.settled(loan, wait="1s")

    has_none()
    made = mkopo.payouts.make_past(loan=loan, outcome="insufficient_funds", by="supervisor")
    assert (made["status"], made["user_email"]) == ("FAILED", "supervisor@mkopo.test")
    has_none()
    mkopo.mobile_money.next("insufficient_funds")
    with pytest.raises(CallFailed):
        agent.pay_out(loan)
    mkopo.payouts.skip()
    has_none()


def test_settled_returns_what_became_of_the_last_attempt_of_the_kit(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve()
    mkopo.mobile_money.next("insufficient_funds", "insufficient_funds")
    with pytest.raises(CallFailed, match="422"):
        agent.pay_out(loan)
    assert mkopo.payouts.settled(loan)["status"] == "FAILED"
    with pytest.raises(CallFailed, match="422"):
        agent.pay_out(loan)
    paid = agent.pay_out(loan, idempotency_key="once")
    assert agent.pay_out(loan, idempotency_key="once") == paid
    assert mkopo.payouts.settled(loan)["id"] == paid["id"]


def request(mkopo: Mkopo, code: str) -> None:
    path = f"/api/v1/auth/request-{code}"
    mkopo.portal.post(path, json={"email": "agent@mkopo.test"}).raise_for_status()


def test_each_code_is_returned_once_and_awaited(mkopo: Mkopo) -> None:
    asking = Thread(target=request, args=[mkopo, "signin-otp"])
    asking.start()
    code = mkopo.outbox.code(to="agent")
    asking.join()
    assert len(code) == 6
    with pytest.raises(AssertionError, match="No new code for agent within 1s"):
        mkopo.outbox.code(to="agent", wait="1s")
    mkopo.clock.advance("31s")
    request(mkopo, "signin-otp")
    second = mkopo.outbox.code(to="agent")
    assert [message["code"] for message in mkopo.outbox.messages(to="agent")] == [second, code]
    request(mkopo, "password-reset")
    message = mkopo.outbox.next(to="0711 000 003", channel="sms")
    assert (message["to"], message["subject"]) == ("+254711000003", None)
    mkopo.outbox.clear()
    assert mkopo.outbox.messages() == []


def test_messages_are_returned_in_their_order_and_once_whoever_is_asked_for(mkopo: Mkopo) -> None:
    request(mkopo, "signin-otp")
    request(mkopo, "password-reset")
    mkopo.clock.advance("31s")
    request(mkopo, "signin-otp")
    second, reset, first = (message["code"] for message in mkopo.outbox.messages())
    assert mkopo.outbox.code(to="agent") == first
    assert mkopo.outbox.code() == reset
    mkopo.snapshots.save("after-two")
    assert mkopo.outbox.code(channel="email") == second
    mkopo.snapshots.restore("after-two")
    for to in (None, "agent", "+254711000003"):
        with pytest.raises(AssertionError, match="No new message"):
            mkopo.outbox.next(to=to, wait="1s")
    mkopo.clock.advance("31s")
    request(mkopo, "signin-otp")
    mkopo.outbox.skip()
    with pytest.raises(AssertionError, match="No new code"):
        mkopo.outbox.code(wait="1s")


@pytest.mark.mkopo(settings={})
def test_in_a_portal_that_is_used_the_verbs_that_wait_return_nothing_of_before(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve()
    mkopo.mobile_money.next("insufficient_funds")
    with pytest.raises(CallFailed):
        agent.pay_out(loan)
    mkopo.portal.post("/api/v1/auth/request-signin-otp", json={"email": "agent@mkopo.test"})
    at = Addresses(str(mkopo.portal.base_url), str(mkopo.console.base_url), mkopo.sandbox.token)
    again = Portal(at).main()
    with pytest.raises(AssertionError, match="No new code"):
        again.outbox.code(wait="1s")
    with pytest.raises(AssertionError, match="No other payout"):
        again.payouts.settled(loan, wait="1s")


@pytest.mark.mkopo(settings={})
def test_a_portal_is_connected_by_the_addresses_of_its_pages(mkopo: Mkopo) -> None:
    sandbox = mkopo.sandbox
    assert sandbox.console_url
    # As a token is in a file.
    token = f"{sandbox.token}\n"
    again = Portal(Addresses(f"{sandbox.url}/loans", sandbox.console_url, token)).main()
    assert again.sandbox == sandbox
    assert again.sessions.open("agent").pending_loans()


def test_names_are_sent_whole_whatever_is_in_them(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")
    for loan_id in ("LN#1", "LN?1", "LN%231"):
        loan = mkopo.loans.approve(loan_id=loan_id)
        assert agent.pay_out(loan)["status"] == "COMPLETED"
        assert len(mkopo.payouts.list(loan=loan)) == 1
    for verb in (mkopo.snapshots.save, mkopo.snapshots.restore, mkopo.snapshots.remove):
        mkopo.snapshots.save("a")
        with pytest.raises(CallFailed):
            verb("a?b")
        assert [snapshot["name"] for snapshot in mkopo.snapshots.list()] == ["a"]


def test_a_fault_ends_with_its_scope_by_hand_or_with_the_test(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")

    def status() -> int:
        return agent.http.get("/api/v1/auth/me").status_code

    with mkopo.faults.during(path="/api/v1/auth/me", kind="status", status=503):
        assert status() == 503
    assert status() == 200
    fault = mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=503)
    assert status() == 503
    assert [fault["hits"] for fault in mkopo.faults.list()] == [1]
    mkopo.faults.remove(fault)
    mkopo.faults.remove(fault)
    assert status() == 200
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=503)
    mkopo.faults.clear()
    assert status() == 200
    mkopo.faults.add(path="/api/v1/auth/me", kind="status", status=503)


@pytest.mark.parametrize(("kind", "status"), [("truncate", None), ("malformed", 200)])
def test_an_answer_with_a_fault_of_its_body_is_a_call_that_failed(
    mkopo: Mkopo, kind: FaultKind, status: int | None
) -> None:
    agent = mkopo.sessions.open("agent")
    loan = mkopo.loans.approve()
    mkopo.faults.add(path="/api/v1/disbursements/*/disburse", kind=kind, times=1)
    with pytest.raises(CallFailed, match=r"^POST http\S+/disburse: .* \S") as failed:
        agent.pay_out(loan)
    assert failed.value.status == status
    assert mkopo.payouts.settled(loan)["status"] == "COMPLETED"


def test_the_clock_moves_stops_and_goes_on(mkopo: Mkopo) -> None:
    morning = datetime(2026, 12, 24, 6, tzinfo=timezone.utc)
    mkopo.clock.freeze(morning)
    assert mkopo.clock.now() == morning
    mkopo.clock.advance("1h30m")
    assert mkopo.clock.now() == morning + timedelta(minutes=90)
    mkopo.clock.unfreeze()
    mkopo.clock.set("2020-01-01T00:00:00Z")
    assert mkopo.clock.now().year == 2020
    mkopo.clock.reset()
    assert abs(mkopo.clock.now() - datetime.now(timezone.utc)) < timedelta(minutes=1)


def test_accounts_are_opened_changed_and_signed_out(mkopo: Mkopo) -> None:
    grace = mkopo.staff.open("grace@example.com")
    assert (grace["first_name"], grace["role"], grace["is_active"]) == ("Grace", "agent", True)
    mkopo.staff.open("juma@example.com", password="Kahawa-2026")
    session = mkopo.sessions.open("juma@example.com")
    mkopo.sessions.open("agent")
    assert mkopo.staff.get("juma@example.com")["open_sessions"] == 1
    assert mkopo.sessions.end("juma@example.com") == 1
    with pytest.raises(CallFailed, match="401"):
        session.pending_loans()
    assert mkopo.sessions.end_all() == 1
    assert mkopo.staff.set_role("agent", "supervisor")["role"] == "supervisor"
    assert mkopo.staff.deactivate("agent")["is_active"] is False
    with pytest.raises(CallFailed, match="403"):
        mkopo.sessions.open("agent")
    assert mkopo.staff.activate("agent")["is_active"] is True
    assert "grace@example.com" in [account["email"] for account in mkopo.staff.list()]
    assert (
        mkopo.events.list(who="grace@example.com", kind="account_opened")[0]["about"] == "grace@example.com"
    )


def test_an_account_is_opened_and_signed_in_whatever_the_case_of_its_address(mkopo: Mkopo) -> None:
    mkopo.staff.open("Grace@Example.com", password="Kahawa-2026")
    for address in ("Grace@Example.com", "grace@example.com", "GRACE@EXAMPLE.COM"):
        assert mkopo.sessions.open(address).user["email"] == "grace@example.com"


def test_calls_are_found_by_path_status_and_user(mkopo: Mkopo) -> None:
    since = mkopo.clock.now()
    mkopo.sessions.open("agent").pending_loans()
    for password in ("wrong", ""):
        with pytest.raises(CallFailed, match=r"400|422"):
            mkopo.sessions.open("agent", password)
    (call,) = mkopo.traffic.calls(path="/pending", user="agent", since=since)
    assert (call["method"], call["status"], call["user"]) == ("GET", 200, "agent@mkopo.test")
    assert len(mkopo.traffic.calls(status="4xx", method="POST")) == 2
    mkopo.traffic.clear()
    assert mkopo.traffic.calls() == []


def test_a_time_without_a_zone_is_refused(mkopo: Mkopo) -> None:
    with pytest.raises(ValueError, match="time zone"):
        mkopo.clock.set(datetime(2026, 1, 1))


def test_the_sandbox_has_addresses_for_a_browser(mkopo: Mkopo, sandbox: Sandbox) -> None:
    assert sandbox == mkopo.sandbox
    assert sandbox.url.startswith(f"http://{sandbox.name}.localhost:")
