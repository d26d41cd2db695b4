"""All of a sandbox under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkopo_test.call_failed import segment
from mkopo_test.console.verbs import Verbs

if TYPE_CHECKING:
    from mkopo_test.contract import Snapshot


class Snapshots(Verbs):
    """All of a sandbox under a name: data, sessions, messages, faults, outcomes and clock."""

    def save(self, name: str) -> None:
        """Save everything."""
        self._ask("POST", f"data/snapshots/{segment(name)}")

    def restore(self, name: str) -> None:
        """Restore everything exactly as it was saved."""
        self._ask("PUT", f"data/snapshots/{segment(name)}")

    def remove(self, name: str) -> None:
        """Delete one."""
        self._ask("DELETE", f"data/snapshots/{segment(name)}")

    def list(self) -> list[Snapshot]:
        """Return all of them, by name."""
        return self._ask("GET", "data/snapshots")
