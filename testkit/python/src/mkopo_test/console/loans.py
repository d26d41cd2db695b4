"""The loans that wait to be paid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mkopo_test.contract import LoanToApprove, PendingLoan


class Loans(Verbs):
    """The loans that wait to be paid out."""

    def approve(self, *, amount: int | None = None, **loan: Unpack[LoanToApprove]) -> PendingLoan:
        """Approve a loan; values that are not given are generated. `amount` is `total_loan_amount`."""
        return self.approve_many(1, amount=amount, **loan)[0]

    def approve_many(
        self, count: int, *, amount: int | None = None, **loan: Unpack[LoanToApprove]
    ) -> list[PendingLoan]:
        """Approve up to a thousand loans at once."""
        if amount is not None:
            loan["total_loan_amount"] = amount
        body = {"count": count, "loan": loan}
        return self._ask("POST", "loans", body=body)
