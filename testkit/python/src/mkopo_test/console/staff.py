"""The staff accounts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mkopo_test.call_failed import segment
from mkopo_test.console.verbs import Verbs
from mkopo_test.words import PASSWORD, email_of

if TYPE_CHECKING:
    import httpx

    from mkopo_test.contract import Account, AccountChange, Role


def path_of(who: str) -> str:
    """Return the path of an account in the console's API."""
    return f"staff/{segment(email_of(who))}"


class Staff(Verbs):
    """The staff accounts."""

    def __init__(self, console: httpx.Client) -> None:
        super().__init__(console)
        # The passwords of the accounts that were opened here, by e-mail address in lower case.
        self._passwords: dict[str, str] = {}

    def list(self) -> list[Account]:
        """Return all accounts, by e-mail address."""
        return self._ask("GET", "staff")

    def get(self, who: str) -> Account:
        """Return one account."""
        return self._ask("GET", path_of(who))

    def open(
        self,
        email: str,
        *,
        role: Role = "agent",
        password: str = PASSWORD,
        first_name: str | None = None,
        last_name: str = "Wekesa",
        phone_number: str | None = None,
        username: str | None = None,
    ) -> Account:
        """Open an account; names and phone number are made up if they are not given."""
        body = {
            "email": email,
            "role": role,
            "password": password,
            "first_name": first_name or email.split("@")[0].capitalize(),
            "last_name": last_name,
            "phone_number": phone_number or phone_of(email),
            "username": username,
        }
        opened: Account = self._ask("POST", "staff", body=body)
        self._passwords[opened["email"].lower()] = password
        return opened

    def set_role(self, who: str, role: Role) -> Account:
        """Give an account another role."""
        return self._change(who, {"role": role})

    def deactivate(self, who: str) -> Account:
        """Deactivate an account and end its sessions."""
        return self._change(who, {"is_active": False})

    def activate(self, who: str) -> Account:
        """Activate an account again."""
        return self._change(who, {"is_active": True})

    def password_of(self, who: str) -> str:
        """Return the password of an account: a demo account's, or the one it was opened with here."""
        return self._passwords.get(email_of(who).lower(), PASSWORD)

    def _change(self, who: str, change: AccountChange) -> Account:
        return self._ask("PATCH", path_of(who), body=change)


def phone_of(email: str) -> str:
    """Return a phone number for an address, always the same: no two accounts may have one."""
    digest = hashlib.sha256(email.lower().encode()).digest()
    return f"+25471{int.from_bytes(digest[:4], 'big') % 10_000_000:07}"
