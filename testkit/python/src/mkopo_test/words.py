"""Accounts and times, as the verbs take them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

PASSWORD = "Mkopo-demo-1"
"""The password of every demo account, and of accounts that the kit opens."""


def email_of(who: str) -> str:
    """Return the e-mail address of an account: a demo account is named by its role."""
    return who if "@" in who else f"{who}@mkopo.test"


def written(moment: datetime | str) -> str:
    """Return the moment as the contract writes it."""
    if isinstance(moment, str):
        return moment
    if moment.tzinfo is None:
        raise ValueError("A time needs a time zone: datetime(…, tzinfo=timezone.utc)")
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def seconds(duration: str) -> float:
    """Return the length of `90s` or `1h30m`."""
    parts = re.findall(r"(\d+)(ms|[smhd])", duration)
    return sum(
        (timedelta(**{_UNITS[unit]: int(count)}) for count, unit in parts), timedelta()
    ).total_seconds()


def read(time: str) -> datetime:
    """Return the moment that the contract writes so."""
    return datetime.fromisoformat(time.replace("Z", "+00:00"))
