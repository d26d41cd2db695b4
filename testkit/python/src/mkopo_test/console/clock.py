"""The clock that sessions, codes, limits, receipts and dates follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs
from mkopo_test.words import read, written

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Verbs):
    """The clock that sessions, codes, limits, receipts and dates follow."""

    def now(self) -> datetime:
        """Return the time of the sandbox."""
        return read(self._ask("GET", "clock")["now"])

    def advance(self, by: str) -> None:
        """Move the clock forward: `advance("1d")`."""
        self._change({"advance": by})

    def set(self, now: datetime | str) -> None:
        """Set the clock, which can be to the past."""
        self._change({"now": written(now)})

    def freeze(self, at: datetime | str | None = None) -> None:
        """Stop the clock, at another time if one is given."""
        self._change({"frozen": True} | ({"now": written(at)} if at else {}))

    def unfreeze(self) -> None:
        """Let a stopped clock run again."""
        self._change({"frozen": False})

    def reset(self) -> None:
        """Go back to the real time, running."""
        self._ask("DELETE", "clock")

    def _change(self, change: dict[str, object]) -> None:
        self._ask("PUT", "clock", body=change)
