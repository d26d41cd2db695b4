"""Faults in the calls of the portal's API."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from mkopo_test.call_failed import CallFailed, segment
from mkopo_test.console.verbs import Verbs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack

    from mkopo_test.contract import Fault, NewFault

_GONE = 404


class Faults(Verbs):
    """Faults in the calls of the portal's API. They end with the test."""

    def add(self, **fault: Unpack[NewFault]) -> Fault:
        """Add a fault, which applies from the next call."""
        return self._ask("POST", "faults", body=fault)

    @contextmanager
    def during(self, **fault: Unpack[NewFault]) -> Iterator[Fault]:
        """Have a fault inside a `with` block."""
        added = self.add(**fault)
        try:
            yield added
        finally:
            self.remove(added)

    def list(self) -> list[Fault]:
        """Return the faults, with how many calls each has hit: one that has hit all its `times` stays."""
        return self._ask("GET", "faults")

    def remove(self, fault: Fault) -> None:
        """Remove a fault; nothing happens if it was removed already."""
        try:
            self._ask("DELETE", f"faults/{segment(fault['id'])}")
        except CallFailed as error:
            if error.status != _GONE:
                raise

    def clear(self) -> None:
        """Remove all faults."""
        self._ask("DELETE", "faults")
