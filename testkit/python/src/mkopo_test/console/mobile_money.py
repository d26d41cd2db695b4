"""The behaviour of mobile money."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mkopo_test.call_failed import ask

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Unpack

    from mkopo_test.contract import Outcome, Scenario, ScenarioChange


class MobileMoney:
    """The behaviour of mobile money."""

    def __init__(self, console: httpx.Client) -> None:
        self._console = console

    def next(self, *outcomes: Outcome) -> None:
        """Queue the outcomes of the next payments, one for each, in place of what was queued."""
        self.change(next=list(outcomes))

    def always(self, outcome: Outcome) -> None:
        """Set the outcome of every payment for which none is queued."""
        self.change(default=outcome)

    def change(self, **change: Unpack[ScenarioChange]) -> Scenario:
        """Change the outcomes, the response time, the float or the seed."""
        return cast("Scenario", ask(self._console, "PUT", "/console/api/scenario", body=change))

    def behaviour(self) -> Scenario:
        """Return the current behaviour, every outcome, and the numbers and amounts that select one."""
        return cast("Scenario", ask(self._console, "GET", "/console/api/scenario"))

    def reset(self) -> None:
        """Reset the behaviour."""
        ask(self._console, "DELETE", "/console/api/scenario")
