"""The last thousand calls of the portal's API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs
from mkopo_test.words import email_of, written

if TYPE_CHECKING:
    from datetime import datetime

    from mkopo_test.contract import Call, Har


class Traffic(Verbs):
    """The last thousand calls of the portal's API."""

    def calls(
        self,
        *,
        method: str | None = None,
        path: str | None = None,
        status: int | str | None = None,
        user: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> list[Call]:
        """Return the calls that match, newest first.

        `path` is a part of the path; `status` is such as `422`, `"4xx"`, `"none"` for no response, or
        `"fault"`.
        """
        query = {
            "method": method,
            "path": path,
            "status": status,
            "user": user and email_of(user),
            "since": since and written(since),
            "until": until and written(until),
        }
        return self._ask("GET", "traffic", query=query)

    def har(self) -> Har:
        """Return all recorded calls as an HTTP Archive, for a bug report: browsers and Charles open it."""
        return self._ask("GET", "traffic.har")

    def clear(self) -> None:
        """Delete the recorded calls."""
        self._ask("DELETE", "traffic")
