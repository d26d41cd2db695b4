"""The version of this kit, which is that of the contract."""

from __future__ import annotations

from importlib.metadata import version

from mkopo_test.call_failed import CallFailed, ask, client

VERSION = version("mkopo-test")


def check_version(url: str) -> None:
    """Fail unless the portal has the contract that this kit was built for."""
    with client(url) as http:
        try:
            theirs = ask(http, "GET", "/api/v1/openapi.json")["info"]["version"]
        except (CallFailed, KeyError, TypeError) as error:
            status = getattr(error, "status", 200)
            if status is None:
                raise
            raise RuntimeError(f"{url} is not a Mkopo portal: it has no contract (HTTP {status})") from None
    if theirs != VERSION:
        raise RuntimeError(
            f"mkopo-test {VERSION} is for portals of version {VERSION}, and {url} has {theirs}. "
            f"Install its own: pip install --find-links {url}/kit/ mkopo-test=={theirs}"
        )
