"""The messages that the portal has sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs
from mkopo_test.words import email_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from mkopo_test.contract import Channel, OutboxMessage


class Outbox(Verbs):
    """The messages that the portal has sent, with their codes."""

    def __init__(self, console: httpx.Client) -> None:
        super().__init__(console)
        # The messages that are not returned: they were, or they are the past.
        self._passed: set[str] = set()
        # The latest message that was looked at, by recipient and channel.
        self._read: dict[tuple[str | None, str | None], str] = {}

    def messages(self, *, to: str | None = None, channel: Channel | None = None) -> list[OutboxMessage]:
        """Return the messages sent so far, newest first."""
        return self._list(to, channel)

    def next(
        self, *, to: str | None = None, channel: Channel | None = None, wait: str = "10s"
    ) -> OutboxMessage:
        """Wait for the next message and return it: each is returned once, the oldest first."""
        return self._next(to, channel, wait, lambda _: True, "message")

    def code(self, *, to: str | None = None, channel: Channel | None = None, wait: str = "10s") -> str:
        """Wait for the next message with a code; return the code: each once, the oldest first."""
        found = self._next(to, channel, wait, lambda message: message["code"] is not None, "code")
        return found["code"] or ""

    def skip(self) -> None:
        """Skip the messages that were sent so far: `next` and `code` return only what follows."""
        self._passed |= {message["id"] for message in self.messages()}

    def clear(self) -> None:
        """Delete all messages."""
        self._ask("DELETE", "outbox")

    def _next(
        self,
        to: str | None,
        channel: Channel | None,
        wait: str,
        is_wanted: Callable[[OutboxMessage], bool],
        what: str,
    ) -> OutboxMessage:
        reader = (to, channel)
        while found := self._list(to, channel, after=self._read.get(reader), wait=wait):
            for message in reversed(found):
                self._read[reader] = message["id"]
                if message["id"] in self._passed:
                    continue
                self._passed.add(message["id"])
                if is_wanted(message):
                    return message
        raise AssertionError(f"No new {what} for {to or 'anybody'} within {wait}")

    def _list(
        self,
        to: str | None,
        channel: Channel | None,
        *,
        after: str | None = None,
        wait: str | None = None,
    ) -> list[OutboxMessage]:
        is_phone = to is None or re.fullmatch(r"\+?[\d ]+", to)
        recipient = to if is_phone or to is None else email_of(to)
        query = {"to": recipient, "channel": channel, "after": after, "wait": wait}
        return self._ask("GET", "outbox", query=query)
