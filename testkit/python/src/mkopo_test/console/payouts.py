"""The payouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mkopo_test.call_failed import ask
from mkopo_test.words import email_of, written

if TYPE_CHECKING:
    from datetime import datetime

    import httpx

    from mkopo_test.contract import DisbursementRecord, Outcome, PendingLoan

    # A method is called `list`, too.
    Records = list[DisbursementRecord]


class Payouts:
    """The payouts."""

    def __init__(self, console: httpx.Client) -> None:
        self._console = console

    def list(self, *, loan: PendingLoan | None = None, settled: bool | None = None) -> Records:
        """Return all payouts, newest first, or those of one loan."""
        return self._list({"loan_id": loan and loan["loan_id"], "settled": settled})

    def settled(self, loan: PendingLoan, *, wait: str = "20s") -> DisbursementRecord:
        """Wait until a payout of the loan has settled and return the latest."""
        found = self._list({"loan_id": loan["loan_id"], "settled": True, "wait": wait})
        if not found:
            raise AssertionError(f"No payout of {loan['loan_id']} has settled within {wait}")
        return found[0]

    def make_past(
        self,
        *,
        loan: PendingLoan | None = None,
        outcome: Outcome | None = None,
        at: datetime | str | None = None,
        by: str | None = None,
    ) -> DisbursementRecord:
        """Add a settled payout of the past, with its payment in mobile money's ledger."""
        given = {
            "loan_id": loan and loan["loan_id"],
            "outcome": outcome,
            "created_at": at and written(at),
            "user_email": by and email_of(by),
        }
        body = {name: value for name, value in given.items() if value is not None}
        return cast("DisbursementRecord", ask(self._console, "POST", "/console/api/payouts", body=body))

    def _list(self, query: dict[str, object]) -> Records:
        found = ask(self._console, "GET", "/console/api/payouts", query=query)
        return cast("Records", found)
