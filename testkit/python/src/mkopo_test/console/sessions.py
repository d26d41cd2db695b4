"""The sessions of the portal's users."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from mkopo_test.call_failed import ask, client, segment
from mkopo_test.console.payouts import AnyLoan
from mkopo_test.console.staff import path_of
from mkopo_test.console.verbs import Verbs
from mkopo_test.words import email_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from mkopo_test.console.payouts import Payouts
    from mkopo_test.contract import Disbursement, DisbursementRecord, PendingLoan, User


class LoanToPayOut(AnyLoan):
    """What a request to pay a loan out has of the loan."""

    total_loan_amount: int
    customer_phone_number: str


class Session:
    """Somebody who is signed in to the portal's API."""

    def __init__(self, http: httpx.Client, user: User, payouts: Payouts) -> None:
        self.http = http
        """Any call of the portal's API as this user: `session.http.get("/api/v1/auth/me")`."""
        self.user = user
        self.token = user["token"]
        self._payouts = payouts

    def pay_out(self, loan: LoanToPayOut, *, idempotency_key: str | None = None) -> Disbursement:
        """Pay a loan out; fail with `CallFailed` if it is refused."""
        body = {
            "agent_id": 1,
            "amount": loan["total_loan_amount"],
            "phone_number": loan["customer_phone_number"],
        }
        path = f"/api/v1/disbursements/{segment(loan['loan_id'])}/disburse"
        headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
        with self._payouts.attempt(loan["loan_id"]) as report:
            payout: Disbursement = ask(self.http, "POST", path, body=body, headers=headers)
            report(payout["id"])
        return payout

    def pending_loans(self) -> list[PendingLoan]:
        """Return the loans that wait to be paid out."""
        return ask(self.http, "GET", "/api/v1/disbursements/pending")

    def history(self) -> list[DisbursementRecord]:
        """Return the history of payouts."""
        return ask(self.http, "GET", "/api/v1/disbursement-records")


class Sessions(Verbs):
    """The sessions of the portal's users."""

    def __init__(
        self,
        console: httpx.Client,
        portal: httpx.Client,
        password_of: Callable[[str], str],
        payouts: Callable[[], Payouts],
    ) -> None:
        self._console = console
        self._portal = portal
        self._password_of = password_of
        self._payouts = payouts

    def open(self, who: str, password: str | None = None) -> Session:
        """Sign in to the portal's API, without a browser."""
        if password is None:
            password = self._password_of(who)
        body = {"email": email_of(who), "password": password}
        user: User = ask(self._portal, "POST", "/api/v1/auth/login", body=body)["user"]
        sandbox = self._portal.headers["Mkopo-Sandbox"]
        http = client(str(self._portal.base_url), sandbox=sandbox, token=user["token"])
        return Session(http, user, self._payouts())

    def end(self, who: str) -> int:
        """End the sessions of one account; return how many there were."""
        return int(self._ask("POST", f"{path_of(who)}/expire")["ended"])

    def end_all(self) -> int:
        """End everybody's sessions; return how many there were."""
        return int(self._ask("POST", "staff/expire")["ended"])
