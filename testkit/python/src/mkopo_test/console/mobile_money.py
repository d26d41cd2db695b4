"""The behaviour of mobile money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mkopo_test.contract import Outcome, Scenario, ScenarioChange


class MobileMoney(Verbs):
    """The behaviour of mobile money."""

    def next(self, *outcomes: Outcome) -> None:
        """Queue the outcomes of the next payments, one for each, in place of what was queued."""
        self.change(next=list(outcomes))

    def always(self, outcome: Outcome) -> None:
        """Set the outcome of every payment for which none is queued."""
        self.change(default=outcome)

    def change(self, **change: Unpack[ScenarioChange]) -> Scenario:
        """Change the outcomes, the response time, the float or the seed."""
        return self._ask("PUT", "scenario", body=change)

    def behaviour(self) -> Scenario:
        """Return the current behaviour, every outcome, and the numbers and amounts that select one."""
        return self._ask("GET", "scenario")

    def reset(self) -> None:
        """Reset the behaviour."""
        self._ask("DELETE", "scenario")
