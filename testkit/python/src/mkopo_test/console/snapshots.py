"""All of a sandbox under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mkopo_test.call_failed import ask, segment

if TYPE_CHECKING:
    import httpx

    from mkopo_test.contract import Snapshot

_PATH = "/console/api/data/snapshots"


class Snapshots:
    """All of a sandbox under a name: data, sessions, messages, faults, outcomes and clock."""

    def __init__(self, console: httpx.Client) -> None:
        self._console = console

    def save(self, name: str) -> None:
        """Save everything."""
        ask(self._console, "POST", f"{_PATH}/{segment(name)}")

    def restore(self, name: str) -> None:
        """Restore everything exactly as it was saved."""
        ask(self._console, "PUT", f"{_PATH}/{segment(name)}")

    def remove(self, name: str) -> None:
        """Delete one."""
        ask(self._console, "DELETE", f"{_PATH}/{segment(name)}")

    def list(self) -> list[Snapshot]:
        """Return all of them, by name."""
        return cast("list[Snapshot]", ask(self._console, "GET", _PATH))
