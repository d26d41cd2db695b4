"""The version of this kit, which is that of the contract."""

from __future__ import annotations

from importlib.metadata import version

from mkopo_test.call_failed import ask, client

VERSION = version("mkopo-test")


def check_version(url: str) -> None:
    """Fail unless the portal has the contract that this kit was built for."""
    with client(url) as http:
        theirs = ask(http, "GET", "/api/v1/openapi.json")["info"]["version"]
    if theirs != VERSION:
        raise RuntimeError(
            f"mkopo-test {VERSION} is for portals of version {VERSION}, and {url} has {theirs}. "
            f"Install its own: pip install --find-links {url}/kit/ mkopo-test=={theirs}"
        )
