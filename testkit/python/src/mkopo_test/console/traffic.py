"""The last thousand calls of the portal's API."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mkopo_test.call_failed import ask
from mkopo_test.words import email_of, written

if TYPE_CHECKING:
    from datetime import datetime

    import httpx

    from mkopo_test.contract import Call, Har


class Traffic:
    """The last thousand calls of the portal's API."""

    def __init__(self, console: httpx.Client) -> None:
        self._console = console

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
        return cast("list[Call]", ask(self._console, "GET", "/console/api/traffic", query=query))

    def har(self) -> Har:
        """Return all recorded calls as an HTTP Archive, for a bug report: browsers and Charles open it."""
        return cast("Har", ask(self._console, "GET", "/console/api/traffic.har"))

    def clear(self) -> None:
        """Delete the recorded calls."""
        ask(self._console, "DELETE", "/console/api/traffic")
