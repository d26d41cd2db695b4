"""The payouts."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

from mkopo_test.call_failed import CallFailed
from mkopo_test.console.verbs import Verbs
from mkopo_test.words import email_of, seconds, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import httpx

    from mkopo_test.contract import DisbursementRecord, Outcome

    # A method is called `list`, too.
    Records = list[DisbursementRecord]

# The interval between two checks whether a loan with earlier payouts has another, in seconds.
_POLL_INTERVAL_S = 0.1


class AnyLoan(TypedDict):
    """A loan, or what names one, such as a payout."""

    loan_id: str


class Payouts(Verbs):
    """The payouts."""

    def __init__(self, console: httpx.Client) -> None:
        super().__init__(console)
        # The payouts that `settled` does not return: it has returned them, or they are the past.
        self._passed: set[str] = set()
        # The payouts that were there at the start.
        self._at_start: set[str] = set()
        # The latest payout that `Session.pay_out` was told of, by loan.
        self._reported: dict[str, str] = {}

    def list(self, *, loan: AnyLoan | None = None, settled: bool | None = None) -> Records:
        """Return all payouts, newest first, or those of one loan."""
        query = {"loan_id": loan and loan["loan_id"], "settled": settled}
        return self._ask("GET", "payouts", query=query)

    def settled(self, loan: AnyLoan, *, wait: str = "20s") -> DisbursementRecord:
        """Wait for the next payout of a loan that has settled: each is returned once, the oldest first."""
        query = {"loan_id": loan["loan_id"], "settled": True, "wait": wait}
        deadline = time.monotonic() + seconds(wait)
        while True:
            found: Records = self._ask("GET", "payouts", query=query)
            for payout in reversed(found):
                if payout["id"] not in self._passed:
                    self._passed.add(payout["id"])
                    return payout
            if time.monotonic() >= deadline:
                other = "other " if found else ""
                raise AssertionError(f"No {other}payout of {loan['loan_id']} has settled within {wait}")
            time.sleep(_POLL_INTERVAL_S)

    def skip(self) -> None:
        """Skip the payouts that have settled so far: `settled` returns only what follows."""
        self._passed |= {payout["id"] for payout in self.list(settled=True)}

    def begin(self) -> None:
        """Take the payouts so far as those of the start, and skip those that have settled."""
        for payout in self.list():
            self._at_start.add(payout["id"])
            if payout["status"] != "PENDING":
                self._passed.add(payout["id"])

    def since_start(self) -> Records:
        """Return all payouts since the start, newest first."""
        return [payout for payout in self.list() if payout["id"] not in self._at_start]

    @contextmanager
    def attempt(self, loan_id: str) -> Iterator[Callable[[str], None]]:
        """Pay a loan out: what an earlier attempt here was told is the past then."""
        if loan_id in self._reported:
            self._passed.add(self._reported[loan_id])

        def report(payout_id: str) -> None:
            self._reported[loan_id] = payout_id
            # A repeated request is answered with the same payout.
            self._passed.discard(payout_id)

        try:
            yield report
        except CallFailed as error:
            if "record" in error.body:
                report(error.body["record"]["id"])
            raise

    def make_past(
        self,
        *,
        loan: AnyLoan | None = None,
        outcome: Outcome | None = None,
        at: datetime | str | None = None,
        by: str | None = None,
    ) -> DisbursementRecord:
        """Add a settled payout of the past, with its payment in mobile money's ledger.

        `at` is at least 2 seconds ago, which is the default. `loan` was approved before `at`: approve it with
        `approved_at`. By default, one is generated.
        """
        given = {
            "loan_id": loan and loan["loan_id"],
            "outcome": outcome,
            "created_at": at and written(at),
            "user_email": by and email_of(by),
        }
        body = {name: value for name, value in given.items() if value is not None}
        made: DisbursementRecord = self._ask("POST", "payouts", body=body)
        self._passed.add(made["id"])
        return made
