"""A sandbox, and verbs for all that its console can do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal

from mkopo_test.call_failed import CallFailed, ask, client, if_allowed, segment
from mkopo_test.console.clock import Clock
from mkopo_test.console.events import Events
from mkopo_test.console.faults import Faults
from mkopo_test.console.loans import Loans
from mkopo_test.console.mobile_money import MobileMoney
from mkopo_test.console.outbox import Outbox
from mkopo_test.console.payouts import Payouts
from mkopo_test.console.sessions import Sessions
from mkopo_test.console.snapshots import Snapshots
from mkopo_test.console.staff import Staff
from mkopo_test.console.story import Story
from mkopo_test.console.traffic import Traffic
from mkopo_test.version import check_version
from mkopo_test.words import written

if TYPE_CHECKING:
    from mkopo_test.contract import Invariant, MadeSandbox


@dataclass(frozen=True)
class Addresses:
    """Where a portal and its console are, and the operator's token, which makes sandboxes.

    The address of a page is accepted, too, such as that of the console's pages.
    """

    url: str
    console_url: str
    console_token: str


@dataclass(frozen=True)
class Start:
    """The initial data and clock of a sandbox. Equal starts give equal data, ids included."""

    seed: int | Literal["empty"] = 1
    """The seed of the demo data, or `empty` for the demo accounts without loans and payouts."""
    now: datetime | str | None = None
    """The time that the clock starts with; the machine's if missing."""
    frozen: bool = False
    """`True` if the clock is stopped."""

    def exact(self) -> Start:
        """Return the start with a time: now, in whole seconds, if it has none."""
        now = self.now or datetime.now(timezone.utc).replace(microsecond=0)
        return Start(self.seed, now, self.frozen)

    def body(self) -> dict[str, object]:
        """Return it as the contract writes it."""
        now = {"now": written(self.now)} if self.now else {}
        return {"seed": self.seed, "frozen": self.frozen, **now}


@dataclass(frozen=True)
class Sandbox:
    """An isolated instance of the whole service."""

    name: str
    url: str
    """The address of its portal, for browsers."""
    console_url: str | None
    """The address of the pages of its console."""
    token: str
    """Opens its console: a sandbox's opens nothing else, and `main`'s is the operator's."""


class Mkopo:
    """A sandbox or `main`, and verbs for all that its console can do."""

    def __init__(self, addresses: Addresses, sandbox: Sandbox, start: Start | None) -> None:
        """`start` is what a reset returns to; None if the sandbox tells a story."""
        self.sandbox = sandbox
        self.portal = client(addresses.url, sandbox=sandbox.name)
        """Any call of the portal's API, signed out; `sessions.open` signs in."""
        self.console = client(addresses.console_url, sandbox=sandbox.name, token=sandbox.token)
        """Any call of its console's API."""
        self.clock = Clock(self.console)
        self.events = Events(self.console)
        self.faults = Faults(self.console)
        self.loans = Loans(self.console)
        self.mobile_money = MobileMoney(self.console)
        self.snapshots = Snapshots(self.console)
        self.story = Story(self.console)
        self.staff = Staff(self.console)
        self.sessions = Sessions(
            self.console, self.portal, lambda who: self.staff.password_of(who), lambda: self.payouts
        )
        self.traffic = Traffic(self.console)
        self._start = start
        self._begin()

    def reset(self, start: Start | None = None) -> None:
        """Go back to the start: data, clock, messages, faults, outcomes, sessions, snapshots."""
        start = start or self._start
        if start is None:
            raise RuntimeError(
                f"A reset ends the story of {self.sandbox.name}: give it a start, or make another sandbox"
            )
        ask(self.console, "POST", "/console/api/data/reset", body=start.body())
        for snapshot in self.snapshots.list():
            self.snapshots.remove(snapshot["name"])
        self.staff = Staff(self.console)
        self._begin()

    def _begin(self) -> None:
        """Skip the messages and settled payouts so far: no verb that waits returns them."""
        self.outbox = Outbox(self.console)
        self.payouts = Payouts(self.console)
        if_allowed(self.outbox.skip)
        if_allowed(self.payouts.begin)

    def invariant(self) -> Invariant:
        """Return whether mobile money's ledger matches the records, and no loan was paid twice."""
        return ask(self.console, "GET", "/console/api/invariant")


class Portal:
    """A running portal, in which sandboxes are made."""

    def __init__(self, addresses: Addresses) -> None:
        """Connect; fail if the portal has another version than this kit."""
        url, console_url = _origin(addresses.url), _origin(addresses.console_url)
        # With the line break that ends a file, httpx would refuse the header, and print the token.
        at = Addresses(url, console_url, addresses.console_token.strip())
        check_version(at.url)
        self._addresses = at
        self._console = client(at.console_url, token=at.console_token)

    def main(self) -> Mkopo:
        """Return the portal itself, outside of sandboxes.

        Everybody who uses the portal shares it, and nothing resets it but `reset`, which without a start goes
        back to the demo data and the real time. Messages and payouts of before are not returned by the verbs
        that wait.
        """
        at = self._addresses
        main = Sandbox("main", at.url, f"{at.console_url}/console", at.console_token)
        return Mkopo(at, main, Start())

    def make_sandbox(
        self,
        start: Start | None = None,
        *,
        name: str | None = None,
        expires_in: str = "24h",
        story: str | None = None,
    ) -> Mkopo:
        """Make a sandbox. A reset returns to its start exactly, so its clock starts at a known time.

        With the name of a story, the sandbox tells it, and has no start.
        """
        known = (start or Start()).exact() if story is None else start
        given = {"name": name, "expires_in": expires_in, "story": story}
        body = {
            **(known.body() if known else {}),
            **{field: value for field, value in given.items() if value is not None},
        }
        try:
            made: MadeSandbox = ask(self._console, "POST", "/console/api/sandboxes", body=body)
        except CallFailed as error:
            if error.code != "not_found":
                raise
            raise RuntimeError(
                f"No sandbox can be made at {self._addresses.console_url}: it is not the address of the "
                "console, or MKOPO_SANDBOXES, a setting of the portal, is 0"
            ) from error
        sandbox = Sandbox(made["name"], made["url"], made["console_url"], made["token"])
        return Mkopo(self._addresses, sandbox, known)

    def remove_sandbox(self, name: str) -> None:
        """Remove a sandbox with all its data."""
        ask(self._console, "DELETE", f"/console/api/sandboxes/{segment(name)}")


def _origin(address: str) -> str:
    """Return the address without a path, such as that of the console's pages."""
    return "/".join(address.split("/")[:3])
