"""The loans that wait to be paid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mkopo_test.call_failed import ask

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Unpack

    from mkopo_test.contract import LoanToApprove, PendingLoan


class Loans:
    """The loans that wait to be paid out."""

    def __init__(self, console: httpx.Client) -> None:
        self._console = console

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
        return cast("list[PendingLoan]", ask(self._console, "POST", "/console/api/loans", body=body))
