from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkopo_test import CallFailed

if TYPE_CHECKING:
    from mkopo_test import Mkopo

_SECTIONS = (Path(__file__).parents[3] / "docs/console.md").read_text().split("\n## ")[1:]

# The Python of each recipe of docs/console.md, by title.
RECIPES = {
    section.split("\n")[0]: "".join(re.findall(r"```python\n(.*?)\n```", section, re.DOTALL))
    for section in _SECTIONS
}

# The recipes that the token of a sandbox does not allow; the operator's does.
FOR_THE_OPERATOR = {"Let a team deploy its slice"}


def run(title: str, **values: object) -> Any:  # noqa: ANN401
    """Run a recipe exactly as written; return what it assigns."""
    assert RECIPES[title], f"{title} has no Python"
    scope: dict[str, object] = dict(values)
    exec(RECIPES[title], scope)
    assigned = re.match(r"(\w+) = ", RECIPES[title])
    return scope[assigned.group(1)] if assigned else None


@pytest.mark.mkopo(settings={})
def test_the_recipe_for_the_operator_does_what_its_title_says(mkopo: Mkopo) -> None:
    assert run("Let a team deploy its slice", mkopo=mkopo)["token"].startswith("mkopo_deploy_")


def test_every_recipe_does_what_its_title_says(mkopo: Mkopo) -> None:
    done = []

    def recipe(title: str, **values: object) -> Any:  # noqa: ANN401
        done.append(title)
        return run(title, mkopo=mkopo, **values)

    def statuses(count: int) -> list[int]:
        http = mkopo.sessions.open("agent").http
        return [http.get("/api/v1/disbursement-records").status_code for _ in range(count)]

    agent = mkopo.sessions.open("agent")
    mkopo.portal.post("/api/v1/auth/request-signin-otp", json={"email": "agent@mkopo.test"})
    assert re.fullmatch(r"\d{6}", recipe("Read the code in a test"))

    loan = recipe("Approve a loan to pay out")
    assert (loan["customer_first_name"], loan["total_loan_amount"]) == ("Wanjiku", 25_000)
    recipe("Make the next payout fail")
    with pytest.raises(CallFailed) as refused:
        agent.pay_out(loan)
    assert refused.value.body["result_code"] == "1"
    recipe("Lose the answer")
    with pytest.raises(CallFailed) as lost:
        agent.pay_out(loan)
    assert lost.value.status is None
    with pytest.raises(CallFailed, match="already_disbursed"):
        agent.pay_out(loan)
    assert len(recipe("See which requests were made")) == 2
    assert recipe("Keep what happened for a bug report")["log"]["version"] == "1.2"
    assert recipe("See how a payout ended", loan=loan)["status"] == "COMPLETED"
    past = recipe("Make a payout of the past")
    assert past["created_at"] == "2025-01-15T07:00:00.000Z"
    assert past in agent.history()

    recipe("Fail three calls in ten")
    assert 3 < statuses(40).count(503) < 23
    recipe("Make a call slow")
    asked = time.monotonic()
    agent.pending_loans()
    assert time.monotonic() - asked >= 3
    recipe("End all faults")
    assert set(statuses(20)) == {200}
    assert recipe("Expire every session") == 3
    with pytest.raises(CallFailed, match="401"):
        agent.history()

    assert recipe("Open an account")["email"] == "grace@example.com"
    grace = mkopo.sessions.open("grace@example.com", "Kahawa-2026")
    assert [event["kind"] for event in recipe("See who did what")] == ["signed_in", "account_opened"]

    recipe("Save")
    saved = grace.pending_loans()
    approved = mkopo.loans.approve()["loan_id"]
    recipe("Jump to tomorrow")
    with pytest.raises(CallFailed, match="401"):
        grace.pending_loans()
    recipe("Go back to the real time")
    # Payouts that the demo left open may have settled tomorrow.
    assert approved in [loan["loan_id"] for loan in grace.pending_loans()]
    recipe("Restore")
    assert grace.pending_loans() == saved

    assert recipe("Ask whether every shilling is accounted for") is True
    recipe("Reset")
    assert mkopo.snapshots.list() == []
    assert sorted(done) == sorted(set(RECIPES) - FOR_THE_OPERATOR)
