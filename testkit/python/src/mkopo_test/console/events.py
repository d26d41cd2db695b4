"""The audit trail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs
from mkopo_test.words import written

if TYPE_CHECKING:
    from datetime import datetime

    from mkopo_test.contract import Event, EventKind


class Events(Verbs):
    """The audit trail. It has real times, and a reset leaves it alone."""

    def list(
        self,
        *,
        kind: EventKind | None = None,
        who: str | None = None,
        address: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        """Return the events that match, newest first.

        `who` is a part of who did it or of what it is about; a whole e-mail address also finds failed
        sign-ins. `address` is the beginning of the network address.
        """
        query = {
            "kind": kind,
            "who": who,
            "address": address,
            "since": since and written(since),
            "until": until and written(until),
            "limit": limit,
        }
        return self._ask("GET", "events", query=query)
